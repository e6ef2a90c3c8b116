"""A guard looked at a state, which is no JSON scalar (its name is)."""

from correct import Door, Hall, Turn

from statecraft import Evidence, seen


def shut(run: Hall, event: Turn) -> Evidence:
    return seen("shut", run.at is Door.SHUT, at=run.at)  # mistake
