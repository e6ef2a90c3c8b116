"""A row reaches a state of another machine."""

from correct import Door, Push, Spring, row

from statecraft import keep

row(Door.SHUT, Push, Spring.TENSE, keep)  # mistake
