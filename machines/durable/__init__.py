"""Hosts whose runs outlive a process and a machine: a keeper over any shelf of journals, and engines that others keep.

The journal is the only truth. An engine says when a run is to be driven, and on which machine; what was asked for,
what came of it and what was in flight stands in the run's own journal, and two who drive one run are kept apart by its
chain. `enlist` puts a run down that is to begin, `Keeper` drives the runs of a shelf; `machines.durable.dbos` and
`machines.durable.temporal` do on many machines, and `machines.durable.virtual` in no time at all, for tests.
"""

from .burst import enlist
from .keeper import Keeper

__all__ = ["Keeper", "enlist"]
