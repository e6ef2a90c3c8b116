"""The name of a tool as a model wrote it, and the tool that it means.

A name that is wrong in form alone (in case, in `-`, `_`, `.` and spaces, in what stands before the tool's own name, as
in `functions.read_file` or `server__read_file`) is that tool's, where it can be no other's. Any other name is answered
with those that are nearest.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Final

import attrs

from .wire import CallPart, Part

_MARKS: Final = str.maketrans("", "", "-_. \t\n")
_BEFORE: Final = (".", ":", "/", "__")
"""What may stand between the name of a server, or of a module, and the tool's own."""

MOST_READ: Final = 200
"""Characters of a name that are looked at: providers take 64, and a model may send any number."""

NEAREST: Final = 3
"""How many names are shown that are near."""


def meant(name: str, known: Iterable[str]) -> str | None:
    """The tool that a name means: its own, or the one that it is but for its form; None where that is none, or two."""
    names = tuple(known)
    if name in names or len(name) > MOST_READ:
        return name if name in names else None
    for spelled in (name, _alone(name)):
        found = [one for one in names if spelled and _form(one) == _form(spelled)]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def renamed(parts: tuple[Part, ...], known: Iterable[str]) -> tuple[tuple[Part, ...], dict[str, str]]:
    """The parts of a reply with each call under its tool's own name; and by the call's id, what was written instead."""
    names = frozenset(known)
    wrong = [part for part in parts if isinstance(part, CallPart) and part.name not in names]
    found = {part.id: tool for part in wrong if (tool := meant(part.name, sorted(names))) is not None}
    if not found:
        return parts, {}
    return tuple(
        attrs.evolve(part, name=found[part.id]) if isinstance(part, CallPart) and part.id in found else part
        for part in parts
    ), {part.id: part.name for part in wrong if part.id in found}


def nearest(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The names that are near this one, the nearest first."""
    forms = {_form(one): one for one in sorted(known)}
    short = name[:MOST_READ]
    spelled = (_form(short), _form(_alone(short)))
    near = [one for form in spelled for one in difflib.get_close_matches(form, list(forms), NEAREST)]
    return tuple(dict.fromkeys(forms[one] for one in near))[:NEAREST]


def _alone(name: str) -> str:
    """The name without what stands before it."""
    return name[max((at + len(mark) for mark in _BEFORE if (at := name.rfind(mark)) >= 0), default=0) :]


def _form(name: str) -> str:
    return name.translate(_MARKS).casefold()
