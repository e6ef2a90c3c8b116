"""A row declares a command that is not among the machine's."""

from correct import Door, Push, Shout, row

from statecraft import keep

row(Door.SHUT, Push, Door.OPEN, keep, asks=[Shout])  # mistake
