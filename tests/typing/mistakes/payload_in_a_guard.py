"""A guard reads what the event does not carry."""

from correct import Hall, Push

from statecraft import Evidence, seen


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.forse >= run.needed)  # mistake
