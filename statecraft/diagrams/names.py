"""Names as text that both languages can carry: shown without control characters, and as plain identifiers.

A state's name is any string, so what identifies it in a diagram is made here from ASCII letters, digits and `_`, kept
equal to the name where that is possible.
"""

from __future__ import annotations

import re

# Words that Mermaid's or DOT's grammar takes for itself, in either case, where an identifier may stand.
RESERVED = frozenset(
    (
        *("accdescr", "acctitle", "as", "class", "classdef", "click", "default", "digraph", "direction", "edge", "end"),
        *("graph", "hide", "href", "node", "note", "root", "scale", "state", "statediagram", "strict", "style"),
        "subgraph",
    )
)
# Mermaid names the dots that `[*]` stands for `start1`, `end1` at the top and `BOX_start`, `BOX_end` in a box.
DOT_LIKE = re.compile(r"(.*_)?(start|end)\d*$|divider.*", re.IGNORECASE)


def shown(text: str) -> str:
    """The text with everything that does not print (line ends, controls, lone surrogates) as a Python escape."""
    clear = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
    return clear if clear.strip() else f"'{clear}'"


class Identifiers:
    """Hands out identifiers, each once; the same names in the same order get the same ones."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def take(self, name: str) -> str:
        """An identifier that looks like the name and is nobody else's, whatever its case."""
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        wanted = plain if plain[:1].isalpha() else f"s_{plain}"
        if wanted.lower() in RESERVED or DOT_LIKE.match(wanted):
            wanted += "_s"
        free, count = wanted, 1
        while free.lower() in self._used:
            count += 1
            free = f"{wanted}_{count}"
        self._used.add(free.lower())
        return free
