"""A reading is combined with a guard."""

from correct import Door, Wind, gentle, row, tired

from statecraft import keep

row(Door.OPEN, Wind, Door.GONE, keep, gentle & tired)  # mistake
