"""A budget whose size is a text."""

from correct import Command, Door, Hall, Oil, Push, at, move, pay, purse, row

from statecraft import Table, keep

TABLE = Table[Hall, Door, Push, Command](
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, keep, spends=Oil.DROP),
        row(Door.SHUT, Push, Door.GONE, keep),
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[Door.OPEN, Door.LOCKED, Door.GONE],
    at=at,
    move=move,
    budgets={Oil.DROP: "forty"},  # mistake
    purse=purse,
    pay=pay,
)
