"""Guards of two machines are combined."""

from correct import Closer, Door, Push, Spring, row, strong

from statecraft import Evidence, guard, keep, seen


@guard
def taut(run: Closer, event: Push) -> Evidence:
    return seen("taut", run.at is Spring.TENSE)


row(Door.SHUT, Push, Door.OPEN, keep, strong & taut)  # mistake
