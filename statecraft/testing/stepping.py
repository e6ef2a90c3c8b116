"""One transition tested by one call."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar

from ..step import Fault, Step
from ..table import Table

OURS: Final = (__name__.partition(".")[0], "transitions")  # packages whose frames tell a test nothing

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

    A `Fault` comes through with what was heard before it, and without the frames of this package and its engine.
    `row`, `target` and `commands`, where given, have to be the row taken, the state reached and the commands asked for,
    in their order: each a command, compared by value, or a kind of command. (`object`, because mypy does not infer the
    machine's commands from a list that mixes them.)
    """
    __tracebackhide__ = True  # pytest then shows the line of the test
    try:
        answer = table.step(run, event)
    except Fault as fault:
        raise shown(fault, table, run, event)  # noqa: B904  # the same fault, whose cause is its own
    if not isinstance(answer, Step):
        raise AssertionError(problem("expected a step", table, event, answer))
    if row is not None and answer.row != row:
        raise AssertionError(problem(f"expected row {row}, found row {answer.row}", table, event, answer))
    if target is not None and answer.target is not target:
        found = f"expected target {target.name}, found {answer.target.name}"
        raise AssertionError(problem(found, table, event, answer))
    if commands is not None and not _are(answer.commands, commands):
        found = f"expected commands {_listed(commands)}, found {_listed(answer.commands)}"
        raise AssertionError(problem(found, table, event, answer))
    return answer


def problem(what: str, table: Table[Any, Any, Any, Any], event: object, answer: Any) -> str:
    """What was expected, and each row that was tried with what its guards saw."""
    from .telling import told  # with all of replay, which a test that passes has no use for

    return "\n".join((what, *told(table, event, answer)))


def shown(fault: Fault, table: Table[Any, Any, Any, Any], run: object, event: object) -> Fault:
    """The fault with what was heard before it; of the frames, those of the guard or effect that raised are left."""
    from .telling import told_fault

    for line in told_fault(table, run, event, fault):
        fault.add_note(line)
    cause = fault.__cause__
    if cause is not None:
        cause.__traceback__ = _from_users(cause.__traceback__)
    return fault.with_traceback(None)


def _from_users(frames: TracebackType | None) -> TracebackType | None:
    while frames is not None and frames.tb_frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
        frames = frames.tb_next
    return frames


def _are(found: Sequence[object], expected: Sequence[object]) -> bool:
    return len(found) == len(expected) and all(
        type(one) is wanted if isinstance(wanted, type) else one == wanted
        for one, wanted in zip(found, expected, strict=True)
    )


def _listed(commands: Sequence[object]) -> str:
    return f"[{', '.join(one.__name__ if isinstance(one, type) else repr(one) for one in commands)}]"
