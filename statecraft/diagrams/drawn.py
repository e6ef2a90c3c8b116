"""A run over its machine: which rows it took, from where, how often, and where it came to stand.

Input is what stepping answered, or only row numbers as a journal keeps them. A row with several sources is drawn as
several arrows, and a number alone does not say which of them was taken; with the table at hand the outer machine's can
be followed. Where it stays unknown, each of the row's arrows shows the row's count as an upper limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import attrs

from ..step import Answer, Step
from .edges import AnyTable, Inside, Line, Picture

# One step as numbers: the row (None: no row was taken), and the same of each inner machine, by name.
Pair: TypeAlias = "tuple[int | None, Mapping[str, Pair]]"

UNKNOWN = ""  # no state: shown for a source or an end that nobody told


@attrs.frozen
class Taken:
    """How often each row was taken, by (source state, row number), and the state that the run came to.

    `machine` and `ended` are empty where the input does not say. `inside` has the same for inner machines, by name; all
    that lived one after another are counted together, and `ended` is the last one's state. Of many runs (`tested`) it
    is what all of them took, and none has ended; `remarks` says of a row, by number, what is still to be seen of it.
    """

    machine: str
    times: Mapping[tuple[str, int], int]
    ended: str
    inside: Mapping[str, Taken]
    tested: bool = False
    remarks: Mapping[int, str] = attrs.field(factory=dict[int, str])

    @property
    def rows(self) -> dict[int, int]:
        """How often each row was taken, by row number, ascending."""
        found: dict[int, int] = {}
        for (_, row), times in sorted(self.times.items(), key=lambda item: item[0][1]):
            found[row] = found.get(row, 0) + times
        return found


def taken(steps: Iterable[Answer[Any, Any] | Pair], table: AnyTable | None = None) -> Taken:
    """The run that gave these answers, in their order.

    Pairs need `table` to say from which of several sources a row was taken and where the run ended: a run goes on where
    its last row led, from the initial state on. An answer that took no row counts nothing, inside neither.
    """
    tally = _Tally(table.name if table else "")
    for step in steps:
        if isinstance(step, tuple):
            tally.add_pair(step, table)
        else:
            tally.add(step)
    return tally.taken()


def times(run: Taken, source: str, line: Line) -> tuple[int, bool]:
    """How often the run took the row from `source`, and whether that is exact."""
    exact, unsure = run.times.get((source, line.row), 0), run.times.get((UNKNOWN, line.row), 0)
    return exact + unsure, not unsure or len(line.sources) == 1


def inner(run: Taken, held: Inside) -> Taken:
    """The run's part in an inner machine; one in which nothing was taken, where it never stepped it."""
    return run.inside.get(held.picture.name, Taken(held.picture.name, {}, UNKNOWN, {}, run.tested))


def looks(drawn: Picture, run: Taken) -> dict[str, str]:
    """How each state is drawn: `ended` where the run came to stand, `taken` where it was before, else `never`."""
    been = {run.ended} & set(drawn.states)
    for edge in drawn.edges:
        if any(times(run, edge.source, line)[0] for line in edge.lines):
            been.update((edge.source, edge.target))
    return {s: "ended" if s == run.ended else "taken" if s in been else "never" for s in drawn.states}


def check_fits(drawn: Picture, run: Taken) -> None:
    """Raise ValueError where the run cannot be one of this machine."""
    if run.machine and run.machine != drawn.name:
        raise ValueError(f"the run is one of machine {run.machine}, expected {drawn.name}")
    for source, row in sorted(run.times):
        _check_row(drawn.name, row, len(drawn.lines))
        if source != UNKNOWN and source not in drawn.lines[row].sources:
            known = ", ".join(drawn.lines[row].sources)
            raise ValueError(f"machine {drawn.name}: the run took row {row} from {source}, expected {known}")
    known_inside = {held.picture.name: held.picture for held in drawn.inside}
    for name, inner_run in sorted(run.inside.items()):
        if name not in known_inside:
            raise ValueError(f"machine {drawn.name}: the run stepped inner machine {name}, which it does not have")
        check_fits(known_inside[name], inner_run)


def _check_row(machine: str, row: int, rows: int) -> None:
    if not 0 <= row < rows:
        raise ValueError(f"machine {machine}: the run took row {row}, expected a row from 0 to {rows - 1}")


class _Tally:
    """A count under way."""

    def __init__(self, machine: str) -> None:
        self.machine, self.ended = machine, UNKNOWN
        self.times: dict[tuple[str, int], int] = {}
        self.inside: dict[str, _Tally] = {}

    def add(self, answer: Answer[Any, Any]) -> None:
        if self.machine and self.machine != answer.machine:
            raise ValueError(f"a step of machine {answer.machine} among those of {self.machine}")
        self.machine = answer.machine
        if not isinstance(answer, Step):
            self.ended = answer.source.name
            return
        self.ended = answer.target.name
        self._count(answer.source.name, answer.row)
        for inner_answer in answer.inside:
            self._inner(inner_answer.machine).add(inner_answer)

    def add_pair(self, pair: Pair, table: AnyTable | None, *, alone: bool = True) -> None:
        row, inside = pair
        if row is None:
            return
        source = UNKNOWN
        if table is not None:
            _check_row(table.name, row, len(table.rows))
            stands = self.ended or table.initial.name
            # Inner machines begin again unseen, and several may live at once: what one did last says nothing of a row.
            if alone and stands in (state.name for state in table.rows[row].sources):
                source = stands
            self.ended = table.rows[row].target.name
        self._count(source, row)
        tables = {} if table is None else {held.name: held.table for held in table.inners}
        for name, inner_pair in inside.items():
            self._inner(name).add_pair(inner_pair, tables.get(name), alone=False)

    def _count(self, source: str, row: int) -> None:
        self.times[source, row] = self.times.get((source, row), 0) + 1

    def _inner(self, name: str) -> _Tally:
        return self.inside.setdefault(name, _Tally(name))

    def taken(self) -> Taken:
        return Taken(
            self.machine,
            dict(sorted(self.times.items())),
            self.ended,
            {name: tally.taken() for name, tally in sorted(self.inside.items())},
        )
