"""An answer is read as a step, though it may be a refusal."""

from correct import HALL, Push, start

print(HALL.step(start(), Push(3)).target)  # mistake
