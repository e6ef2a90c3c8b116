"""An effect that answers with the run alone."""

from correct import Door, Hall, Push, row


def push(run: Hall, event: Push) -> Hall:
    return run


row(Door.SHUT, Push, Door.OPEN, push)  # mistake
