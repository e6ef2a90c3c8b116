"""A field that the run does not have is read after a step."""

from correct import HALL, Push, start

HALL.step(start(), Push(3)).run.neded  # mistake
