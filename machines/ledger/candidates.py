"""Which fields of a tool's answers might have to be declared volatile."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from .strip import DEEPEST, strip


def volatile_candidates(a: object, b: object) -> list[str]:
    """The dotted paths, sorted, of the fields in which two otherwise equal answers differ once they are stripped.

    Otherwise equal: the same fields and lengths throughout, each with a value of the same kind, and at least one value
    the same. Empty where they are not, and where nothing differs. `*` stands for every item of a list.
    """
    same: set[str] = set()
    differs: set[str] = set()
    alike = _compare(strip(a), strip(b), "", same, differs, DEEPEST)
    return sorted(differs) if alike and same else []


def _compare(a: object, b: object, path: str, same: set[str], differs: set[str], left: int) -> bool:
    """Whether the two have one shape; the paths of values that are the same, or differ, are added to the sets."""
    kind, other_kind = _kind(a), _kind(b)
    pairs: Iterable[tuple[str, object, object]]
    if left and kind == other_kind == "dict":
        first, second = cast("dict[str, object]", a), cast("dict[str, object]", b)
        alike = first.keys() == second.keys()
        pairs = [(name, item, second.get(name)) for name, item in first.items()]
    elif left and kind == other_kind == "list":
        ones, others = cast("list[object]", a), cast("list[object]", b)
        alike = len(ones) == len(others)
        pairs = [("*", one, other) for one, other in zip(ones, others, strict=False)]
    else:
        equal = kind == other_kind and a == b  # to Python true is 1
        (same if equal else differs).add(path)
        return equal or (kind == other_kind and kind not in ("dict", "list"))
    return alike and all(
        _compare(one, other, f"{path}.{name}" if path else name, same, differs, left - 1) for name, one, other in pairs
    )


def _kind(value: object) -> str:
    name = type(value).__name__
    return "int" if name == "float" else name
