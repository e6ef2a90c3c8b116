"""What the machines of recovery have in common: budgets of one incident, each as large as the policy says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Protocol, TypeVar

from .policy import Recovery

B = TypeVar("B", bound=Enum)


class Incident(Protocol):
    """Whatever recovers by a policy."""

    @property
    def policy(self) -> Recovery:
        """How often it may."""
        ...


def sizes_of(budgets: type[B]) -> Mapping[B, Callable[[Incident], int]]:
    """How full each budget is when an incident begins: a budget's value is the name of its key in the policy."""
    return {budget: _size(budget) for budget in budgets}


def _size(budget: Enum) -> Callable[[Incident], int]:
    def full(run: Incident) -> int:
        return int(getattr(run.policy, budget.value))

    full.__name__ = f"{budget.value}_full"
    return full
