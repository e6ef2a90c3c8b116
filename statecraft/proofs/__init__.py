"""What can be said of a table: its structure, that its runs end and when, and what never happens on the way."""

from .bounds import Bounds, BoundsReport, bounds_of
from .edges import NeedsRun
from .facts import Decided, Facts, decide, each
from .laws import NO_FAULT, Law, Taken
from .outside import outside
from .report import ASSUMED, Proved, Report, prove
from .search import Broken, Explored, Progress, Search, Way, explore
from .skeleton import BrokenShape, Crossing, Skeleton, TooLarge, skeleton
from .structure import Flaw, flaws
from .termination import Bound, FreeCycle, Hop, ends
from .vacuity import Limit, limits

__all__ = [
    "ASSUMED",
    "NO_FAULT",
    "Bound",
    "Bounds",
    "BoundsReport",
    "Broken",
    "BrokenShape",
    "Crossing",
    "Decided",
    "Explored",
    "Facts",
    "Flaw",
    "FreeCycle",
    "Hop",
    "Law",
    "Limit",
    "NeedsRun",
    "Progress",
    "Proved",
    "Report",
    "Search",
    "Skeleton",
    "Taken",
    "TooLarge",
    "Way",
    "bounds_of",
    "decide",
    "each",
    "ends",
    "explore",
    "flaws",
    "limits",
    "outside",
    "prove",
    "skeleton",
]
