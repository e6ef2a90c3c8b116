"""A row asks a guard that takes another event."""

from correct import Door, Push, fits, row

from statecraft import keep

row(Door.SHUT, Push, Door.OPEN, keep, fits)  # mistake
