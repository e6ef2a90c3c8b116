"""Laws: what must hold of every step of a machine, whatever the world does.

A law is an ordinary predicate on one step, with a name and the reason for it. What one step cannot show (that a call is
answered once, say) a law may remember: a value that can be hashed, which each step carries on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

import attrs

from ..step import Answer, Fault

R_co = TypeVar("R_co", covariant=True)
E_co = TypeVar("E_co", covariant=True)
T_con = TypeVar("T_con", contravariant=True)


@attrs.frozen
class Taken(Generic[R_co, E_co]):
    """One event as it met a machine: the run before it, and what the machine answered, or the fault that it was."""

    before: R_co
    event: E_co
    answer: Answer[R_co, Any] | Fault
    after: R_co


@attrs.frozen
class Law(Generic[T_con]):
    """What must hold of each step: `broken` answers what is wrong with one, in words; nothing where nothing is.

    `broken` is given the step, and what the law remembers of the steps before it: `start` at first, and then what
    `remember` makes of it, step by step. A law without `remember` is given its `start` always.
    """

    name: str
    reason: str
    broken: Callable[[T_con, Any], str]
    start: Hashable = None
    remember: Callable[[Any, T_con], Hashable] | None = None


def no_fault(step: Taken[Any, Any], memory: object) -> str:
    """Says which part of the machine was at fault, if one was."""
    return f"a fault: {step.answer}" if isinstance(step.answer, Fault) else ""


NO_FAULT: Law[Taken[Any, Any]] = Law(
    "no fault", "a guard or an effect that fails is a mistake in the machine, whatever came", no_fault
)
"""What holds of any machine."""
