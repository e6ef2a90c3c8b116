"""A negated guard that takes another event."""

from correct import Door, Push, fits, row

from statecraft import guard, keep

row(Door.SHUT, Push, Door.OPEN, keep, ~guard(fits))  # mistake
