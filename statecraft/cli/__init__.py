"""The verbs that need no agent, and how a command line that is built on them answers."""

from .loading import Machines, load
from .running import BadInput, run
from .texts import add
from .verbs import add_verbs

__all__ = ["BadInput", "Machines", "add", "add_verbs", "load", "run"]
