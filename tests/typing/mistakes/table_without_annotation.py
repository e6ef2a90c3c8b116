"""A table without an annotation still knows its events."""

from correct import Door, Knock, Push, at, move, row, start

from statecraft import Table, keep

TABLE = Table(
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
)

TABLE.step(start(), Knock())  # mistake
