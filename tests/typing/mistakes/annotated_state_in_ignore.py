"""A state of another machine in `ignore`; the table is annotated instead of subscripted."""

from correct import Command, Door, Hall, Push, Spring, at, move, row

from statecraft import Table, ignore, keep

TABLE: Table[Hall, Door, Push, Command] = Table(  # mistake
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep),
        ignore([Spring.SLACK], [Push], "it is not a door"),
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
)
