"""A row has an effect of another machine."""

from correct import Door, Push, Squeak, row, wind_up

row(Door.SHUT, Push, Door.OPEN, wind_up, asks=[Squeak])  # mistake
