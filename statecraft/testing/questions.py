"""What has to be seen of a table's guards: each question that its rows ask, and every way in which it may answer.

A guard may hold or not. A reading may stand at rest, at its nudge limit or at its stop limit, as far as rows tell these
apart. What spending asks is a question like any other: a budget has to be seen to run out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs

from ..guards import Evidence, Finding, Level, as_guard, name_of
from ..heard import AnyTable, question_name


@attrs.frozen
class Way:
    """One way to answer, as numbers: whether it holds, or the levels of a reading. `text` goes on from "never"."""

    text: str
    answers: frozenset[int]


SAID_YES = Way("said yes", frozenset({1}))
SAID_NO = Way("said no", frozenset({0}))


@attrs.frozen
class Wanted:
    """A question by its key (see `Asking`), each way in which it has to be seen to answer, and the rows that ask it."""

    key: Any
    name: str
    ways: tuple[Way, ...]
    rows: tuple[int, ...]


def wanted(table: AnyTable) -> tuple[Wanted, ...]:
    """All that the table's rows ask, in their order."""
    names: dict[Any, str] = {}
    rows: dict[Any, dict[int, None]] = {}
    levels: dict[Any, set[Level]] = {}
    for number, row in enumerate(table.rows):
        spent = () if row.spends is None else ((row.spends, question_name(row.spends), None),)
        for key, name, level in (*spent, *(one for guard in row.guards for one in _parts(guard))):
            names.setdefault(key, name)
            rows.setdefault(key, {})[number] = None
            if level is not None:
                levels.setdefault(key, set()).add(level)
    return tuple(
        Wanted(key, name, _bands(levels[key]) if key in levels else (SAID_YES, SAID_NO), tuple(rows[key]))
        for key, name in names.items()
    )


def answered(found: Finding) -> int:
    """What `Way.answers` says of the answer: 1 or 0 where it holds or not, the level of a reading."""
    return int(found.holds if isinstance(found, Evidence) else found.level)


def _parts(question: Any) -> Iterator[tuple[Any, str, Level | None]]:
    """What a guard asks: (key, name, level). A negation asks nothing of its own."""
    guard = as_guard(question)
    if guard is None:
        yield question, name_of(question), None
    elif guard.how == "reaches":
        yield guard.function, name_of(guard.function), guard.level
    elif guard.how == "asks":
        yield guard.function, guard.name, None
    else:
        for part in guard.parts:
            yield from _parts(part)
        if guard.how != "not":
            yield guard, guard.name, None


def _bands(asked: set[Level]) -> tuple[Way, ...]:
    """The stretches between the levels that rows ask for, from rest upwards."""
    edges = sorted(asked | {Level.REST})
    stretches = [[level for level in Level if max(edge for edge in edges if edge <= level) is low] for low in edges]
    return tuple(Way(f"at {' or '.join(k.name.lower() for k in one)}", frozenset(map(int, one))) for one in stretches)
