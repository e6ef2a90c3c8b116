"""A row declares one command, not the kind of command."""

from correct import Door, Push, Ring, row

from statecraft import keep

row(Door.SHUT, Push, Door.OPEN, keep, asks=[Ring(1)])  # mistake
