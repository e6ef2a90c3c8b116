"""Source text in lines that fit: what does not fit on one is broken after its bracket, one item a line.

As Black and Ruff break it, so that a script which is pasted into a test needs no more work.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

WIDTH = 120
INDENT = "    "


@attrs.frozen
class Bracket:
    """An expression with items between `start` and `end`; each item has a prefix (`name=`, `key: `), often none."""

    start: str
    items: tuple[tuple[str, Node], ...]
    end: str

    @property
    def lone(self) -> bool:
        """It is a tuple of one, which needs its comma."""
        return self.start == "(" and len(self.items) == 1


Node = str | Bracket


def bracket(start: str, items: Iterable[Node], end: str) -> Bracket:
    """One whose items have no prefix."""
    return Bracket(start, tuple(("", item) for item in items), end)


def on_one_line(node: Node) -> str:
    """The expression on one line, however long."""
    if isinstance(node, str):
        return node
    items = ", ".join(prefix + on_one_line(item) for prefix, item in node.items)
    return f"{node.start}{items}{',' if node.lone else ''}{node.end}"


def laid_out(node: Node, before: str = "", after: str = "", depth: int = 0) -> list[str]:
    """The lines of `before`, the expression and `after`, set in by `depth`."""
    indent = INDENT * depth
    alone = f"{indent}{before}{on_one_line(node)}{after}"
    if isinstance(node, str) or not node.items or len(alone) <= WIDTH:
        return [alone]
    lines = [f"{indent}{before}{node.start}"]
    for prefix, item in node.items:
        lines += laid_out(item, prefix, ",", depth + 1)
    return [*lines, f"{indent}{node.end}{after}"]
