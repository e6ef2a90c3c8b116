"""A state of another machine in `refuse`."""

from correct import Command, Door, Hall, Push, Spring, at, move, row

from statecraft import Table, keep, refuse

TABLE = Table[Hall, Door, Push, Command](
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
        refuse([Spring.SLACK], [Push], "it is not a door"),  # mistake
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
)
