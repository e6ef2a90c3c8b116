"""What is wrong with data that was read: where it stands, what was found there, and what was expected."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs

from .hooks import REAL

SHOWN = 60  # characters of a value in a message
LISTED = 5  # problems in one message; `BadData.problems` has all

_SAID: dict[Any, str] = {
    str: "text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    None: "null",
    NoneType: "null",
    bytes: "bytes in hex",
    Any: "JSON",
    object: "JSON",
}


@attrs.frozen
class Problem:
    """One thing wrong: `path` leads into the data from `$`, its top."""

    path: str
    found: str
    expected: str

    def __str__(self) -> str:
        return f"{self.path}: found {self.found}, expected {self.expected}"

    def under(self, step: str) -> Problem:
        """The same problem, seen from one level further out."""
        return Problem(f"${step}{self.path[1:]}", self.found, self.expected)


class BadData(ValueError):
    """Data that is not what was asked for. `problems` has one entry for each thing wrong."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        more = len(self.problems) - LISTED
        rest = f"; and {more} more" if more > 0 else ""
        super().__init__("; ".join(map(str, self.problems[:LISTED])) + rest)

    def under(self, step: str) -> tuple[Problem, ...]:
        """The problems, seen from one level further out."""
        return tuple(problem.under(step) for problem in self.problems)


def bad(value: object, expected: str) -> BadData:
    """The error that `value` stands where `expected` should."""
    return BadData([Problem("$", shown(value), expected)])


def shown(value: object) -> str:
    """A value as a message shows it: in short, with its type where that is not plain to see."""
    match value:
        case None | True | False:
            return json.dumps(value)
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            text = json.dumps(value[:SHOWN], ensure_ascii=False)
            return f"the text {text}" + ("..." if len(value) > SHOWN else "")
        case int() | float():
            digits = repr(value) if not isinstance(value, int) or value.bit_length() < 200 else "a very large integer"
            return f"the number {digits}"
        case _:
            return f"a {type(value).__name__}"


def said(kind: Any) -> str:
    """What a type expects, in words."""
    if kind in _SAID:
        return _SAID[kind]
    origin = get_origin(kind)
    if origin is Literal:
        return one_of(get_args(kind))
    if origin in (Union, UnionType):
        return " or ".join(map(said, get_args(kind)))
    bare = REAL.get(origin or kind, origin or kind)
    if not isinstance(bare, type):
        return str(kind)
    if issubclass(bare, Enum):
        return f"a {bare.__name__}"
    if attrs.has(bare):
        return f"an object ({bare.__name__})"
    if issubclass(bare, Mapping):
        return "an object"
    return "a list" if issubclass(bare, Sequence | Set) else bare.__name__


def one_of(names: Iterable[object]) -> str:
    """A choice in words."""
    listed = [str(name) for name in names]
    return f"one of {', '.join(listed)}" if len(listed) > 1 else "".join(listed) or "nothing"


def nearest(name: str, names: Iterable[str]) -> str:
    """The choice in words, and which of it is most like `name`."""
    listed = list(names)
    like = difflib.get_close_matches(name, listed, n=1)
    return one_of(listed) + (f" (did you mean {like[0]}?)" if like else "")


def step_to(key: object) -> str:
    """The piece of a path that leads to a list's index, a field or a key."""
    if isinstance(key, int):
        return f"[{key}]"
    text = str(key)
    return f".{text}" if text.isidentifier() else f"[{json.dumps(text, ensure_ascii=False)}]"
