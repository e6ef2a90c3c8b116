"""Replay: step the recorded events again, and compare line by line with what was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

import attrs

from ..codec import dump, load
from ..journal import Journaled, Store, Verified
from ..journal.records import answered, ended, faulted, handed_on
from .recorded import Advanced, Line, Migrate, advance, lines, next_leg, recorded

R = TypeVar("R")

# What is compared, in this order. Not the text of a fault: an exception's message may hold anything.
_COMPARED: Mapping[str, tuple[str, ...]] = {
    "step": ("machine", "source", "row", "target", "readings", "inside", "commands"),
    "refused": ("machine", "source", "why", "readings", "inside"),
    "fault": ("machine", "source", "row", "part", "readings"),
    "leg": ("source", "target", "digest"),
    "end": ("state",),
}
_NAMED = ("row", "source", "target", "why", "part", "problem")


@attrs.frozen
class Difference:
    """Where a replay first differs: the line's number, in what, and both sides as plain JSON.

    `what` is `answer` where the two are of different kinds (a step and a refusal), else the field.
    """

    seq: int
    what: str
    recorded: Any
    replayed: Any


@attrs.frozen
class Replayed(Generic[R]):
    """A run stepped again. `lines` were compared; `run` is its value after the last of them.

    Without a `difference` the recorded answers are the table's own.
    """

    name: str
    machine: str
    verified: Verified
    lines: int
    run: R
    difference: Difference | None


def replay(store: Store, of: Journaled[R, Any, Any], migrate: Migrate | None = None) -> Replayed[R]:
    """Step the recorded events from the run's beginning, up to the first difference or the last line.

    Raises `JournalError` where the journal is broken, `TableChanged` where its table is another.
    """
    head = recorded(store, of, migrate)
    run, count = head.initial, 1
    difference: Difference | None = None
    for line in lines(store, of, migrate):
        run, difference = _again(store, of, run, line)
        if difference is not None:
            break
        count += 1
    return Replayed(head.run, head.machine, head.verified, count, run, difference)


def _again(store: Store, of: Journaled[R, Any, Any], run: R, line: Line) -> tuple[R, Difference | None]:
    """The run after the line, and how the line differs from what stepping gives now."""
    if line.kind == "leg":
        after = next_leg(store, of, run, line)
        return after, compared(of, line, run, after, None)
    stepped = None if line.event is None else advance(of, run, line.event)
    after = run if stepped is None else stepped.after
    return after, compared(of, line, run, after, stepped)


def compared(
    of: Journaled[R, Any, Any], line: Line, before: R, after: R, stepped: Advanced[R] | None
) -> Difference | None:
    """How a line differs from what it came to now: the run before and after it, and the step of its event."""
    state = of.table.at(before)
    if line.kind == "end":
        return differs(line, ended(0, state))
    if line.kind == "leg":
        return differs(line, handed_on(of, state.name, after))
    if stepped is None:  # an event from outside the alphabet, of which only the name was kept; or none at all
        return None
    if stepped.fault is not None:
        return differs(line, faulted(of, line.event, stepped.fault, state.name))
    assert stepped.answer is not None
    return differs(line, answered(of, line.event, stepped.answer))


def differs(line: Line, again: Mapping[str, Any] | None) -> Difference | None:
    """The first field in which the recorded line and the fields of the new one differ; None for an ignored event."""
    if again is None:
        return Difference(line.seq, "answer", _named(line.record), {"kind": "ignored"})
    if again["kind"] != line.kind:
        return Difference(line.seq, "answer", _named(line.record), _named(again))
    # Through JSON, so that both sides are made of the same types.
    plain: Mapping[str, Any] = load(dump({key: again[key] for key in _COMPARED[line.kind]}))
    for key, value in plain.items():
        if line.record.get(key) != value:
            return Difference(line.seq, key, line.record.get(key), value)
    return None


def _named(record: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": record.get("kind"), **{key: record[key] for key in _NAMED if key in record}}
