"""A reading reads a field that the run does not have."""

from correct import Hall, Push

from statecraft import Reading


def tired(run: Hall, event: Push) -> Reading:
    return Reading("tired", run.pushs, 3, 5, 7)  # mistake
