"""A row of another machine in the table."""

from correct import Command, Door, Hall, Push, Spring, at, move, row, spring

from statecraft import Table, keep

TABLE = Table[Hall, Door, Push, Command](
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
        spring(Spring.TENSE, Push, Spring.SLACK, keep),  # mistake
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
)
