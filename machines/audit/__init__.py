"""Recorded runs, judged: the run machine is fed what was recorded, and answers what it would have decided."""

from .judge import Judged, Verdict, judge, policy_for
from .translate import Translated, translate

__all__ = ["Judged", "Translated", "Verdict", "judge", "policy_for", "translate"]
