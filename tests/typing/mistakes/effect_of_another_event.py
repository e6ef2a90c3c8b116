"""A row has an effect that takes another event."""

from correct import Door, Ring, Turn, row, swing

row(Door.SHUT, Turn, Door.OPEN, swing, asks=[Ring])  # mistake
