"""A row spends a number instead of a budget."""

from correct import Door, Push, row

from statecraft import keep

row(Door.SHUT, Push, Door.OPEN, keep, spends=1)  # mistake
