"""Replies that hold nothing, or nothing that can be read: asked for again, or answered, and ended if it is in vain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from machines.agent.notices import AttemptResetNotice, RecoveryNotice
from machines.agent.result import RecoveryExhausted, RunError
from machines.agent.scripted import Turn, call
from machines.agent.tools import tool
from machines.events import StopReason
from machines.outcome import Fact, TerminalStatus
from machines.policy import Policy, Recovery

from .scripts import done, last_texts, results, texts

pytestmark = pytest.mark.anyio

on_anthropic = pytest.mark.parametrize("wire", ["anthropic"], indirect=True)
"""The one wire that has a word for a pause."""


@pytest.fixture
def noted() -> list[str]:
    """What `note` was called with."""
    return []


@pytest.fixture
def note(noted: list[str]) -> Any:
    """A tool that notes a text."""

    @tool
    async def note(text: str) -> str:
        """Note a text."""
        noted.append(text)
        return f"noted {len(noted)}"

    return note


@pytest.mark.parametrize("args", ['{"text": no quotes}', '["a list"]', "nothing at all", '{"text": "one"} {"text"}'])
async def test_arguments_that_are_no_object_are_answered_with_what_is_wrong_and_do_not_run(
    serve: Callable[..., Any], note: Any, noted: list[str], args: str
) -> None:
    with serve([Turn(calls=(call("note", args),)), Turn(calls=(call("note", {"text": "one"}),)), done()]) as stage:
        ran = await stage.ran("note", [note])
    assert (ran.result.ok, noted) == (True, ["one"])
    assert "not a JSON object" in results(ran.requests[1].request)[0]
    assert not ran.heard(RecoveryNotice), "the model saw what is wrong, which is a turn as any other"


@pytest.mark.parametrize(
    ("wire", "stream"),
    # A whole reply of Anthropic's, and any of Gemini's, has its arguments as an object: no such character can be there.
    [("openai", False), ("openai", True), ("openai-responses", False), ("openai-responses", True), ("anthropic", True)],
    indirect=["wire"],
)
async def test_raw_control_characters_inside_strings_are_taken_for_what_they_are(
    serve: Callable[..., Any], note: Any, noted: list[str], stream: bool
) -> None:
    with serve([Turn(calls=(call("note", '{"text": "one\ntwo\tthree\x01"}'),)), done()]) as stage:
        ran = await stage.ran("note", [note], stream=stream)
    assert (ran.result.ok, noted) == (True, ["one\ntwo\tthree\x01"])


async def test_two_calls_of_one_id_and_calls_without_any_are_each_answered(
    serve: Callable[..., Any], note: Any, noted: list[str]
) -> None:
    same = tuple(call("note", {"text": text}, id="same") for text in ("one", "two"))
    later = call("note", {"text": "three"}, id="same")
    with serve([Turn(calls=same), Turn(calls=(later,)), done()]) as stage:
        ran = await stage.ran("note", [note])
    assert (ran.result.ok, sorted(noted)) == (True, ["one", "three", "two"])
    assert len({*results(ran.requests[-1].request)}) == 3


async def test_a_call_without_a_name_is_asked_for_again_once_and_nothing_is_kept_of_it(
    serve: Callable[..., Any], note: Any, noted: list[str]
) -> None:
    nameless = Turn("I will note it.", calls=(call("", {"text": "one"}), call("note", {"text": "half"})))
    with serve([nameless, Turn(calls=(call("note", {"text": "one"}),)), done()]) as stage:
        ran = await stage.ran("note", [note])
    assert (ran.result.ok, noted) == (True, ["one"])
    second = ran.requests[1].request
    assert [message.role for message in second.messages] == ["user"]
    assert "could not be read, not even of which tool it was" in last_texts(second)[-1]
    assert [notice.reason for notice in ran.heard(AttemptResetNotice)] == ["malformed"]


async def test_a_second_call_that_nobody_can_tell_ends_the_run_and_names_that(
    serve: Callable[..., Any], note: Any, noted: list[str]
) -> None:
    nameless = Turn(calls=(call("", {"text": "one"}),))
    with serve([nameless, nameless, Turn("I could not call it.")]) as stage:
        ran = await stage.ran("note", [note])
    result = ran.result
    assert (result.outcome.reason.by, noted) == ("malformed_tool_input", [])
    assert Fact.RECOVERY_EXHAUSTED in result.facts
    assert ran.requests[-1].request.no_tools
    with pytest.raises(RunError, match="malformed_tool_input"):
        result.raise_for_status()


@pytest.mark.parametrize("hollow", [Turn(), Turn("  \n"), Turn(thinking="I wonder.")])
async def test_two_empty_replies_are_nudged_and_the_third_ends_the_run(serve: Callable[..., Any], hollow: Turn) -> None:
    with serve([hollow, hollow, hollow, Turn("I have nothing to say.")]) as stage:
        ran = await stage.ran("say")
    result = ran.result
    assert (result.status, result.outcome.reason.by) == (TerminalStatus.BLOCKED, "recovery_exhausted")
    assert dict(result.outcome.reason.values)["of"] == "empty"
    assert [(notice.reason, notice.attempt) for notice in ran.heard(RecoveryNotice)] == [("empty", 1), ("empty", 2)]
    assert all(message.role == "user" for received in ran.requests for message in received.request.messages)
    assert "\n".join(texts(ran.requests[2].request)).count("neither text nor a call") == 2
    assert "I have nothing to say." in result.output
    with pytest.raises(RecoveryExhausted):
        result.raise_for_status()


@on_anthropic
async def test_a_paused_reply_is_sent_back_as_it_stands_up_to_five_times_and_goes_on_where_it_was(
    serve: Callable[..., Any],
) -> None:
    paused = [Turn(f"part {number}, ", stop=StopReason.PAUSE) for number in range(5)]
    with serve([*paused, done("and the end.")]) as stage:
        ran = await stage.ran("search")
    assert ran.result.ok
    assert ran.result.output == "part 0, part 1, part 2, part 3, part 4, and the end."
    last = ran.requests[-1].request
    assert [message.role for message in last.messages] == ["user", "assistant"]
    # A blank at the very end of the last reply is refused.
    assert texts(last)[1:] == ["part 0, ", "part 1, ", "part 2, ", "part 3, ", "part 4,"]


@on_anthropic
async def test_a_sixth_pause_ends_the_run_with_what_there_is(serve: Callable[..., Any]) -> None:
    paused = [Turn(f"part {number}, ", stop=StopReason.PAUSE) for number in range(6)]
    with serve([*paused, Turn("No more.")]) as stage:
        ran = await stage.ran("search")
    assert (ran.result.outcome.reason.by, ran.result.status) == ("recovery_exhausted", TerminalStatus.PARTIAL)
    assert dict(ran.result.outcome.reason.values) == {"of": "paused", "allowed": 5}
    assert "part 0, part 1, part 2, part 3, part 4, part 5, " in ran.result.output


@pytest.mark.parametrize(
    ("hollow", "of"), [(Turn(), "recovery_exhausted"), (Turn(calls=(call("", "{}"),)), "malformed_tool_input")]
)
async def test_each_recovery_can_be_switched_off(serve: Callable[..., Any], hollow: Turn, of: str) -> None:
    with serve([hollow, Turn("That is all.")]) as stage:
        ran = await stage.ran("say", policy=Policy(recovery=Recovery(empty=0, malformed=0)))
    assert (ran.result.outcome.reason.by, len(ran.requests)) == (of, 2)
