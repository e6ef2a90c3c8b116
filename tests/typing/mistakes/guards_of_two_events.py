"""Guards of two events are combined: no event suits both."""

from correct import Door, Push, fits, row, strong

from statecraft import keep

row(Door.SHUT, Push, Door.OPEN, keep, strong | fits)  # mistake
