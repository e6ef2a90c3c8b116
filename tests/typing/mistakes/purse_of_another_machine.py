"""A purse of another machine's run."""

from correct import Command, Door, Hall, Oil, Push, at, closer_purse, move, pay, row

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
    budgets={Oil.DROP: 40},
    purse=closer_purse,  # mistake
    pay=pay,
)
