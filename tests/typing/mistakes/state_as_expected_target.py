"""A test expects a state of another machine as the target."""

from correct import HALL, Push, Spring, start

from statecraft.testing import step_one

step_one(HALL, start(), Push(3), target=Spring.TENSE)  # mistake
