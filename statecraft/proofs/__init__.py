"""What can be said of a table without running it: its structure, that its runs end, and within how many steps."""

from .bounds import Bounds, BoundsReport, bounds_of
from .edges import NeedsRun
from .outside import outside
from .report import ASSUMED, Proved, Report, prove
from .structure import Flaw, flaws
from .termination import Bound, FreeCycle, Hop, ends
from .vacuity import Limit, limits

__all__ = [
    "ASSUMED",
    "Bound",
    "Bounds",
    "BoundsReport",
    "Flaw",
    "FreeCycle",
    "Hop",
    "Limit",
    "NeedsRun",
    "Proved",
    "Report",
    "bounds_of",
    "ends",
    "flaws",
    "limits",
    "outside",
    "prove",
]
