"""The verbs that need no agent, and how a command line built on them answers: 0, 1 (an asked-for finding), 2 (bad input)."""

from .loading import Machines, load
from .running import BadInput, run
from .verbs import add_verbs

__all__ = ["BadInput", "Machines", "add_verbs", "load", "run"]
