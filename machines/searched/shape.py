"""What the rows of a run never lead to, whatever any guard says: laws of its skeleton, and so proved.

Each is one of the laws of a run, as far as the rows alone decide it. What a guard has to be asked for (whether a reply
is a checkpoint, say) is left to the search.
"""

from __future__ import annotations

from typing import Final

from statecraft.proofs import Crossing, Law

from ..commands import Ask, End, RunCalls
from ..events import Cancel
from ..state import ENDINGS, Phase


def _stopping(row: Crossing) -> bool:
    return row.target is Phase.CONCLUDING and row.source is not Phase.CONCLUDING


def stopped_after(stopped: bool, row: Crossing) -> bool:
    """Whether a stop was decided, with this row."""
    return stopped or _stopping(row)


def completes(row: Crossing, stopped: bool) -> str:
    """No row leads from a stop to `completed`."""
    return "a stopped run is completed" if stopped and row.target is Phase.COMPLETED else ""


def asks_once(row: Crossing, stopped: bool) -> str:
    """The row that decides a stop asks for a reply, and no row after it does."""
    if stopped:
        return "a stopped run may ask again" if Ask in row.asks | row.may_ask else ""
    return "a stop asks for no reply" if _stopping(row) and Ask not in row.asks else ""


def runs_none(row: Crossing, stopped: bool) -> str:
    """No row runs calls once a stop is decided, nor does the one that decides it."""
    run = RunCalls in row.asks | row.may_ask
    return "a stopped run may run calls" if run and (stopped or _stopping(row)) else ""


def ends_so(row: Crossing, _: object) -> str:
    """A row that leads to an ending tells its outcome, and no other row does."""
    ends = End in row.asks | row.may_ask
    if row.target in ENDINGS:
        return "" if ends else "an ending without an outcome"
    return "an outcome without an ending" if ends else ""


def cancels(row: Crossing, _: object) -> str:
    """To cancel has one row in every state: nothing is asked or paid, and it leads to the ending."""
    if row.event is not Cancel:
        return ""
    whole = row.table.rows[row.row]
    free = not whole.guards and whole.spends is None and len(row.table.cell(row.source, Cancel)) == 1
    return "" if free and row.target is Phase.CANCELLED else "a run may refuse to be cancelled"


SHAPE: Final[tuple[Law[Crossing], ...]] = (
    Law("a forced stop is never completed", "a limit that was reached is no success", completes, False, stopped_after),
    Law(
        "a stop asks for one reply at most", "a stop has to explain itself, and to end", asks_once, False, stopped_after
    ),
    Law("no tool runs after a stop", "a run that is over changes nothing more", runs_none, False, stopped_after),
    Law("an ending tells its outcome", "nobody can act on an empty ending", ends_so),
    Law("cancel ends a run in one step", "whoever starts a run can end it", cancels),
)
