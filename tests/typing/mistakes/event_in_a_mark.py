"""A mark names an event that nobody has defined."""

from correct import Command, Door, Hall, Push, at, move, row

from statecraft import Table, ignore, keep

TABLE = Table[Hall, Door, Push, Command](
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
        ignore([Door.SHUT], [Winde], "a shut door does not feel the wind"),  # mistake
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
)
