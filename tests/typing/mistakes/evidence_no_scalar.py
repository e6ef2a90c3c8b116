"""A guard looked at a value that is no JSON scalar."""

from correct import Hall, Turn

from statecraft import Evidence, seen


def fits(run: Hall, event: Turn) -> Evidence:
    return seen("fits", event.key == run.key, keys=[event.key, run.key])  # mistake
