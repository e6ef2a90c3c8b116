"""Which fields of a tool's answers might have to be declared volatile."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final, cast

from .strip import DEEPEST, strip

MOST: Final = 256
"""Calls whose last answer is held; the newest of them."""

ENOUGH: Final = 3
"""Answers to one call that have to be equal but for a field before the field is named."""


NEVER: Final = 0
"""Stands for the count of a call whose answer came again as it was."""


class Candidates:
    """Watches the answers to equal calls for fields that change with every one of them while the rest stays.

    A tool with such a field looks as if it said something new each time. Who owns it may declare the field volatile.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[bytes, tuple[str, object, frozenset[str], int]] = OrderedDict()
        self._found: set[str] = set()

    def see(self, tool: str, call: bytes, value: object) -> None:
        """One more answer to the call with this signature."""
        before = self._seen.pop(call, None)
        changed, answers = frozenset[str](), 1
        if before is not None:
            now = frozenset(volatile_candidates(before[1], value))
            changed = now if before[3] == 1 else now & before[2]
            answers = before[3] + 1 if changed else 1
            if before[3] == NEVER or strip(before[1]) == strip(value):
                changed, answers = frozenset[str](), NEVER  # it does not change with every one of them
        self._seen[call] = (tool, value, changed, answers)
        if answers >= ENOUGH:
            self._found |= {f"{tool}.{field}" for field in changed}
        if len(self._seen) > MOST:
            self._seen.popitem(last=False)

    def found(self) -> tuple[str, ...]:
        """The fields, each with its tool before it, sorted."""
        return tuple(sorted(self._found))


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
