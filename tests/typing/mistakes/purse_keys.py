"""A purse that is keyed by names, not by budgets."""

from correct import Command, Door, Hall, Oil, Push, at, move, pay, row

from statecraft import Table, keep


def by_name(run: Hall) -> dict[str, int | None]:
    return {"drops": 40}


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
    purse=by_name,  # mistake
    pay=pay,
)
