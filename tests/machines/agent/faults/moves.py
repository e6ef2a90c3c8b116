"""What a scripted server does with one request, drawn from the seed and the request's number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Final

import attrs

from machines.agent.scripted import (
    CutStream,
    Drop,
    ErrorInStream,
    Garbage,
    Move,
    Received,
    Stall,
    StallStream,
    Turn,
    Unstreamed,
)
from machines.agent.scripted.server import SIDES
from machines.events import Usage

from .refusals import REFUSALS
from .turns import GOOD_TURNS, WRONG_TURNS, calls, finish_final, good_call, text

ABANDONED: Final = "abandoned"
"""Stands in every text that was broken off: no run may show it."""

STALLED: Final = 0.15
"""Seconds of a stall: more than is waited for a reply of a scenario with stalls."""

Maker = Callable[[Random, Received], Move]

_BODIES: Final = (
    b"<html><body>It works!</body></html>",
    *(b"", b"{}", b"[]", b"null", b"7", b"{", b"\xff\xfe", b'{"choices": []}', b'{"content": null}', b"[" * 5_000),
    *(b'{"choices": [{"message": null}]}', b'{"candidates": [{}]}', b'{"output": [{"type": "message"}]}'),
    b'{"error": {"message": "rate limit exceeded", "type": "rate_limit_error"}}',
    b'data: {"choices": []}\n\n',
)


def _abandoned(rng: Random, received: Received) -> Turn:
    said = f"[{ABANDONED} {received.number}] " + "and so on " * rng.choice((1, 30, 250))
    made = rng.choice(((), (good_call(rng),)))
    return Turn(said, made, thinking=rng.choice(("", ABANDONED)))


def garbage(rng: Random, received: Received) -> Move:
    return Garbage(rng.choice(_BODIES))


def no_id(rng: Random, received: Received) -> Move:
    """Calls without an id, in a whole reply: some servers send them so."""
    turn = Turn(calls=tuple(good_call(rng) for _ in range(rng.choice((1, 3)))))
    ids = [""] * len(turn.calls)
    return Garbage(SIDES[received.wire].reply_of(turn, received.model, ids, Usage(100, 10), received.number))


def drop(rng: Random, received: Received) -> Move:
    return Drop()


def drop_mid(rng: Random, received: Received) -> Move:
    return Drop(mid_body=True)


def cut_stream(rng: Random, received: Received) -> Move:
    return CutStream(rng.choice((0, 1, 5, 200)), _abandoned(rng, received), clean=rng.random() < 0.3)


def error_in_stream(rng: Random, received: Received) -> Move:
    status = rng.choice((529, 500, 429, 400, 401))
    message = rng.choice(("Overloaded", "prompt is too long", "internal error"))
    return ErrorInStream(status, rng.choice((0, 1, 50)), _abandoned(rng, received), message)


def stall_stream(rng: Random, received: Received) -> Move:
    return StallStream(STALLED, rng.choice((0, 1, 20)), _abandoned(rng, received))


def stall(rng: Random, received: Received) -> Move:
    return Stall(STALLED, _abandoned(rng, received))


def unstreamed(rng: Random, received: Received) -> Move:
    return Unstreamed(rng.choice((text, calls, finish_final))(rng, received))


GOOD: Final = tuple(made.__name__ for made in GOOD_TURNS)
FATAL: Final = ("authentication", "billing", "no_such_model", "refused", "filtered")
STREAMED: Final = ("cut_stream", "error_in_stream", "unstreamed")
STALLING: Final = ("stall_stream", "stall")
_MADE: Final[tuple[Maker, ...]] = (
    *(garbage, no_id, drop, drop_mid, cut_stream, error_in_stream, stall_stream, stall, unstreamed),
)
MOVES: Final[Mapping[str, Maker]] = {
    **{made.__name__: made for made in (*GOOD_TURNS, *WRONG_TURNS, *_MADE)},
    **REFUSALS,
}
"""Every move by its name."""

WRONG: Final = tuple(sorted(set(MOVES).difference(GOOD, STREAMED, STALLING)))


@attrs.frozen
class Drawn:
    """A move and its name."""

    name: str
    move: Move


def drawn(seed: int, received: Received, weights: Mapping[str, int], last: Mapping[str, int]) -> Drawn:
    """The next move. A request for the last reply, or for a summary, takes no tools and is drawn from `last`."""
    rng = Random(f"{seed}/{received.number}")
    chosen = last if received.request.no_tools or not received.request.tools else weights
    names = [name for name, weight in chosen.items() if weight]
    [name] = rng.choices(names, [chosen[name] for name in names])
    return Drawn(name, MOVES[name](rng, received))
