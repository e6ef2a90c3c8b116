"""A table tested by a list: in this run, on this event, this is what happens. One test an entry, one line an entry.

    test_rows = table_test(HALL, [
        (SHUT, Push(20), 0),            # the number of a row
        (OPEN, Push(1), Door.SHUT),     # or the state it leads to
        (gone_after_a_year, Push(1), Refused),  # or that no row is taken; and a function that makes the run
    ])

The list is looked at when it is made: an entry that can never hold, and one that says again what another says, is a
`ValueError` with its number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import Any, Generic, TypeVar

import attrs

from ..guards import name_of
from ..step import Fault, Ignored, Refused, Unhandled
from ..table import Table
from .stepping import problem, shown, step_one

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")
S = TypeVar("S", bound=Enum)

QUIET = (Refused, Ignored, Unhandled)
NoRow = type[Refused[Any]] | type[Ignored[Any]] | type[Unhandled[Any]]


@attrs.frozen(repr=False)
class Case(Generic[R, S, E, C]):
    """One entry of a list. `run` may be a function that makes the run, which is called as the test runs.

    So a run that can be called itself has to be given by a function.
    """

    table: Table[R, S, E, C]
    run: R | Callable[[], R]
    event: E
    expected: int | S | NoRow

    @property
    def id(self) -> str:
        """State, event and what is expected: `SHUT-Push-0`; of a function that makes the run, its name."""
        expected: Any = self.expected
        start = name_of(self.run).strip("<>") if callable(self.run) else self.table.at(self.run).name
        wanted = expected.name if isinstance(expected, Enum) else getattr(expected, "__name__", expected)
        return f"{start}-{type(self.event).__name__}-{wanted}"

    def check(self) -> None:
        """Step the table once; AssertionError, with every guard and its values, where something else happens."""
        __tracebackhide__ = True
        run: Any = self.run() if callable(self.run) else self.run
        expected: Any = self.expected
        if expected in self.table.states:
            step_one(self.table, run, self.event, target=expected)
        elif isinstance(expected, int):
            step_one(self.table, run, self.event, row=expected)
        else:
            try:
                answer = self.table.step(run, self.event)
            except Fault as fault:
                raise shown(fault, self.table, run, self.event)  # noqa: B904  # the same fault, whose cause is its own
            if not isinstance(answer, expected):
                found = type(answer).__name__ if answer.row is None else f"row {answer.row}"
                raise AssertionError(
                    problem(f"expected {expected.__name__}, found {found}", self.table, self.event, answer)
                )

    def __repr__(self) -> str:
        return f"<case {self.table.name} {self.id}>"


def cases(
    table: Table[R, S, E, C], entries: Iterable[tuple[R | Callable[[], R], E, int | S | NoRow]]
) -> tuple[Any, ...]:
    """The entries as parameters for `pytest.mark.parametrize`, each with a `Case` under its id.

    An entry is `(run, event, expected)`; the run may be a function that makes it. What is expected is the number of the
    row that is taken, the state that the step leads to, or, where no row is taken, one of the classes `Refused`,
    `Ignored` and `Unhandled`.

    Raises `ValueError` for an entry that can never hold, and for one that stands there twice.
    """
    import pytest

    made = tuple(_checked(table, entries))
    return tuple(pytest.param(case, id=case.id) for case in made)


def table_test(
    table: Table[R, S, E, C], entries: Iterable[tuple[R | Callable[[], R], E, int | S | NoRow]]
) -> Callable[[Case[R, S, E, C]], None]:
    """A test of the table by the list, which pytest takes up under the name that it is given.

    What an entry expects is the number of a row, a state, `Refused`, `Ignored` or `Unhandled`; see `cases`.
    """
    import pytest

    @pytest.mark.parametrize("case", cases(table, entries))
    def test(case: Case[R, S, E, C]) -> None:
        __tracebackhide__ = True
        case.check()

    return test


def _checked(table: Table[Any, Any, Any, Any], entries: Iterable[Any]) -> Iterator[Case[Any, Any, Any, Any]]:
    seen: list[Any] = []
    for number, entry in enumerate(entries):
        where = f"{table.name}: entry {number}"
        if entry.__class__ is not tuple or len(entry) != 3:
            raise ValueError(f"{where}: expected (run, event, row), found {entry!r}")
        run, event, expected = entry
        case: Any = Case(table, run, event, expected)
        if wrong := _wrong(table, case):
            raise ValueError(f"{where}: {wrong}")
        twin = next((at for at, one in enumerate(seen) if one.event == case.event and one.run == case.run), None)
        if twin is not None:
            raise ValueError(f"{where}, {case.id}, says again what happens in the run and on the event of entry {twin}")
        seen.append(case)
        yield case


def _wrong(table: Table[Any, Any, Any, Any], case: Case[Any, Any, Any, Any]) -> str:
    """Why the entry can never hold; empty where it can."""
    expected, kind = case.expected, case.event.__class__
    state = None if callable(case.run) else table.at(case.run)
    if expected in QUIET:
        return ""
    if isinstance(expected, Enum):
        rows = [row for row in table.rows if row.event is kind and state in (None, *row.sources)]
        reached = dict.fromkeys(row.target.name for row in rows)
        if expected in [row.target for row in rows]:
            return ""
        return f"{expected!s} is reached by no row on {kind.__name__}{_from(state)}; there are {_listed(reached)}"
    if not isinstance(expected, int) or isinstance(expected, bool):
        return f"expected a row number, a state, Refused, Ignored or Unhandled, found {expected!r}"
    if not 0 <= expected < len(table.rows):
        return f"there is no row {expected}, only 0 to {len(table.rows) - 1}"
    row = table.rows[expected]
    if row.event is not kind:
        return f"row {expected} is for {row.event.__name__}, not for {kind.__name__}"
    return (
        ""
        if state in (None, *row.sources)
        else f"row {expected} leaves {_listed(s.name for s in row.sources)}{_not(state)}"
    )


def _from(state: Enum | None) -> str:
    return "" if state is None else f" from {state.name}"


def _not(state: Enum | None) -> str:
    return "" if state is None else f", not {state.name}"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
