"""The state is read from another machine's run; the table is annotated instead of subscripted."""

from correct import Command, Door, Hall, Push, closer_at, move, row

from statecraft import Table, keep

TABLE: Table[Hall, Door, Push, Command] = Table(  # mistake
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=closer_at,
    move=move,
)
