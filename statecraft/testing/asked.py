"""What the rows of a cell ask, asked of the table's own functions: beside a step, which asks no more once a row holds.

The run is given as the guards of a step see it: its inner machines stepped. A guard that raises where the table would
not have asked it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from ..guards import Evidence, Finding, Level, Scalar, as_guard, limits, name_of
from ..heard import question_name

Numbered = tuple[tuple[int, Any, frozenset[int] | None], ...]
"""Rows of a table in their order, each after its number; asked only if one of these before it holds (None: always)."""


class Asked:
    """The answers of one event, each question asked once; `known` are those that the step itself heard, by question."""

    def __init__(
        self, run: Any, event: Any, purse: Mapping[Any, Any], opened: frozenset[int], known: dict[Any, Finding]
    ) -> None:
        self.run, self.event, self._purse, self._opened = run, event, purse, opened
        self._found: dict[Any, Any] = known
        self._said: dict[Any, bool] = {}

    def holding(self, rows: Numbered, taken: int | None) -> tuple[int, ...]:
        """The numbers of those rows of which all that they ask holds, as it does of the one that was `taken`.

        Not of one where something raises: the table itself might never have asked it here.
        """
        found: list[int] = []
        said = self._said
        for number, row, after in rows:
            if after is not None and after.isdisjoint(found):
                continue
            try:
                if number != taken:
                    if row.spends is not None and not self._paid(row.spends):
                        continue
                    for question in row.guards:
                        if question not in said:
                            said[question] = self._holds(question)
                        if not said[question]:
                            break
                    else:
                        found.append(number)
                else:
                    found.append(number)
            except Exception:  # noqa: BLE001
                continue
        return tuple(found)

    def evidence(self, row: Any) -> tuple[Evidence, ...]:
        """What the row asks, each with what it answered, for a row that holds; a combination with all its values."""
        spent = () if row.spends is None else (Evidence(question_name(row.spends), True, self._left(row.spends)),)
        return (*spent, *(self._evident(guard) for guard in row.guards))

    def _paid(self, spends: Any) -> bool:
        if isinstance(spends, Enum):
            return self._purse[spends] is None or self._purse[spends] > 0
        return id(spends) in self._opened

    def _left(self, spends: Any) -> dict[str, Scalar]:
        return {"left": self._purse[spends]} if isinstance(spends, Enum) else {}

    def _holds(self, question: Any) -> bool:
        function: Any = question
        level: Level | None = None
        guard = as_guard(question)
        if guard is not None:
            if guard.parts:
                heard = [self._holds(part) for part in guard.parts]
                return not heard[0] if guard.how == "not" else all(heard) if guard.how == "all" else any(heard)
            function, level = guard.function, guard.level if guard.how == "reaches" else None
        found: Any = self._found.get(function)
        if found is None:
            found = self._found[function] = function(self.run, self.event)
        return bool(found.holds if level is None else found.level >= level)

    def _evident(self, question: Any) -> Evidence:
        holds = self._holds(question)
        values: dict[str, Scalar] = {}
        for name, key, value in self._values(question):
            values[key if values.get(key, value) == value else f"{name}.{key}"] = value
        return Evidence(name_of(question), holds, values)

    def _values(self, question: Any) -> Iterator[tuple[str, str, Scalar]]:
        """All that the question looked at: by which part of it, under which key."""
        guard = as_guard(question)
        for part in () if guard is None else guard.parts:
            yield from self._values(part)
        if guard is None or not guard.parts:
            found: Finding = self._found[question if guard is None else guard.function]
            seen = found.seen if isinstance(found, Evidence) else {**found.seen, **limits(found)}
            yield from ((name_of(question), key, value) for key, value in seen.items())
