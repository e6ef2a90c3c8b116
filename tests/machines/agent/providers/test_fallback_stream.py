"""A chain of models that is told while it replies, over real sockets and with models that cannot stream."""

from __future__ import annotations

import anyio
import attrs
import pytest

from machines.agent.providers import Fallback, Retries, provider_for
from machines.agent.scripted import CutStream, ErrorInStream, Move, Refuse, ScriptedServer, Turn, by_run
from machines.agent.wire import Completion, Message, Provider, Refused, Request, Streaming, TextPart, ThinkingPart
from machines.events import StopReason

pytestmark = pytest.mark.anyio

GO = Request("", (Message("user", (TextPart("Go"),)),))
Told = list[tuple[str, str]]


@attrs.define(eq=False)
class Whole:
    """A provider that cannot stream; without a reply it never answers."""

    reply: Completion | Refused | None
    name: str = "whole"

    async def complete(self, request: Request) -> Completion | Refused:
        assert request == GO
        if self.reply is None:
            await anyio.sleep_forever()
        assert self.reply is not None
        return self.reply

    async def aclose(self) -> None:
        pass


async def chain(moves: list[Move], last: Provider | None = None) -> tuple[Completion | Refused, Told, list[str]]:
    """What models come to that make a move each, what is told, and which of them were asked."""
    told: Told = []
    with ScriptedServer(by_run({f"m{number}": [move] for number, move in enumerate(moves)})) as server:
        models = [provider_for(server.model(f"m{n}"), retries=Retries(attempts=1)) for n in range(len(moves))]
        several = Fallback((*models, *([] if last is None else [last])))
        assert isinstance(several, Streaming)
        got = await several.stream(GO, lambda channel, piece: told.append((channel, piece)))
        await several.aclose()
        return got, told, [received.run for received in server.requests()]


def said(told: Told) -> str:
    return "".join(piece for _, piece in told)


async def test_the_first_model_that_replies_is_told_piece_by_piece() -> None:
    got, told, asked = await chain([Refuse(503), ErrorInStream(529, 0), Turn("At the third."), Turn("no")])
    assert isinstance(got, Completion)
    assert (got.text, asked) == ("At the third.", ["m0", "m1", "m2"])
    assert told == [("text", "At the "), ("text", "third.")]


async def test_a_model_that_breaks_off_before_anything_is_told_is_passed_on() -> None:
    got, told, asked = await chain([CutStream(0), Turn("Done.")])
    assert isinstance(got, Completion)
    assert (said(told), asked) == ("Done.", ["m0", "m1"])


@pytest.mark.parametrize("move", [CutStream(1), ErrorInStream(529, 1)])
async def test_no_other_model_is_asked_once_anything_is_told(move: CutStream | ErrorInStream) -> None:
    got, told, asked = await chain([move, Turn("Done.")])
    assert isinstance(got, Refused)
    assert (said(told), asked) == (move.turn.text[:7], ["m0"])


async def test_a_model_that_cannot_stream_is_told_when_its_reply_is_there() -> None:
    reply = Completion(StopReason.END_TURN, (ThinkingPart("Hm."), TextPart("Done.")))
    got, told, _ = await chain([Refuse(503)], Whole(reply))
    assert (got, told) == (reply, [("thinking", "Hm."), ("text", "Done.")])


async def test_the_refusal_of_the_request_itself_is_passed_on_to_nobody() -> None:
    got, told, asked = await chain([Refuse(400), Turn("Done.")])
    assert isinstance(got, Refused)
    assert (got.status, told, asked) == (400, [], ["m0"])


async def test_all_together_have_so_much_time() -> None:
    several = Fallback((Whole(Refused(503, "down")), Whole(None)), seconds=0.05)
    got = await several.stream(GO, lambda channel, piece: None)
    assert isinstance(got, Refused)
    assert got.status in (0, 503)
