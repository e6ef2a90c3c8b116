"""Runs carried by a Temporal server: it says when and where a burst runs, and is nudged when there is mail.

Temporal is told a run's name, when it goes on and how it ended, and nothing else. Two workers may be given one run,
where the first was silent for too long: the journal's chain lets one of them write. A server that has lost all it knew
is told again by `enlist`.
"""

from __future__ import annotations

from importlib.util import find_spec

if find_spec("temporalio") is None:
    raise ImportError("runs on Temporal need the package temporalio: pip install 'statecraft-machines[temporal]'")

from .runs import Temporal

__all__ = ["Temporal"]
