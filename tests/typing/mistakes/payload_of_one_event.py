"""A guard of two events reads what only one of them carries."""

from correct import Hall, Push, Wind

from statecraft import Evidence, seen


def strong(run: Hall, event: Push | Wind) -> Evidence:
    return seen("strong", event.force >= run.needed)  # mistake
