"""What the searches of a check saw of guards and rows, for people and programs.

One line a table says how much; in full it is what was not seen, and cell by cell the rows that held at once, each with
its evidence. None of that is a mistake: a search that is cut short does not see all. Rows that held at once though the
table takes them to be apart are one, and are told always.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from ..codec import codec
from ..guards import Evidence
from ..spelled import spelled
from ..testing import report
from ..testing.at_once import Both
from ..testing.coverage import Covered
from ..testing.searched import SearchCoverage
from ..testing.source import written

SHOWN = 160  # characters of an event
NOTHING_SEARCHED = "guards: nothing was searched, so nothing was asked"


def summary(found: SearchCoverage) -> Iterator[str]:
    """How much was seen, in one line; then the rows that held at once and should not."""
    (seen, guards), (taken, rows) = found.coverage.guards, found.coverage.rows
    at_once = found.pairs.count[0]
    inside = " and what is inside it" if len(found.coverage.machines) > 1 else ""
    yield (
        f"{found.table}{inside}: guards: {seen} of {guards} seen both ways; rows: {taken} of {rows} taken; "
        f"{at_once} {'pair' if at_once == 1 else 'pairs'} of rows held at once"
    )
    for one in found.overlaps:
        yield f"  OVERLAP: {one.name}, {one.state} on {one.event}: the table takes these rows to be apart"
        yield from _pair(one)


def in_full(seen: Sequence[SearchCoverage]) -> Iterator[str]:
    """All that is to be looked at, table by table."""
    if not seen:
        yield NOTHING_SEARCHED
    for found in seen:
        yield f"guards and rows of {found.table}, as the searches saw them:"
        yield from (f"  {line}" for line in report(found.coverage))
        meant = [one for one in found.both if one.why != "overlap"]
        for (name, state, event), pairs in groupby(meant, lambda one: (one.name, one.state, one.event)):
            yield f"  {name}, {state} on {event}, rows that held at once:"
            for one in pairs:
                yield from _pair(one)
        seen_at_once, there = found.pairs.count
        yield f"  not seen to hold at once, by all that was searched: {there - seen_at_once} of {there} pairs of rows"


def plain(found: SearchCoverage, *, full: bool) -> Mapping[str, Any]:
    """The same for programs: counts and overlaps; in `full` what is missing by machine, and all pairs that held."""
    more = {
        "machines": [_machine(one) for one in found.coverage.machines],
        "held_at_once": [_both(one) for one in found.both],
    }
    return {
        "table": found.table,
        "guards": list(found.coverage.guards),
        "rows": list(found.coverage.rows),
        "pairs": list(found.pairs.count),
        "overlaps": [_both(one) for one in found.overlaps],
        **(more if full else {}),
    }


def _pair(one: Both) -> Iterator[str]:
    first, second = one.rows
    rest = ", the plain rest of the first" if one.why == "rest" else ""
    yield f"    rows {first} and {second}{rest}, first at {_event(one.at)}"
    for number, evidence in zip(one.rows, one.evidence, strict=True):
        yield f"      {number}: {_said(evidence)}"


def _said(evidence: Iterable[Evidence]) -> str:
    return "; ".join(f"{one.name}{': ' if one.seen else ''}{spelled(one.seen)}" for one in evidence)


def _event(event: object) -> str:
    text = " ".join(written(event).text.split()).replace("( ", "(").replace(",)", ")").replace(", )", ")")
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _machine(one: Covered) -> Mapping[str, Any]:
    return {
        "name": one.name,
        "never_taken": list(one.never_taken),
        "never_seen": [
            {"guard": asked.name, "rows": list(asked.rows), "never": [way.text for way in ways]}
            for asked, ways in one.never_seen
        ],
    }


def _both(one: Both) -> Mapping[str, Any]:
    return {
        "machine": one.name,
        "state": one.state,
        "event": one.event,
        "rows": list(one.rows),
        "why": one.why,
        "at": " ".join(written(one.at).text.split()),
        "evidence": [[codec().to_plain(evidence) for evidence in side] for side in one.evidence],
    }
