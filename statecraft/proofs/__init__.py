"""What can be said of a table without running it: its structure, that its runs end, and within how many steps."""

from .edges import NeedsRun
from .facts import Decided, Facts, decide, each
from .laws import NO_FAULT, Law, Taken
from .report import ASSUMED, Proved, Report, prove
from .search import Broken, Explored, Progress, Search, Way, explore
from .skeleton import BrokenShape, Crossing, Skeleton, TooLarge, skeleton
from .structure import Flaw, flaws
from .termination import Bound, FreeCycle, Hop, ends

__all__ = [
    "ASSUMED",
    "NO_FAULT",
    "Bound",
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
    "NeedsRun",
    "Progress",
    "Proved",
    "Report",
    "Search",
    "Skeleton",
    "Taken",
    "TooLarge",
    "Way",
    "decide",
    "each",
    "ends",
    "explore",
    "flaws",
    "prove",
    "skeleton",
]
