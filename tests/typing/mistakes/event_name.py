"""An event that nobody has defined."""

from correct import Door, row

from statecraft import keep

row(Door.SHUT, Pusch, Door.OPEN, keep)  # mistake
