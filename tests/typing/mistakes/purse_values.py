"""A purse whose budgets are texts."""

from correct import Command, Door, Hall, Oil, Push, at, move, pay, row

from statecraft import Table, keep


def in_words(run: Hall) -> dict[Oil, str]:
    return {Oil.DROP: "forty"}


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
    purse=in_words,  # mistake
    pay=pay,
)
