"""What goes wrong when a user's own functions are asked: which of them, of what, and what it did.

The functions of a search and of a law have no effects, so that the one that raised is found by asking them all again;
the walk itself looks for nothing while all goes well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from .laws import Law, Taken

if TYPE_CHECKING:
    from .search import Search

T = TypeVar("T")

MOVES = 65_536
"""Moves of one run that a search can tell apart."""

SHOWN = 240
"""Characters of a run or an event that a message shows: enough to know it by."""


class CannotAsk(Exception):
    """A search, a table of facts or a law that cannot be asked: where, which function, of what, and what it did."""


def asked(what: str, ask: Callable[..., T], *of: Any) -> T:
    """The answer. Raises `CannotAsk` where there is none, with what was asked of which values."""
    try:
        return ask(*of)
    except Exception as error:
        given = f", asked of {' and '.join(map(short, of))}," if of else ""
        raise CannotAsk(f"{what}{given} raised {type(error).__name__}: {error}") from error


def short(value: object) -> str:
    """The value for a message, cut where it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def told_apart(where: str, laws: Sequence[Law[Any]]) -> None:
    """Refuse two laws of one name, under which what they find is kept."""
    names = [law.name for law in laws]
    for name in names:
        if names.count(name) > 1:
            raise CannotAsk(f"{where}: two laws are called {name!r}, expected a name for each")


def ready(where: str, search: Search[Any, Any], start: Any, laws: Sequence[Law[Any]]) -> None:
    """Refuse a search that cannot begin here. A `play` of its own may step what is more than a run of the table."""
    table = search.table
    told_apart(where, laws)
    if search.play is None:
        state = asked(f"{where}: at of the table {table.name}", table.at, start)
        if state not in table.states:
            raise CannotAsk(f"{where}: found a start in {state!r}, expected one in a state of {table.name}")
    for law in laws:
        asked(f"{where}: the hash of the start of the law {law.name!r}", hash, law.start)
    asked(f"{where}: the hash of the key of the start", hash, asked(f"{where}: key", search.key, start))


def blamed(
    where: str,
    search: Search[Any, Any],
    laws: Sequence[Law[Any]],
    run: Any,
    memory: Sequence[Any],
    error: Exception,
) -> CannotAsk:
    """Who raised the error on the way from this run on."""

    def _first(of: Any) -> list[Any]:
        return list(islice(search.moves(of), MOVES + 1))

    try:
        moves = asked(f"{where}: moves", _first, run)
        if len(moves) > MOVES:
            return CannotAsk(f"{where}: moves, asked of {short(run)}, answers more than {MOVES} events")
        for event in moves:
            _again(where, search, laws, run, event, memory)
    except CannotAsk as found:
        return found
    said = f"{type(error).__name__}: {error}"
    return CannotAsk(f"{where}: a function raised {said}, and not when asked again; expected functions without effects")


def _again(
    where: str, search: Search[Any, Any], laws: Sequence[Law[Any]], run: Any, event: Any, memory: Sequence[Any]
) -> None:
    steps: Sequence[Any] = asked(f"{where}: play", search.steps, run, event)
    for step in steps:
        if not isinstance(step, Taken):
            raise CannotAsk(
                f"{where}: play, asked of {short(run)} and {short(event)}, answers {short(step)} for a Taken"
            )
    for law, known in zip(laws, memory, strict=True):
        for step in steps:
            asked(f"{where}: broken of the law {law.name!r}", law.broken, step, known)
            if law.remember is not None:
                known = asked(f"{where}: remember of the law {law.name!r}", law.remember, known, step)
                asked(f"{where}: the hash of what the law {law.name!r} remembers", hash, known)
    after = steps[-1].after if steps else run
    asked(f"{where}: the hash of the key", hash, asked(f"{where}: key", search.key, after))
