"""`evolve` for frozen attrs values, about twice as fast as the library's: one function a class, made at its first use.

A run is copied with changes several times in each step, and the library looks up every field by name each time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs

__all__ = ["evolve"]

_SAME = object()
_MADE: dict[type[Any], Callable[..., Any]] = {}


def _make(cls: type[Any]) -> Callable[..., Any]:
    fields = [field for field in attrs.fields(cls) if field.init]
    # The names that are ours end in an underscore twice: a field may be called `old`, `same` or `cls`.
    takes = ", ".join(f"{field.alias}=same__" for field in fields)
    gives = ", ".join(f"{f.alias}=old__.{f.name} if {f.alias} is same__ else {f.alias}" for f in fields)
    names: dict[str, Any] = {"cls__": cls, "same__": _SAME}
    exec(f"def evolved__(old__, /, {takes}): return cls__({gives})", names)  # names of fields, nothing from outside
    made: Callable[..., Any] = names["evolved__"]
    return made


if TYPE_CHECKING:
    from attrs import evolve  # whose arguments mypy checks
else:

    def evolve(old, /, **changes):
        """The value with these fields changed; TypeError where it has no such field."""
        cls = old.__class__
        made = _MADE.get(cls)
        if made is None:
            made = _MADE[cls] = _make(cls)
        return made(old, **changes)
