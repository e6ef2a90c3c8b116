"""An event is made with a value of the wrong type."""

from correct import HALL, Push, start

HALL.step(start(), Push("hard"))  # mistake
