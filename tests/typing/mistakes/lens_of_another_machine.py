"""A table holds an inner machine whose lens looks into another run."""

from correct import CLOSER, Closer, Command, Door, Hall, Push, Spring, at, move, row

from statecraft import Table, inner, keep


def itself(run: Closer, event: Push) -> Closer:
    return run


def stored(run: Closer, event: Push, closer: Closer) -> Closer:
    return closer


WITHIN = inner(CLOSER, during=[Spring.SLACK], get=itself, put=stored)
TABLE = Table[Hall, Door, Push, Command](
    "hall",
    [row(Door.SHUT, Push, Door.OPEN, keep)],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
    inners=[WITHIN],  # mistake
)
