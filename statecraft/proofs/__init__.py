"""What can be said of a table without running it: its structure, that its runs end, and within how many steps."""

from .edges import NeedsRun
from .report import ASSUMED, Proved, Report, prove
from .structure import Flaw, flaws
from .termination import Bound, FreeCycle, Hop, ends

__all__ = [
    "ASSUMED",
    "Bound",
    "Flaw",
    "FreeCycle",
    "Hop",
    "NeedsRun",
    "Proved",
    "Report",
    "ends",
    "flaws",
    "prove",
]
