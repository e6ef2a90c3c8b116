"""A test sends an event outside the machine's alphabet."""

from correct import HALL, Knock, start

from statecraft.testing import step_one

step_one(HALL, start(), Knock())  # mistake
