"""What each detector catches on recorded runs: how often, first, alone, and wrongly.

A stop is false where a harness or a person judged the run well and turns were recorded after it. A detector caught a
run alone if the run, judged again with that detector off, is then not stopped, or later.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

import attrs

from ..detectors.roster import SHAPES
from ..policy import Policy
from ..traces.recorded import Recorded
from .again import Again, kept
from .judge import Judged, judge
from .label import Label, label_of

ESCALATION: Final = "escalation"
"""What a third nudge is a stop by."""

NAMES: Final = (*SHAPES, ESCALATION)


@attrs.frozen
class FalseStop:
    """A run that was judged well and would have been stopped: at which of its turns, and how its recording ended."""

    run: str
    file: str
    by: str
    turn: int
    turns: int
    recorded_end: str


@attrs.define
class Caught:
    """What one detector caught: runs that it nudged, stopped, was the first to speak in, and caught alone."""

    nudged: int = 0
    stopped: int = 0
    first: int = 0
    alone: int = 0
    false_stops: list[FalseStop] = attrs.field(factory=list[FalseStop])


@attrs.define
class Catches:
    """What all of them caught so far. `well`, `not_well`: runs so judged; `unknown`: the others, by their format."""

    policy: Policy
    runs: int = 0
    turns: int = 0
    nudged: int = 0
    stopped: int = 0
    well: int = 0
    not_well: int = 0
    unknown: Counter[str] = attrs.field(factory=Counter[str])
    by_name: dict[str, Caught] = attrs.field(factory=lambda: {name: Caught() for name in NAMES})

    @property
    def false_stops(self) -> list[FalseStop]:
        """All of them, in the order in which the runs were read."""
        return sorted(
            (one for caught in self.by_name.values() for one in caught.false_stops), key=lambda one: (one.file, one.run)
        )

    def add(self, recorded: Recorded) -> None:
        """Judge one more run. Raises what reading it raises, and then nothing is counted of it."""
        again = kept(recorded)
        judged = judge(again(), self.policy)
        alone = [name for name in _spoke(judged) if _later(judged, again, without(self.policy, name))]
        self._count(judged, label_of(judged.recorded_end))
        for name in alone:
            self.by_name[name].alone += 1

    def _count(self, judged: Judged, label: Label) -> None:
        self.runs += 1
        self.turns += judged.turns
        self.well += label is Label.WELL
        self.not_well += label is Label.NOT_WELL
        if label is Label.UNKNOWN:
            self.unknown[judged.format] += 1
        found = [v for v in judged.verdicts if v.by in self.by_name]
        self.nudged += any(v.verdict == "nudge" for v in found)
        self.stopped += any(v.verdict == "stop" for v in found)
        for name in {v.by: None for v in found if v.verdict == "nudge"}:
            self.by_name[name].nudged += 1
        for name in {v.by: None for v in found if v.verdict == "stop"}:
            self.by_name[name].stopped += 1
        if found:
            self.by_name[found[0].by].first += 1
        early = [v for v in found if v.verdict == "stop" and v.turn < judged.turns and label is Label.WELL]
        for name, turn in {v.by: v.turn for v in reversed(early)}.items():
            wrong = FalseStop(judged.run, judged.file, name, turn, judged.turns, judged.recorded_end or "")
            self.by_name[name].false_stops.append(wrong)


def without(policy: Policy, name: str) -> Policy:
    """The policy with one detector off; or, of the escalation, in which no number of nudges is a stop."""
    if name == ESCALATION:
        return attrs.evolve(policy, escalation=attrs.evolve(policy.escalation, stops=False))
    off = attrs.evolve(getattr(policy.detectors, name), enabled=False)
    return attrs.evolve(policy, detectors=attrs.evolve(policy.detectors, **{name: off}))


def _stops(judged: Judged) -> list[int]:
    return [v.turn for v in judged.verdicts if v.verdict == "stop"]


def _spoke(judged: Judged) -> list[str]:
    """Who nudged or stopped in a run that was stopped; in one that was not nobody was needed for a stop."""
    return list({v.by: None for v in judged.verdicts if v.by in NAMES}) if _stops(judged) else []


def _later(judged: Judged, again: Again, policy: Policy) -> bool:
    """Whether one of the run's stops comes later, or never, under the other policy."""
    other, since = _stops(judge(again(), policy)), 0
    for turn in _stops(judged):
        if not any(since < then <= turn for then in other):
            return True
        since = turn
    return False
