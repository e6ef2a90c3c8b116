"""Names of another library's machine as names of a Python module: each an identifier, and no two alike."""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata

# What the written module uses itself, and what a field or a function of it may not be called.
TAKEN = frozenset(
    {
        *dir(builtins),
        *keyword.kwlist,
        *keyword.softkwlist,
        *("Enum", "Event", "Evidence", "Never", "Rows", "Run", "S", "State", "Table", "annotations", "at", "attrs"),
        *("event", "guard", "ignore", "keep", "move", "ordered", "refuse", "row", "run", "seen", "self"),
    }
)


class Names:
    """Gives out names: the wanted one, or with a number at its end where it is taken."""

    def __init__(self, taken: frozenset[str] = TAKEN) -> None:
        self._taken = set(taken)

    def give(self, wanted: str) -> str:
        """A name that was not given out before."""
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name


def upper(text: str) -> str:
    """As a member of an enum or a constant: `changes requested` is CHANGES_REQUESTED."""
    return _identifier(text, "STATE").upper()


def lower(text: str) -> str:
    """As a function or a field: `<lambda>` is `lambda_`, since the plain word is one of the language."""
    name = _identifier(text, "condition").lower()
    return f"{name}_" if keyword.iskeyword(name) else name


def camel(text: str) -> str:
    """As a class: `next_state` is NextState."""
    return "".join(word[:1].upper() + word[1:] for word in _identifier(text, "trigger").split("_"))


def file_name(text: str) -> str:
    """As a table is called: what a file may be."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", text).lstrip(".-") or "machine"


def _identifier(text: str, otherwise: str) -> str:
    """The text with what no identifier may hold as an underscore; none at its ends, where it means something."""
    plain = unicodedata.normalize("NFKC", text)
    kept = "".join(sign if f"_{sign}".isidentifier() else "_" for sign in plain).strip("_") or otherwise
    return kept if kept.isidentifier() else f"{otherwise}_{kept}"
