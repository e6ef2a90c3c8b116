"""The state is read from another machine's run."""

from correct import Command, Door, Hall, Push, closer_at, move, row

from statecraft import Table, keep

TABLE = Table[Hall, Door, Push, Command](
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=closer_at,  # mistake
    move=move,
)
