"""An answer of a table as lines for people: what happened, and each row that was tried with what its guards saw."""

from __future__ import annotations

from typing import Any

import attrs

from .. import replay
from ..heard import AnyTable
from ..replay.explain import of_answer
from ..step import Answer

LONGEST = 300  # letters of an event that are shown


def told(table: AnyTable, event: object, answer: Answer[Any, Any]) -> tuple[str, ...]:
    """What the table answered to the event: a headline, the rows that were tried, one line a guard with its values."""
    sent = repr(event)
    cut = sent if len(sent) <= LONGEST else f"{sent[:LONGEST]}..."
    return tuple(replay.told(attrs.evolve(of_answer(table, type(event), answer), event=cut)).split("\n"))
