"""Recordings written short: turns, what their calls answered, and what else happens between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Final

import attrs

Record = dict[str, Any]


@attrs.frozen
class Did:
    """A call and its answer; `...`: the answer was not seen."""

    tool: str
    said: object = "done"
    args: Mapping[str, object] = attrs.field(factory=dict[str, object])
    error: str | None = None
    state: str | None = None
    wrote: bool = False


Happening = list[Did] | Record | str
"""A turn with its calls, a line of the recording as it is, or a reply of words alone."""


def did(tool: str, said: object = "done", error: str | None = None, **args: object) -> Did:
    return Did(tool, said, args, error)


def wrote(tool: str, state: str | None, said: object = "stored", **args: object) -> Did:
    return Did(tool, said, args, None, state, True)


def recorded(happenings: Iterable[Happening], every: float | None = None) -> list[Record]:
    """The lines of a recording, a turn every so many seconds."""
    lines: list[Record] = []
    ids = count()
    for number, one in enumerate(happenings):
        at = {} if every is None else {"at": number * every}
        if isinstance(one, str):
            lines.append({"t": "reply", "stop": "end_turn", "calls": [], "text": one, **at})
        elif isinstance(one, dict):
            lines.append(one)
        else:
            named = [(f"call-{next(ids)}", part) for part in one]
            calls = [{"id": id, "tool": part.tool, "args": dict(part.args)} for id, part in named]
            lines.append({"t": "reply", "stop": "tool_use", "calls": calls, **at})
            for id, part in named:
                line: Record = {"t": "result", "call": id, **at}
                line |= {} if part.said is ... else {"value": part.said}
                line |= {"error": {"kind": part.error}} if part.error else {}
                line |= {"wrote": True} if part.wrote else {}
                line |= {"state": part.state} if part.state else {}
                lines.append(line)
    return lines


@attrs.frozen
class Shape:
    """A recording, the worst verdicts that are right, and the turn by which the worst must have come."""

    name: str
    history: Sequence[Happening]
    accept: str
    by: int | None = None
    more: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    every: float | None = None


@attrs.frozen
class Timed:
    """A recording, and between which turns the first nudge and the first stop come; None: never, ANY: either way."""

    name: str
    history: Sequence[Happening]
    nudge: tuple[int, int] | str | None
    stop: tuple[int, int] | None
    more: Mapping[str, Any] = attrs.field(factory=dict[str, Any])
    every: float | None = None


ANY: Final = "any"
FINE, TOLD_AT_MOST, TOLD, CAUGHT, STOPPED = "continue", "continue nudge", "nudge", "nudge stop", "stop"

PERSON: Record = {"t": "user", "text": "And now the other half."}
PROGRAM: Record = {"t": "user", "text": "Please continue.", "synthetic": True}
EMPTY: Record = {"t": "reply", "stop": "end_turn", "calls": [], "text": ""}
CUT: Record = {"t": "reply", "stop": "length", "calls": [], "text": "The first part of the"}
TOO_LONG: Record = {"t": "refusal", "status": 413, "body": "too much"}


def condensed(freed: int) -> Record:
    return {"t": "condensed", "freed": freed}


def streamed(text: str, channel: str = "text") -> list[Happening]:
    return [{"t": "chunk", "channel": channel, "text": text[at : at + 2_000]} for at in range(0, len(text), 2_000)]


def plan(done: int, of: int = 12, word: str = "chapter") -> Record:
    items = [{"content": f"{word} {n}", "status": "completed" if n < done else "pending"} for n in range(of)]
    return {"t": "plan", "items": items}


def shelf(n: int) -> list[Did]:
    """Another shelf, with other books."""
    return [did("inspect_shelf", f"shelf {n} holds {n * 7 + 3} books", shelf=n)]


def cases(*parts: Did, times: int) -> list[Happening]:
    return [[*parts]] * times


CATALOGUE = did("ask_catalogue", "the same three cards", about="lighthouses")
JAMMED = did("open_gate", "the gate is jammed", "other", gate="east")
LAMP = did("read_lamp", {"lamp": "amber"}, hall=2)
RING = [[did("visit", f"room {room} is as it was", room=room)] for room in "pqrstu"]
COMPILED = did("compile", "line 12: unexpected indent", "other", file="sketch.py")
PHRASE = "I shall look at the map once more before I go on. "
WAIT = {
    "oven_state": {
        "kind": "wait",
        "wait": {
            "progress_field": "oven",
            "waiting_values": ["heating", "baking"],
            "terminal_values": ["done", "burnt"],
            "max_wait_seconds": 1200,
            "min_interval_seconds": 10,
        },
    }
}


def oven(state: str, **more: object) -> list[Did]:
    return [did("oven_state", {"oven": state, **more}, tray=4)]


def tools(**declared: Mapping[str, Any]) -> dict[str, Any]:
    return {"tools": declared}
