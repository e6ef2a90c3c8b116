"""A row asks a reading that takes another event."""

from correct import Door, Push, row, tired

from statecraft import Level, keep, reaches

row(Door.SHUT, Push, Door.OPEN, keep, reaches(tired, Level.STOP))  # mistake
