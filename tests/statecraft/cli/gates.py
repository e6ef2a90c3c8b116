"""The source of a small machine of a user's own, with laws, for tests that write it as a module."""

GATES = """
from enum import Enum

import attrs

from statecraft import Evidence, Rows, Table, ignore, refuse, seen
from statecraft.proofs import Facts, Law, Search


class At(Enum):
    SHUT = "shut"
    OPEN = "open"
    GONE = "gone"


class Purse(Enum):
    COINS = "coins"


@attrs.frozen
class Coin:
    worth: int = 1


@attrs.frozen
class Push:
    pass


@attrs.frozen
class Remove:
    pass


@attrs.frozen
class Gate:
    at: At = At.SHUT
    paid: int = 0
    coins: int = 4


def enough(run: Gate, event: Coin) -> Evidence:
    return seen("enough", run.paid + event.worth >= PRICE, paid=run.paid)


def pay(run: Gate, event: Coin):
    return attrs.evolve(run, paid=run.paid + event.worth), ()


def through(run: Gate, event: Push):
    return attrs.evolve(run, paid=0), ()


def at(run):
    return run.at


def move(run, state):
    return attrs.evolve(run, at=state)


def purse(run):
    return {Purse.COINS: run.coins}


def spend(run, left):
    return attrs.evolve(run, coins=left[Purse.COINS])


def keep(run, event):
    return run, ()


row = Rows[Gate, At, object]()
PRICE = 2
GATE = Table(
    "gate",
    [
        row(At.SHUT, Coin, At.OPEN, pay, enough, spends=Purse.COINS),
        row(At.SHUT, Coin, At.SHUT, pay, spends=Purse.COINS),
        row(At.OPEN, Push, At.SHUT, through),
        row([At.SHUT, At.OPEN], Remove, At.GONE, keep),
        refuse([At.SHUT], [Push], "it is not paid"),
        ignore([At.OPEN], [Coin], "it is open"),
    ],
    events=[Coin, Push, Remove],
    initial=At.SHUT,
    final=[At.GONE],
    at=at,
    move=move,
    budgets={Purse.COINS: 4},
    purse=purse,
    pay=spend,
)


def moves(run):
    return [Coin(), Push(), Remove()]


def key(run):
    return run


def unpaid(step, paid):
    passed = step.stepped and isinstance(step.event, Push)
    return f"passed for {paid}" if passed and paid < 2 else ""


def paid_after(paid, step):
    if step.stepped and isinstance(step.event, Coin):
        return min(paid + 1, 2)
    return 0 if step.stepped and isinstance(step.event, Push) else paid


def opens(crossing, _):
    return "opened" if crossing.target is At.OPEN and crossing.event is not Coin else ""


PAID = Law("nobody passes for less", "it costs two", unpaid, 0, paid_after)
COIN = Law("a coin opens it", "nothing else is taken", opens)
SEARCHES = [Search(GATE, {"new": Gate()}, moves, key, [PAID], [COIN])]
TABLES = [GATE]
"""
