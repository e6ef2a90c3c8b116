"""An event is made with a field that it does not have."""

from correct import HALL, Push, start

HALL.step(start(), Push(strength=3))  # mistake
