"""A row names one event, not the kind of event."""

from correct import Door, Push, row

from statecraft import keep

row(Door.SHUT, Push(3), Door.OPEN, keep)  # mistake
