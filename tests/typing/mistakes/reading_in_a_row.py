"""A reading stands in a row where a guard is wanted."""

from correct import Door, Wind, row, tired

from statecraft import keep

row(Door.OPEN, Wind, Door.GONE, keep, tired)  # mistake
