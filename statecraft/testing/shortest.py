"""A walk that fails, without the events that it fails without.

hypothesis shortens what was drawn. How an event is drawn depends on where the run stands, so with one left out those
that follow may be drawn as others, and it can end far from the shortest walk. A table is pure, so the events can be
played again with some left out: first half of them, then ever fewer, until none can be spared alone. So no event can
be left out of what remains; that no shorter walk of other events exists is not said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..heard import AnyTable
from .holding import Flaw, first_flaw


def without_needless(table: AnyTable, run: Any, events: Sequence[Any], flaw: Flaw) -> tuple[tuple[Any, ...], Flaw]:
    """The events that are left of those that lead from the run to the flaw, and the flaw as it then is.

    All of them where they do not lead there again, as with a guard that answers otherwise each time.
    """
    laws = () if flaw.law is None else (flaw.law,)

    def tried(some: Sequence[Any]) -> tuple[tuple[Any, ...], Flaw] | None:
        found = first_flaw(table, run, some, laws)
        return found if found is not None and found[1].like(flaw) else None

    best = tried(events)
    if best is None:
        return tuple(events), flaw
    size = max(1, len(best[0]) // 2)
    while True:
        shorter = False
        at = len(best[0]) - size
        while at > -size:
            left = best[0][: max(at, 0)] + best[0][at + size :]
            found = tried(left)
            if found is not None:
                best, shorter = found, True
                at = min(at, len(best[0]))
            at -= size
        if size == 1 and not shorter:
            return best
        size = size if shorter and size == 1 else max(1, size // 2)
