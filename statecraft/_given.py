"""What is given for the parts of a table: taken as it was meant, and what is wrong with it said in words.

Nothing is raised here. A table is refused with all that is wrong with it at once, each row of it by its number; so a
row, a mark and an inner machine carry what is wrong with them (`wrong`) until the table is built.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, EnumType
from types import UnionType
from typing import Any, TypeGuard, Union, get_args, get_origin

import attrs

from .guards import name_of

Wrong = tuple[str, ...]

_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_SHOWN = 40  # characters of a text in a message


@attrs.frozen
class Kind:
    """What may stand in some place of a table: how it is known, and what one and several of it are called."""

    fits: Callable[[Any], bool]
    one: str
    several: str


STATE = Kind(lambda value: isinstance(value, Enum), "a state", "states")
EVENT = Kind(lambda value: isinstance(value, type), "the class of one event", "classes of events")
COMMAND = Kind(lambda value: isinstance(value, type), "the class of a command", "classes of commands")

TEXT = Kind(lambda value: isinstance(value, str), "text", "texts")


def one(value: Any, kind: Kind, what: str) -> Wrong:
    """What is wrong with a value that has to be of the kind."""
    if kind.fits(value):
        return ()
    members = tuple(value) if isinstance(value, EnumType) else ()
    meant = f", as {_written(members[0])}" if members and kind.fits(members[0]) else ""
    return (f"{what}: found {said(value)}, expected {kind.one}{meant}",)


def several(value: Any, kind: Kind, what: str) -> tuple[tuple[Any, ...], Wrong]:
    """The items of a list of the kind, without what is not of it. One alone is taken for the list that was meant."""
    if is_list(value):
        items = tuple(value)
        return _fitting(items, kind), tuple(problem for item in items for problem in one(item, kind, what))
    fitting = _fitting(get_args(value) if _is_union(value) else (value,), kind)
    short = fitting and all(isinstance(part, Enum | type) for part in fitting)
    meant = f": [{', '.join(map(_written, fitting))}]" if short else ""
    return fitting, (f"{what}: found {said(value)}, expected a list of {kind.several}{meant}",)


def mapped(value: Any, what: str) -> tuple[Mapping[Any, Any], Wrong]:
    """A mapping as it stands."""
    if isinstance(value, Mapping):
        return value, ()  # pyright: ignore[reportUnknownVariableType]
    return {}, (f"{what}: found {said(value)}, expected a mapping of the members of an Enum to their sizes",)


def is_list(value: Any) -> TypeGuard[Iterable[Any]]:
    """Whether the value can stand for a list. A text is none, nor is a member of an enum that is text."""
    return isinstance(value, Iterable) and not isinstance(value, Enum | str | bytes)


def called(value: Any) -> str:
    """A state or an event as a row shows it, whatever stands in its place."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, str):
        return value
    return _written(value) if _is_union(value) else name_of(value)


def said(value: Any) -> str:
    """What was found, in words."""
    kind: Any = value.__class__
    if value is None or kind is bool or isinstance(value, Enum) or _is_union(value):
        return _written(value)
    if isinstance(value, str):
        return f"the text {value[:_SHOWN]!r}" + ("..." if len(value) > _SHOWN else "")
    if isinstance(value, int | float):
        return f"the number {value!r}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if kind in (list, tuple, dict, set, frozenset):
        return f"a {kind.__name__}"
    return f"the function {name_of(value)}" if hasattr(value, "__name__") else f"an instance of {kind.__name__}"


def misshapen(table: Any) -> Iterator[str]:
    """What in a table is not of the kind that belongs there, so that no rule could be tried on it."""
    if not isinstance(table.name, str) or not _FILE_NAME.fullmatch(table.name):
        expected = "letters, digits, '_', '-' and '.', of which the last two do not come first"
        yield f"its name is {said(table.name)}, which cannot be a file's; expected {expected}"
    yield from _no_state(table, "initial", table.initial)
    for number, row in enumerate(table.rows):
        where = f"row {number} ({row})"
        for what, given in (*(("source", source) for source in row.sources), ("target", row.target)):
            yield from _no_state(table, f"{where}: {what}", given)
        yield from (f"{where}: {problem}" for problem in (*one(row.event, EVENT, "event"), *row.wrong))
    for mark in table.marks:
        where = f"{mark.how} ({', '.join(map(called, mark.states))} on {', '.join(map(called, mark.events))})"
        yield from (f"{where}: {problem}" for problem in mark.wrong)
    for held in table.inners:
        yield from (f"inner machine {held.name}: {problem}" for problem in held.wrong)
    for budget, size in table.budgets.items():
        if not isinstance(budget, Enum):
            yield f"budgets: found {said(budget)} as a key, expected a member of an Enum"
        elif not (size is None or callable(size) or (isinstance(size, int) and size.__class__ is not bool)):
            yield f"budget {budget.value}: found {said(size)}, expected an integer, a function of the run, or None"


def _no_state(table: Any, where: str, given: Any) -> Iterator[str]:
    for problem in one(given, STATE, where):
        same = [state for state in table.states if isinstance(given, str) and given in (state.name, state.value)]
        yield f"{problem}: {_written(same[0])}" if same else problem


def _fitting(items: Iterable[Any], kind: Kind) -> tuple[Any, ...]:
    return tuple(item for item in items if kind.fits(item))


def _is_union(value: Any) -> bool:
    return get_origin(value) in (Union, UnionType)


def _written(value: Any) -> str:
    """The value as it stands in a program, as far as that is short."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if _is_union(value):
        return " | ".join(map(_written, get_args(value)))
    return str(value.__name__ if isinstance(value, type) else value)
