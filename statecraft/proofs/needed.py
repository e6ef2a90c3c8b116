"""Which budgets a row needs without spending them: it is never taken while one of them is used up.

What a guard asks is opaque, but for one that `used_up` made, of which it is known that it holds exactly where nothing
is left. So a row needs a budget if it asks for something that cannot hold then, or if a row above it in its cell is
taken then whatever else is the case: one that spends nothing, and asks only what must hold then.

The purse is the same for the whole step, since neither an effect nor an inner machine may change it (`Fault`).
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from ..guards import as_guard
from ..table import Table

AnyTable = Table[Any, Any, Any, Any]


def needs_of(table: AnyTable) -> dict[tuple[int, Enum], frozenset[Enum]]:
    """For each row in each source where there are any: the budgets, but for the one that it spends, that it needs."""
    asked = {guard for row in table.rows for guard in row.guards}
    shut = {(one, budget) for one in asked for budget in table.budgets if _is(False, one, budget, table)}
    held = {(one, budget) for one in asked for budget in table.budgets if _is(True, one, budget, table)}
    found: dict[tuple[int, Enum], frozenset[Enum]] = {}
    below: dict[tuple[Enum, type[Any]], set[Enum]] = {}
    for number, row in enumerate(table.rows):
        own = {budget for budget in table.budgets if any((one, budget) in shut for one in row.guards)}
        taken = set[Enum]()
        if row.spends is None:
            taken = {budget for budget in table.budgets if all((one, budget) in held for one in row.guards)}
        for source in row.sources:
            above = below.setdefault((source, row.event), set())
            needs = frozenset((own | above) - {row.spends})
            if needs:
                found[number, source] = needs
            above |= taken
    return found


def _is(answer: bool, question: object, budget: Enum, table: AnyTable) -> bool:
    """Whether the question is surely answered so where nothing is left of the budget."""
    asked = as_guard(question)
    if asked is None:
        return False
    match asked.how:
        case "not":
            return _is(not answer, asked.parts[0], budget, table)
        case "all" | "any":
            quantifier = all if (asked.how == "all") is answer else any
            return quantifier(_is(answer, part, budget, table) for part in asked.parts)
        case _:
            return answer and asked.budget is budget and asked.purse is table.left
