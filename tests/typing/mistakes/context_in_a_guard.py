"""A guard reads a field that the run does not have."""

from correct import Hall, Push

from statecraft import Evidence, seen


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.force >= run.neded)  # mistake
