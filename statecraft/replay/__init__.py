"""Recorded runs, stepped again: replay, explain, and decide again under another policy.

`replay` compares what was recorded with what the table answers now; `explain` says why a row fired and why no other;
`decide_again` shows where another policy would have parted from the record. `told` makes text of what they answer.
"""

from .again import Decided, Ending, Parting, Side, decide_again
from .compare import Difference, Replayed, replay
from .explain import Explanation, explain, explained
from .heard import Heard, RowHeard
from .recorded import Migrate, TableChanged, changed, unreadable
from .standing import Standing, standing
from .told import told
from .walk import Walked, walk

__all__ = [
    "Decided",
    "Difference",
    "Ending",
    "Explanation",
    "Heard",
    "Migrate",
    "Parting",
    "Replayed",
    "RowHeard",
    "Side",
    "Standing",
    "TableChanged",
    "Walked",
    "changed",
    "decide_again",
    "explain",
    "explained",
    "replay",
    "standing",
    "told",
    "unreadable",
    "walk",
]
