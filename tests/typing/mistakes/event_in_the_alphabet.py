"""The alphabet lists an event that the table's annotation does not have."""

from correct import Command, Door, Hall, Knock, Push, at, move, row

from statecraft import Table, keep

TABLE = Table[Hall, Door, Push, Command](
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
    ],
    events=[Push, Knock],  # mistake
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
)
