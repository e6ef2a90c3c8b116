"""What two answers of a table have in common: the row and every yes and no, whatever values stood behind them.

Steps with one mark asked the same questions in the same order. So what follows from the answers alone is found once
for all of them.
"""

from __future__ import annotations

from typing import Any

import attrs

from ..guards import Evidence
from ..heard import AnyTable, heard
from ..step import Refused, Step

Mark = tuple[Any, ...]
"""The source state, the row (None: refused), each answer, and the marks of what happened inside. It can be hashed."""


def mark_of(answer: Any) -> Mark:
    """The mark of what a table answered; of one that asked nothing (ignored, unhandled) its kind."""
    if answer.__class__ is not Step and answer.__class__ is not Refused:
        return (answer.__class__,)
    seen: tuple[Any, ...] = answer.seen
    said = [
        found.holds if found.__class__ is Evidence else 2 + (found.now >= found.nudge) + 2 * (found.now >= found.stop)
        for found in seen
    ]
    inside = tuple([mark_of(one) for one in answer.inside]) if answer.inside else ()
    return id(answer.source), answer.row, tuple(said), inside


def places(table: AnyTable, event: type[Any], answer: Step[Any, Any] | Refused[Any]) -> tuple[tuple[Any, int], ...]:
    """Each question that was asked, by its key, and where in `seen` its answer stands."""
    copies = [attrs.evolve(found) for found in answer.seen]  # one value may have answered two questions
    number = {id(copy): place for place, copy in enumerate(copies)}
    asked = heard(table, answer.source, event, copies, answer.row)
    return tuple({one.key: number[id(one.found)] for one in asked if one.found is not None}.items())
