"""A function that pays and forgets to answer with the run."""

from collections.abc import Mapping

import attrs
from correct import Command, Door, Hall, Oil, Push, at, move, purse, row

from statecraft import Table, keep


def forgets(run: Hall, left: Mapping[Oil, int | None]) -> None:
    attrs.evolve(run, oil=left)


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
    purse=purse,
    pay=forgets,  # mistake
)
