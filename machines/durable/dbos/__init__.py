"""Runs carried by DBOS: any number of workers on one database share the runs of one shelf.

DBOS holds one row for each burst that is to come: the name of the run, and a wake. It sees to it that a run has one
burst at a time, that a burst waits for its time with no process there for it, and that a queue is shared out among
the workers. What a run says and does is in the shelf alone.
"""

from __future__ import annotations

from importlib import import_module

try:
    import_module("dbos")
except ImportError as error:
    raise ImportError("runs on DBOS need the package dbos: pip install 'statecraft-machines[dbos]'") from error

from .runs import Dbos
from .worker import Pace

__all__ = ["Dbos", "Pace"]
