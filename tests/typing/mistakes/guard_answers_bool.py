"""A guard that answers with a bare yes or no."""

from correct import Door, Hall, Push, row

from statecraft import keep


def strong(run: Hall, event: Push) -> bool:
    return event.force >= run.needed


row(Door.SHUT, Push, Door.OPEN, keep, strong)  # mistake
