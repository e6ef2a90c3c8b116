"""A row leaves a state of another machine."""

from correct import Door, Push, Spring, row

from statecraft import keep

row(Spring.SLACK, Push, Door.OPEN, keep)  # mistake
