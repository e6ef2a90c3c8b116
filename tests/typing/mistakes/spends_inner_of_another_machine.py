"""A row spends an inner machine of another machine."""

from correct import CLOSER, Closer, Door, Push, Spring, row

from statecraft import inner, keep


def itself(run: Closer, event: Push) -> Closer:
    return run


def stored(run: Closer, event: Push, closer: Closer) -> Closer:
    return closer


WITHIN = inner(CLOSER, during=[Spring.SLACK], get=itself, put=stored)
row(Door.SHUT, Push, Door.OPEN, keep, spends=WITHIN)  # mistake
