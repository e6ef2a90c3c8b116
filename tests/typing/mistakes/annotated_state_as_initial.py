"""The machine begins in a state of another machine; the table is annotated instead of subscripted."""

from correct import Command, Door, Hall, Push, Spring, at, move, row

from statecraft import Table, keep

TABLE: Table[Hall, Door, Push, Command] = Table(  # mistake
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
    ],
    events=[Push],
    initial=Spring.SLACK,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
)
