"""The alphabet lists an event that the table's annotation does not have; the table is annotated instead of subscripted."""

from correct import Command, Door, Hall, Knock, Push, at, move, row

from statecraft import Table, keep

TABLE: Table[Hall, Door, Push, Command] = Table(  # mistake
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
    ],
    events=[Push, Knock],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
)
