"""Walks through a table in one call: what holds at every step, how often each row was taken, and which never was.

A walk that never comes to a row says nothing of it, so that fails: better events are needed, or an excuse with its
reason. An excuse that is not needed fails too, or it would hide the row when it is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import attrs
from hypothesis import HealthCheck, Phase, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from ..diagrams.edges import picture
from ..diagrams.listing import row as row_text
from ..heard import AnyTable
from ..proofs import Law, Taken
from ..step import Answer
from ..table import Table
from .coverage import Coverage, Covered, Tally
from .walking import Broken, Sends, machine_of

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")

Excuses = Mapping[Any, str]  # by the row's number, or by (name of the machine, number)


class Unwalked(AssertionError):
    """Rows that no walk came to, and rows that are excused though one did."""


@attrs.frozen
class Walked:
    """What the walks came to: of each machine how often each row was taken; walks, steps and runs in all."""

    coverage: Coverage
    walks: int
    steps: int
    runs: int

    def lines(self) -> list[str]:
        """Each machine, and how often each of its rows was taken."""
        found: list[str] = []
        for one in self.coverage.machines:
            some, there = one.rows
            size = f"{self.walks} walks of {self.steps} steps and {self.runs} runs in all"
            found.append(f"{one.name}: {some} of {there} rows in {size}")
            found += [f"{_times(one, number):8} {text}" for number, text in enumerate(_texts(one.table))]
        return found


def walk(
    table: Table[R, Any, E, C],
    start: R | st.SearchStrategy[R],
    events: Sends[Any, Any] = None,
    *,
    steps: int = 40,
    examples: int = 100,
    laws: Iterable[Law[Taken[R, E]]] = (),
    unsampled: Excuses | None = None,
    seed: int | None = 0,
) -> Walked:
    """Walk the table; prints how often each row was taken, and fails for a row that never was, inner ones too.

    There are about as many walks as `examples`, each of at most `steps` events. Where a run has ended, or no row leads
    on, the walk begins another run, so that a first row may be taken more often than there are walks; how many runs
    were begun is printed too.

    `unsampled` excuses rows, each with a reason: by number, or by (name of the inner machine, number). An excuse for a
    row that was taken fails as well. The same `seed` walks the same way; with None every call walks another. See
    `machine_of` for the rest.
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    excused = _excuses(table, unsampled or {})
    tally, count = Tally(), [0, 0, 0]

    def hear(event: E, answer: Answer[R, C]) -> None:
        count[1] += 1
        tally.hear(table, event, answer)

    def end(self: object) -> None:
        count[0] += 1

    def began(run: R) -> None:
        count[2] += 1

    machine = machine_of(table, start, events, laws, hear, began)
    setattr(machine, "teardown", end)  # noqa: B010  # type checkers refuse to see a method assigned
    if seed is not None:
        seeded(seed)(machine)
    try:
        run_state_machine_as_test(
            machine,
            settings=settings(
                max_examples=examples,
                stateful_step_count=steps,
                deadline=None,
                database=None,  # all walks would share one entry; the script is what is kept
                derandomize=False,
                report_multiple_bugs=False,
                phases=(Phase.generate, Phase.shrink),
                suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
            ),
        )
    except Broken as broken:
        raise broken.with_traceback(None)  # noqa: B904  # the same; hypothesis' frames tell a test nothing
    found = Walked(tally.coverage([table]), *count)
    print("\n".join(found.lines()))
    if problems := _unwalked(found.coverage, excused):
        raise Unwalked("\n".join(problems))
    return found


def _excuses(table: AnyTable, unsampled: Excuses) -> dict[tuple[str, int], str]:
    """The excuses by name of the machine and row. Raises `ValueError` for one that excuses nothing."""
    machines = {one.table.name: one.table for one in Tally().coverage([table]).machines}
    found: dict[tuple[str, int], str] = {}
    for key, reason in unsampled.items():
        name, row = (table.name, key) if isinstance(key, int) else key
        if name not in machines:
            raise ValueError(f"unsampled: there is no machine {name}, only {', '.join(machines)}")
        if not 0 <= row < len(machines[name].rows):
            raise ValueError(f"unsampled: {name} has no row {row}, only 0 to {len(machines[name].rows) - 1}")
        if not reason.strip():
            raise ValueError(f"unsampled: {name} row {row}: expected a reason")
        found[name, row] = reason
    return found


def _unwalked(coverage: Coverage, excused: Mapping[tuple[str, int], str]) -> list[str]:
    problems: list[str] = []
    for one in coverage.machines:
        for number, text in enumerate(_texts(one.table)):
            reason = excused.get((one.table.name, number))
            if number in one.taken and reason is not None:
                problems.append(f"{one.name}: walked, though excused ({reason}): row {text}")
            elif number not in one.taken and reason is None:
                problems.append(f"{one.name}: never walked: row {text}")
    return problems


def _texts(table: AnyTable) -> list[str]:
    return [row_text(line) for line in picture(table).lines]


def _times(one: Covered, row: int) -> int:
    return sum(times for (_, number), times in one.times.items() if number == row)
