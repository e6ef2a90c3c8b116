"""A machine of another library as plain values: what it tries in each cell, in which order, and what has no place here.

Names are those of the machine. A state is a text; where states lie in one another, it is the full name of the one in
which the machine stands. A condition is the number of an `Ask`, since two may have one name.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

Literal = tuple[int, bool]
"""A condition's number, and what it has to answer: True for `conditions`, False for `unless`."""

Cell = tuple[str, str]
"""A trigger, and the state in which it comes."""


class NotPorted(ValueError):
    """What was given is no machine that a table could hold; the message says what was found."""


@attrs.frozen
class Ask:
    """A condition: a short name, and where the function stands, as far as that can be told."""

    name: str
    place: str


@attrs.frozen
class Move:
    """One transition as it is tried in one state. `internal`: the state is neither left nor entered.

    `of` tells transitions apart: one may be tried in several states that lie in its source.
    """

    target: str
    asks: tuple[Literal, ...] = ()
    internal: bool = False
    of: int = attrs.field(default=0, eq=False)


@attrs.frozen
class LeftOut:
    """Something that was not carried over: what, where it stands, and why (empty: a table has no place for it)."""

    what: str
    where: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.what}{f' of {self.where}' if self.where else ''}{f': {self.why}' if self.why else ''}"


@attrs.frozen
class Ported:
    """The machine. A cell that is not in `cells` has no transition; `ignored` are those where that is no error."""

    name: str
    states: tuple[str, ...]
    initial: str
    final: tuple[str, ...]
    triggers: tuple[str, ...]
    asks: tuple[Ask, ...]
    cells: Mapping[Cell, tuple[Move, ...]]
    ignored: frozenset[Cell]
    left_out: tuple[LeftOut, ...]
