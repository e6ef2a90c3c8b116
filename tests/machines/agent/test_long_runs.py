"""What is known to end a long run, or to spoil its answer, does neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from machines.agent.limits import limits_now
from machines.agent.notices import CondensedNotice, RecoveryNotice, TextNotice
from machines.agent.planning import plan_note
from machines.agent.providers import Prices
from machines.agent.scripted import Move, Received, Refuse, Turn, call
from machines.agent.tools import tool
from machines.events import StopReason, Usage
from machines.outcome import Fact, TerminalStatus
from machines.policy import Budget, Policy

from .scripts import calling, done, is_summary, refusing, summing_up, texts, too_long

pytestmark = pytest.mark.anyio

TASK = "Read the pages, and say what is missing in them."


@tool
async def read(page: int) -> str:
    """Read a page."""
    return f"page {page}: " + " ".join(f"word{page * 31 + n}" for n in range(20))


@tool
async def long(page: int) -> str:
    """Read a long page."""
    return f"page {page}: " + " ".join(f"word{page * 3_001 + n}" for n in range(1_500))


def reading(count: int, *wrong: Turn) -> list[Turn]:
    """So many turns that each bring something new, with what goes wrong spread among them."""
    gap = count // len(wrong)
    turns = [calling("read", page=page) for page in range(count)]
    for number, one in reversed(list(enumerate(wrong))):
        turns.insert(number * gap + gap // 2, one)
    return turns


def cut(text: str = "", **more: Any) -> Turn:
    return Turn(text, stop=StopReason.LENGTH, **more)


async def test_four_truncations_spread_over_forty_turns_that_bring_something_end_nothing(
    serve: Callable[..., Any],
) -> None:
    wrong = (cut("I go on with"), cut(calls=(call("read", {"page": 99}),)), cut(thinking="Hm"), cut("And now I"))
    with serve([*reading(40, *wrong), done()]) as stage:
        ran = await stage.ran(TASK, [read])
    assert (ran.result.status, ran.result.output, ran.result.facts) == (
        TerminalStatus.COMPLETED,
        "It is done.",
        (Fact.UNVERIFIED,),
    )
    assert [notice.attempt for notice in ran.heard(RecoveryNotice)] == [1] * 4, "each is an incident of its own"
    assert ran.result.account.turns == 40


async def test_three_empty_replies_spread_over_twenty_four_turns_end_nothing(serve: Callable[..., Any]) -> None:
    with serve([*reading(24, Turn(), Turn(" "), Turn(thinking="Hm.")), done()]) as stage:
        ran = await stage.ran(TASK, [read])
    assert (ran.result.ok, ran.result.account.turns) == (True, 24)
    assert [notice.attempt for notice in ran.heard(RecoveryNotice)] == [1] * 3


@pytest.mark.parametrize(
    "abandoned",
    [
        Turn("ABANDONED", calls=(call("", {}),)),
        cut("ABANDONED", calls=(call("read", {"page": 7}),)),
        cut(thinking="ABANDONED"),
    ],
)
async def test_the_text_of_a_turn_that_was_given_up_is_not_in_the_answer(
    serve: Callable[..., Any], abandoned: Turn
) -> None:
    with serve([calling("read", page=1), abandoned, calling("read", page=2), done("Page 3 is missing.")]) as stage:
        ran = await stage.ran(TASK, [read])
    assert (ran.result.status, ran.result.output) == (TerminalStatus.COMPLETED, "Page 3 is missing.")


async def test_a_cut_text_that_the_run_went_on_from_with_calls_is_not_in_the_answer(serve: Callable[..., Any]) -> None:
    script = [cut("ABANDONED, I will re"), calling("read", page=1), done("Page 3 is missing.")]
    with serve(script) as stage:
        ran = await stage.ran(TASK, [read])
    assert (ran.result.ok, ran.result.output) == (True, "Page 3 is missing.")


async def test_a_refusal_that_a_retry_heals_and_an_overflow_behind_it_are_both_healed(
    serve: Callable[..., Any],
) -> None:
    pages = [calling("long", page=page) for page in range(3)]
    script: list[Move] = [*pages, Refuse(529), Refuse(503), too_long(), done("Nothing is missing.")]
    with serve(summing_up(script, Turn("Three pages were read."))) as stage:
        ran = await stage.ran(TASK, [long])
    assert (ran.result.status, ran.result.output) == (TerminalStatus.COMPLETED, "Nothing is missing.")
    assert Fact.REFUSED not in ran.result.facts
    assert [notice.reason for notice in ran.heard(RecoveryNotice)] == ["refused", "refused", "condensed"]


async def test_the_task_survives_each_condensing_word_for_word(serve: Callable[..., Any]) -> None:
    lap: list[Move] = [*(calling("long", page=page) for page in range(4)), too_long()]
    other: list[Move] = [*(calling("long", page=page) for page in range(4, 8)), too_long()]
    with serve(summing_up([*lap, *other, done()], Turn("Pages were read; none said anything of the task."))) as stage:
        ran = await stage.ran(TASK, [long])
    assert ran.result.ok
    assert len(ran.heard(CondensedNotice)) == 2
    for received in ran.requests:
        if not is_summary(received):
            assert texts(received.request)[0] == TASK
            assert sum(TASK in text for text in texts(received.request)) == 1


async def test_the_plan_is_counted_once_and_sent_once_in_each_request(serve: Callable[..., Any]) -> None:
    todos = [{"content": f"read page {page}: " + "with care " * 40, "status": "pending"} for page in range(30)]
    note = plan_note(todos)
    script = [calling("write_todos", todos=todos), *(calling("read", page=page) for page in range(6)), refusing("no")]
    with serve(script) as stage:
        ran = await stage.ran(TASK, [read])
        [refusal] = stage.events("Refusal")
    requests = [received.request for received in ran.requests[1:]]
    assert len(requests) == 7
    assert [sum(text == note for text in texts(request)) for request in requests] == [1] * 7
    # The server counts the bytes of the whole body; what is known beforehand must not be a plan more than that.
    size = sum(map(len, texts(requests[-1]))) // 4
    sent = size + sum(len(part.args) for m in requests[-1].messages for part in m.parts if hasattr(part, "args")) // 4
    assert sent < refusal["estimate"] < sent + len(note) // 4


@pytest.mark.parametrize("said", ["128,000", "128k", "128_000", "128.000"])
async def test_a_window_of_128_thousand_tokens_is_not_read_as_one_of_128(serve: Callable[..., Any], said: str) -> None:
    wording = (
        f"This model's maximum context length is {said} tokens. However, your messages resulted in 130,500 tokens."
    )
    with serve([calling("long", page=1), refusing(wording), done()]) as stage:
        agent = stage.agent([long])
        result = await agent.run(TASK)
        await stage.close()
        assert result.ok
        assert limits_now(stage.provider).context_window == 128_000


async def test_a_last_reply_that_was_cut_is_a_fact_beside_the_limit(serve: Callable[..., Any]) -> None:
    with serve([calling("read", page=1), cut("What I have so far is")]) as stage:
        ran = await stage.ran(TASK, [read], policy=Policy(budget=Budget(turns=1)))
    assert ran.result.facts == (Fact.LIMIT_REACHED, Fact.TRUNCATED)
    assert (ran.result.limited, ran.result.truncated) == (True, True)
    assert "What I have so far is" in ran.result.output


async def test_telling_what_comes_next_ends_nothing(serve: Callable[..., Any]) -> None:
    script = [
        Turn("Next I will read page 1."),
        calling("read", page=1),
        Turn("I have all that I need, and the answer will follow."),
        calling("read", page=2),
        done("Page 3 is missing."),
    ]
    with serve(script) as stage:
        ran = await stage.ran(TASK, [read])
    assert (ran.result.status, ran.result.output) == (TerminalStatus.COMPLETED, "Page 3 is missing.")
    assert [notice.checkpoint for notice in ran.heard(TextNotice)] == [True, True]


@pytest.mark.parametrize("grows", [0, 900])
async def test_money_is_overshot_by_no_more_than_one_request(serve: Callable[..., Any], grows: int) -> None:
    usages = [Usage(input=1_000 + grows * page, output=500) for page in range(50)]
    prices = Prices(input=10.0, output=50.0)
    script = [Turn(calls=(call("read", {"page": page}),), usage=usage) for page, usage in enumerate(usages)]

    def move(received: Received) -> Turn:
        one = script[received.number]
        return Turn("That is all.", usage=one.usage) if received.request.no_tools else one

    with serve(move) as stage:
        budget = Budget(usd=0.5, reply_tokens=500)
        ran = await stage.ran(TASK, [read], policy=Policy(budget=budget), prices=prices)
    spent = [(usage.input * 10.0 + usage.output * 50.0) / 1e6 for usage in usages[: len(ran.requests)]]
    assert ran.result.outcome.reason.by == "usd"
    assert ran.result.usage.usd == pytest.approx(sum(spent))
    assert 0.5 * 0.6 < sum(spent) <= 0.5 + max(spent)
