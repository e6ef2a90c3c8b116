"""The most that each count can come to, as its readings say it, against the most that is found by search.

All runs of a few turns over a menu of turns are played on the machine, with limits so high that nothing stops them.
Each detector's count comes exactly to the `most` of its readings, under each pair of its limits, and never above.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import attrs
import pytest

from machines.detectors.roster import ROSTER
from machines.events import (
    Begin,
    Call,
    Declared,
    ErrorKind,
    PlanChanged,
    Reply,
    Result,
    StopReason,
    Text,
    TurnEnded,
)
from machines.manifest import Kind, Tool
from machines.policy import Budget, Detectors, Limits, Plain, Policy
from machines.run import RUN
from machines.state import Phase, Run, new_run
from machines.supervisor import feed
from statecraft import Reading

FAR = 1_000
STILL = PlanChanged(1.0, ())
ARGS = Text("args", 4)
TOOLS = {
    "find": Tool(Kind.SEARCH),
    "think": Tool(Kind.THINK),
    "related": Tool(family="related"),
    "look": Tool(look=True),
    "jot": Tool(scratch=True),
}


@attrs.frozen
class Kindly:
    """A call and what it comes to; a digest of `fresh` is another one each time."""

    tool: str
    digest: bytes | None = b"digest"
    error: ErrorKind | None = None
    fruitless: bool = False
    parsed: bool = True
    other: bool = False

    @property
    def call(self) -> Call:
        """The call, without an id of its own."""
        signature = self.tool.encode() + b"other" * self.other
        return Call("", self.tool, signature, ARGS, self.parsed, empty=self.tool == "think")


OLD, FRESH, OTHER = Kindly("read"), Kindly("read", b"fresh"), Kindly("read", other=True)
FAILS, LOST = Kindly("read", b"error", ErrorKind.OTHER), Kindly("read", None, ErrorKind.OTHER)
UNSEEN, GARBLED = Kindly("read", None), Kindly("read", parsed=False)
INVALID, MISSING = Kindly("read", b"wrong", ErrorKind.VALIDATION), Kindly("read", b"none", ErrorKind.UNKNOWN_TOOL)
NOTHING, EMPTY, LOOK, NOTE = Kindly("find", fruitless=True), Kindly("think"), Kindly("look"), Kindly("jot")
ABOUT, ABOUT_LOST = Kindly("related"), Kindly("related", None, ErrorKind.OTHER)
ALONE = (OLD, OTHER, FAILS, LOST, UNSEEN, GARBLED, INVALID, MISSING, NOTHING, EMPTY, LOOK, NOTE, ABOUT, ABOUT_LOST)
FULL = (OLD, FAILS, LOST, GARBLED, INVALID, NOTHING, EMPTY, ABOUT_LOST)
"""Calls that a turn may be full of, and over: twice as many as it takes."""

Turn = tuple[Kindly, ...]
Most = dict[tuple[str, bool], tuple[int, int]]
"""By the reading's name and whether the wider limits are in force: the count that was found, and the most."""


def turns_of(calls: int) -> list[Turn]:
    """The menu. A turn takes `calls` calls, and as many more are answered unrun."""
    full = [(one,) * (2 * calls) for one in FULL] + [(one,) * calls for one in FULL if calls > 1]
    mixed = [
        (INVALID,) * calls + (GARBLED,) * calls,
        (FRESH, LOOK),
        (OTHER, OLD),
        (FRESH, *(LOST,) * (2 * calls - 1)),
    ]
    # Which of two answers of a turn stands first is decided by their digests.
    mixed += [(one, one) for one in (OTHER, LOOK, NOTE, ABOUT)]
    return [(), *((one,) for one in ALONE), *full, *mixed, (EMPTY,) * 5]


def far(limits: Plain) -> Plain:
    """The limits out of reach, the wider ones twice as far."""
    more: dict[str, Any] = {name: FAR * 4 for name in ("window", "failing_window") if hasattr(limits, name)}
    if isinstance(limits, Limits):
        more |= {"failing_nudge": 2 * FAR, "failing_stop": 2 * FAR}
    return attrs.evolve(limits, nudge=FAR, stop=FAR, **more)


def far_run(turns: int, calls: int) -> Run:
    detectors: dict[str, Any] = {field.name: far(getattr(Detectors(), field.name)) for field in attrs.fields(Detectors)}
    budget = Budget(turns, None, None, None, calls_per_turn=calls)
    return new_run("run", Policy(budget, detectors=Detectors(**detectors)), tools=TOOLS)


def search(turns: int, calls: int) -> Most:
    """All runs of so many turns over the menu."""
    found: Most = {}
    fresh, menu = count(), turns_of(calls)

    def note(name: str, reading: Reading) -> None:
        key = name, reading.stop == 2 * FAR
        now, most = found.get(key, (0, 0))
        found[key] = (max(now, reading.now), max(most, reading.most))

    def go(run: Run, left: int) -> None:
        for turn in menu if left else ():
            asked = tuple(attrs.evolve(one.call, id=str(number)) for number, one in enumerate(turn))
            after = play(run, turn, asked)
            if after is not None:
                go(after, left - 1)

    def play(run: Run, turn: Turn, asked: tuple[Call, ...]) -> Run | None:
        said = Reply(1.0, StopReason.TOOL_USE, asked)
        for detector in ROSTER:
            if detector.before is not None and asked:
                note(f"{detector.name} before", detector.before(run, said))
        word = Reply(1.0, StopReason.END_TURN, text=ARGS, kind=Declared.CHECKPOINT)
        run = feed(run, said if asked else word, then=STILL).run
        while run.turn.open:
            one = turn[int(run.turn.open[0].id)]
            digest = b"fresh %d" % next(fresh) if one.digest == b"fresh" else one.digest
            result = Result(1.0, run.turn.open[0].id, digest, error=one.error, fruitless=one.fruitless)
            run = feed(run, result, then=STILL).run
        for detector in ROSTER:
            note(detector.name, detector.read(run, TurnEnded(1.0)))
        after = RUN.step(run, TurnEnded(1.0)).run
        return after if after.at is Phase.ASKING else None

    go(feed(far_run(turns, calls), Begin(0.0)).run, turns)
    return found


@pytest.mark.parametrize(("turns", "calls"), [(1, 1), (1, 2), (2, 1), (2, 2)])
def test_each_count_comes_exactly_to_the_most_that_its_readings_say(turns: int, calls: int) -> None:
    found = search(turns, calls)
    assert {name for name, _ in found} >= {detector.name for detector in ROSTER}
    wrong: Mapping[tuple[str, bool], tuple[int, int]] = {key: both for key, both in found.items() if both[0] != both[1]}
    assert wrong == {}


def test_a_look_at_what_was_told_takes_a_third_turn_where_a_turn_takes_one_call() -> None:
    reading = next(one for one in ROSTER if one.name == "redundant_check").read
    assert [reading(far_run(turns, 1), TurnEnded(1.0)).most for turns in (1, 2, 3)] == [0, 0, 1]
    assert [reading(far_run(turns, 2), TurnEnded(1.0)).most for turns in (1, 2, 3)] == [0, 1, 1]
    run = feed(far_run(3, 1), Begin(0.0)).run
    for one in (LOOK, FRESH, LOOK):
        run = feed(run, Reply(1.0, StopReason.TOOL_USE, (attrs.evolve(one.call, id="1"),)), then=STILL).run
        run = feed(run, Result(1.0, "1", one.digest), then=STILL).run
        now = reading(run, TurnEnded(1.0)).now
        run = RUN.step(run, TurnEnded(1.0)).run
    assert now == 1
