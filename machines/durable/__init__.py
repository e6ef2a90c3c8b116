"""Hosts whose runs outlive a process and a machine: a keeper over any shelf of journals, and engines that others keep.

The journal is the only truth. An engine says when a run is to be driven, and on which machine; what was asked for,
what came of it and what was in flight stands in the run's own journal, and two who drive one run are kept apart by its
chain.
"""
