"""An effect asks for a command that is not among the machine's."""

from correct import Door, Hall, Push, Shout, row


def shout(run: Hall, event: Push) -> tuple[Hall, tuple[Shout, ...]]:
    return run, (Shout(),)


row(Door.SHUT, Push, Door.OPEN, shout)  # mistake
