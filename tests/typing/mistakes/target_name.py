"""A target that the machine does not have."""

from correct import Door, Push, row

from statecraft import keep

row(Door.SHUT, Push, Door.OPNE, keep)  # mistake
