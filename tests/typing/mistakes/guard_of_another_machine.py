"""A row asks a guard of another machine."""

from correct import Closer, Door, Push, Spring, row

from statecraft import Evidence, keep, seen


def taut(run: Closer, event: Push) -> Evidence:
    return seen("taut", run.at is Spring.TENSE)


row(Door.SHUT, Push, Door.OPEN, keep, taut)  # mistake
