"""One transition tested by one call."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, Protocol, TypeVar

from ..step import Step
from ..table import Table

R = TypeVar("R")
E = TypeVar("E")
C = TypeVar("C")
S = TypeVar("S", bound=Enum)


class StepOne(Protocol):
    """The type of `step_one`, for tests that take the fixture."""

    def __call__(
        self,
        table: Table[R, S, E, C],
        run: R,
        event: E,
        *,
        row: int | None = None,
        target: S | None = None,
        commands: Sequence[object] | None = None,
    ) -> Step[R, C]:
        """See `step_one`."""
        ...


def step_one(
    table: Table[R, S, E, C],
    run: R,
    event: E,
    *,
    row: int | None = None,
    target: S | None = None,
    commands: Sequence[object] | None = None,
) -> Step[R, C]:
    """The step that `table` takes on `event`; AssertionError, with every guard and its values, where it takes none.

    `row`, `target` and `commands`, where given, have to be the row taken, the state reached and the commands asked for,
    in their order: each a command, compared by value, or a kind of command. (`object`, because mypy does not infer the
    machine's commands from a list that mixes them.)
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    answer = table.step(run, event)
    if not isinstance(answer, Step):
        raise AssertionError(_report("expected a step", table, event, answer))
    if row is not None and answer.row != row:
        raise AssertionError(_report(f"expected row {row}, found row {answer.row}", table, event, answer))
    if target is not None and answer.target is not target:
        found = f"expected target {target.name}, found {answer.target.name}"
        raise AssertionError(_report(found, table, event, answer))
    if commands is not None and not _are(answer.commands, commands):
        found = f"expected commands {_listed(commands)}, found {_listed(answer.commands)}"
        raise AssertionError(_report(found, table, event, answer))
    return answer


def _are(found: Sequence[object], expected: Sequence[object]) -> bool:
    return len(found) == len(expected) and all(
        type(one) is wanted if isinstance(wanted, type) else one == wanted
        for one, wanted in zip(found, expected, strict=True)
    )


def _listed(commands: Sequence[object]) -> str:
    return f"[{', '.join(one.__name__ if isinstance(one, type) else repr(one) for one in commands)}]"


def _report(problem: str, table: Table[Any, Any, Any, Any], event: object, answer: Any) -> str:
    from .telling import told  # with all of replay, which a test that passes has no use for

    return "\n".join((problem, *told(table, event, answer)))
