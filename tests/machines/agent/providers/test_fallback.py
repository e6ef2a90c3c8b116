from __future__ import annotations

from collections.abc import Sequence

import anyio
import attrs
import pytest

from machines.agent.providers import Fallback, Retries, provider_for
from machines.agent.providers.fallback import PASSED_ON, passes_on
from machines.agent.scripted import Refuse, ScriptedServer, Turn
from machines.agent.wire import Completion, Message, Refused, Request, TextPart
from machines.events import RefusalKind as Kind
from machines.events import StopReason

pytestmark = pytest.mark.anyio

GO = Request("", (Message("user", (TextPart("Go"),)),))
DONE = Completion(StopReason.END_TURN, (TextPart("Done."),))
DOWN = Refused(0, "down")
BUSY = Refused(529, "busy", after=9.0, kind=Kind.OVERLOADED)
LIMITED = Refused(429, "slow down", after=3.0, kind=Kind.RATE_LIMIT)
LOCKED = Refused(401, "who?", kind=Kind.AUTHENTICATION)
GONE = Refused(404, "no such model")
LONG = Refused(400, "too long", kind=Kind.PROMPT_TOO_LONG)


@attrs.define(eq=False)
class Fixed:
    """A provider with one answer; None: it never comes."""

    name: str
    answer: Completion | Refused | None
    asked: int = 0
    closed: bool = False

    async def complete(self, request: Request) -> Completion | Refused:
        assert request == GO
        self.asked += 1
        if self.answer is None:
            await anyio.sleep_forever()
        assert self.answer is not None
        return self.answer

    async def aclose(self) -> None:
        self.closed = True


def chain(*answers: Completion | Refused | None, seconds: float = 60.0) -> tuple[Fallback, list[Fixed]]:
    fixed = [Fixed(f"m{number}", answer) for number, answer in enumerate(answers)]
    return Fallback(tuple(fixed), seconds), fixed


@pytest.mark.parametrize(
    ("answers", "got", "asked"),
    [
        ([DONE, DONE], DONE, [1, 0]),
        ([DOWN, DONE], DONE, [1, 1]),
        ([BUSY, LIMITED, DONE, DONE], DONE, [1, 1, 1, 0]),
        ([LOCKED, DONE], DONE, [1, 1]),
        ([GONE, DONE], DONE, [1, 1]),
        ([LONG, DONE], LONG, [1, 0]),
        ([BUSY, LONG, DONE], LONG, [1, 1, 0]),
        ([BUSY, LIMITED], LIMITED, [1, 1]),
        ([LIMITED, LOCKED], LIMITED, [1, 1]),
        ([LOCKED, LIMITED], LIMITED, [1, 1]),
        ([LOCKED, GONE], LOCKED, [1, 1]),
        ([LIMITED, DOWN], DOWN, [1, 1]),
    ],
)
async def test_the_next_model_is_asked_where_it_may_do_better_and_each_once(
    answers: Sequence[Completion | Refused], got: Completion | Refused, asked: list[int]
) -> None:
    fallback, fixed = chain(*answers)
    assert await fallback.complete(GO) == got
    assert [one.asked for one in fixed] == asked


async def test_all_together_have_so_many_seconds() -> None:
    fallback, fixed = chain(LOCKED, None, DONE, seconds=0.05)
    assert await fallback.complete(GO) == Refused(0, "no answer within 0.05 seconds")
    assert [one.asked for one in fixed] == [1, 1, 0]


async def test_all_are_closed_and_named() -> None:
    fallback, fixed = chain(DONE, DONE)
    await fallback.aclose()
    assert fallback.name == "m0, m1"
    assert all(one.closed for one in fixed)


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.OTHER])
async def test_a_kind_that_says_something_of_the_request_is_not_passed_on(kind: Kind) -> None:
    assert passes_on(Refused(400, "", kind=kind)) == (kind in PASSED_ON)


@pytest.mark.parametrize(
    ("status", "on"), [(-1, True), (0, True), (400, False), (404, True), (410, False), (500, True)]
)
async def test_of_a_refusal_without_a_kind_the_status_decides(status: int, on: bool) -> None:
    assert passes_on(Refused(status, "")) is on


async def test_a_chain_has_a_model_and_some_time() -> None:
    with pytest.raises(ValueError, match="providers"):
        Fallback(())
    with pytest.raises(ValueError, match="seconds"):
        chain(DONE, seconds=0)


async def test_a_model_on_another_wire_answers_over_real_sockets() -> None:
    def moves(received: object) -> Refuse | Turn:
        return Refuse(529) if getattr(received, "wire", "") == "anthropic" else Turn("Done.")

    with ScriptedServer(moves) as server:
        both = [provider_for(server.model("m", wire), retries=Retries(attempts=1)) for wire in ("anthropic", "gemini")]
        fallback = Fallback(tuple(both))
        got = await fallback.complete(GO)
        await fallback.aclose()
    assert isinstance(got, Completion)
    assert got.text == "Done."
