"""What can be said of a table: its structure, that its runs end and when, and what never happens on the way."""

from .aiming import AIMED, Aimed, Aiming, aim, row_paths
from .asking import CannotAsk
from .bounds import Bounds, BoundsReport, bounds_of
from .edges import NeedsRun
from .facts import Decided, Facts, decide, each
from .laws import NO_FAULT, Law, Taken
from .outside import outside
from .paths import Paths, Stretch, aimed_paths, cover, paths, rows_on, stretches
from .report import ASSUMED, Proved, Report, prove
from .search import Broken, Explored, Near, Progress, RowPath, Search, Way, explore, rows_of
from .skeleton import BrokenShape, Crossing, Skeleton, TooLarge, skeleton
from .structure import Flaw, flaws
from .termination import Bound, FreeCycle, Hop, ends
from .vacuity import Limit, limits

__all__ = [
    "AIMED",
    "ASSUMED",
    "NO_FAULT",
    "Aimed",
    "Aiming",
    "Bound",
    "Bounds",
    "BoundsReport",
    "Broken",
    "BrokenShape",
    "CannotAsk",
    "Crossing",
    "Decided",
    "Explored",
    "Facts",
    "Flaw",
    "FreeCycle",
    "Hop",
    "Law",
    "Limit",
    "Near",
    "NeedsRun",
    "Paths",
    "Progress",
    "Proved",
    "Report",
    "RowPath",
    "Search",
    "Skeleton",
    "Stretch",
    "Taken",
    "TooLarge",
    "Way",
    "aim",
    "aimed_paths",
    "bounds_of",
    "cover",
    "decide",
    "each",
    "ends",
    "explore",
    "flaws",
    "limits",
    "outside",
    "paths",
    "prove",
    "row_paths",
    "rows_of",
    "rows_on",
    "skeleton",
    "stretches",
]
