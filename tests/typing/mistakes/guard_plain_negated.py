"""A plain function is no guard yet, and has no `~`."""

from correct import Door, Turn, fits, row

from statecraft import keep

row(Door.SHUT, Turn, Door.OPEN, keep, ~fits)  # mistake
