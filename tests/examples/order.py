"""An order of an online shop, from the basket to its last word about money.

The rules:

* What the shop does not sell there is turned down. A large order waits for a person, who is reminded a few times.
* The payment is a machine of its own inside the order: the bank may challenge the customer, and a charge that failed in
  passing is tried again. The order follows its outcome and knows nothing of its ways.
* While money is on its way nothing can be cancelled; while the parcel is, it can be returned later, in time.
* A refund is tried a few times, then a person sees to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import attrs

from statecraft import Evidence, Inner, Rows, Table, ignore, inner, keep, ordered, refuse, seen

from .payment import PAYMENT, Challenged, Charge, Charged, Declined, FromBank, Paying, Payment, Show


class Stage(Enum):
    """The states of an order; the last three are its endings."""

    BASKET = "basket"
    APPROVING = "approving"
    PAYING = "paying"
    PACKING = "packing"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    REFUNDING = "refunding"
    BY_HAND = "by_hand"
    COMPLETED = "completed"
    REFUNDED = "refunded"
    CANCELLED = "cancelled"


class Tries(Enum):
    """What an order may do again, and how often."""

    REMIND = "reminders"
    REFUND = "refunds"


ORDER_TRIES: Mapping[Tries, int] = {Tries.REMIND: 2, Tries.REFUND: 3}
RETURN_DAYS = 30


@attrs.frozen
class Placed:
    """The customer places the order. Total in cents."""

    total: int
    country: str


@attrs.frozen
class Decided:
    """A person has decided what they were asked."""

    by: str
    yes: bool


@attrs.frozen
class TimedOut:
    """The person who was asked has not answered in time."""


@attrs.frozen
class Shipped:
    """The parcel has left."""

    parcel: str


@attrs.frozen
class Delivered:
    """The parcel has come. Days since the order."""

    day: int


@attrs.frozen
class ReturnAsked:
    """The customer wants to return it. Days since the order."""

    day: int


@attrs.frozen
class PeriodOver:
    """It can no longer be returned."""


@attrs.frozen
class Refunded:
    """The customer has the money back."""


@attrs.frozen
class RefundFailed:
    """The bank did not pay back."""

    code: str


@attrs.frozen
class Cancelled:
    """The customer does not want it after all."""


@attrs.frozen
class AskPerson:
    """Ask somebody of the shop."""

    what: str


@attrs.frozen
class Pack:
    """Have it packed."""


@attrs.frozen
class Refund:
    """Have the bank pay back. Cents."""

    total: int


@attrs.frozen
class Tell:
    """Tell the customer."""

    what: str


Event = (
    Placed
    | Decided
    | TimedOut
    | FromBank
    | Shipped
    | Delivered
    | ReturnAsked
    | PeriodOver
    | Refunded
    | RefundFailed
    | Cancelled
)
Command = AskPerson | Charge | Show | Pack | Refund | Tell


@attrs.frozen
class Order:
    """One order. Total in cents, limit of what needs no approval too; `day`: when it was delivered."""

    at: Stage = Stage.BASKET
    total: int = 0
    limit: int = 100_000
    sold_in: frozenset[str] = frozenset({"AT", "DE"})
    tries: Mapping[Tries, int | None] = ORDER_TRIES
    payment: Payment | None = None
    parcel: str = ""
    day: int = 0


def not_sold_there(run: Order, event: Placed) -> Evidence:
    return seen("not_sold_there", event.country not in run.sold_in, country=event.country)


def large(run: Order, event: Placed) -> Evidence:
    return seen("large", event.total > run.limit, total=event.total, limit=run.limit)


def agreed(run: Order, event: Decided) -> Evidence:
    return seen("agreed", event.yes, by=event.by, yes=event.yes)


def paid(run: Order, event: Charged) -> Evidence:
    at = None if run.payment is None else run.payment.at.value
    return seen("paid", at == Paying.PAID.value, payment=at)


def in_time(run: Order, event: ReturnAsked) -> Evidence:
    days = event.day - run.day
    return seen("in_time", days <= RETURN_DAYS, days=days, at_most=RETURN_DAYS)


Done = tuple[Order, Sequence[Command]]


def turn_down(run: Order, event: Placed) -> Done:
    return attrs.evolve(run, total=event.total), [Tell("not sold there")]


def hold(run: Order, event: Placed) -> Done:
    return attrs.evolve(run, total=event.total), [AskPerson("is this order right?")]


def remind(run: Order, event: TimedOut) -> Done:
    return run, [AskPerson("is this order right? (asked again)")]


def charge_at_once(run: Order, event: Placed) -> Done:
    return attrs.evolve(run, total=event.total, payment=Payment(event.total)), [Charge(event.total)]


def charge(run: Order, event: Decided) -> Done:
    return attrs.evolve(run, payment=Payment(run.total)), [Charge(run.total)]


def pack(run: Order, event: Charged) -> Done:
    return run, [Pack()]


def call_off(run: Order, event: Decided | TimedOut | Declined) -> Done:
    return run, [Tell("the order is cancelled")]


def send_off(run: Order, event: Shipped) -> Done:
    return attrs.evolve(run, parcel=event.parcel), [Tell("the parcel has left")]


def note_day(run: Order, event: Delivered) -> tuple[Order, tuple[()]]:
    return attrs.evolve(run, day=event.day), ()


def refund(run: Order, event: Cancelled | ReturnAsked | RefundFailed) -> Done:
    return run, [Refund(run.total)]


def ask_by_hand(run: Order, event: RefundFailed) -> Done:
    return run, [AskPerson(f"the bank does not pay back ({event.code})")]


def tell_refunded(run: Order, event: Refunded | Decided) -> Done:
    return run, [Tell("the money is back")]


def order_at(run: Order) -> Stage:
    return run.at


def move_order(run: Order, state: Stage) -> Order:
    return attrs.evolve(run, at=state)


def order_tries(run: Order) -> Mapping[Tries, int | None]:
    return run.tries


def pay_order(run: Order, left: Mapping[Tries, int | None]) -> Order:
    return attrs.evolve(run, tries=left)


def the_payment(run: Order, event: FromBank) -> Payment | None:
    return run.payment


def with_payment(run: Order, event: FromBank, payment: Payment) -> Order:
    return attrs.evolve(run, payment=payment)


S = Stage
PAY: Inner[Order, Stage, Command] = inner(PAYMENT, during=[S.PAYING], get=the_payment, put=with_payment)
row = Rows[Order, Stage, Command]()


def but(*states: Stage) -> list[Stage]:
    """The open states but these."""
    ended = (S.COMPLETED, S.REFUNDED, S.CANCELLED)
    return [state for state in S if state not in (*states, *ended)]


ORDER: Table[Order, Stage, Event, Command] = Table(
    "order",
    [
        row(S.BASKET, Placed, S.CANCELLED, turn_down, not_sold_there, asks=[Tell]),
        row(S.BASKET, Placed, S.APPROVING, hold, large, asks=[AskPerson]),
        row(S.BASKET, Placed, S.PAYING, charge_at_once, asks=[Charge], refills=[PAY]),
        row(S.APPROVING, Decided, S.PAYING, charge, agreed, asks=[Charge], refills=[PAY]),
        row(S.APPROVING, Decided, S.CANCELLED, call_off, asks=[Tell]),
        row(S.APPROVING, TimedOut, S.APPROVING, remind, asks=[AskPerson], spends=Tries.REMIND),
        row(S.APPROVING, TimedOut, S.CANCELLED, call_off, asks=[Tell]),
        row(S.PAYING, Charged, S.PACKING, pack, paid, asks=[Pack]),
        row(S.PAYING, Challenged, S.PAYING, keep, spends=PAY),
        row(S.PAYING, Declined, S.PAYING, keep, spends=PAY),
        row(S.PAYING, Declined, S.CANCELLED, call_off, asks=[Tell]),
        row(S.PACKING, Shipped, S.SHIPPED, send_off, asks=[Tell]),
        row(S.SHIPPED, Delivered, S.DELIVERED, note_day),
        row(S.DELIVERED, PeriodOver, S.COMPLETED, keep),
        row(S.DELIVERED, ReturnAsked, S.REFUNDING, refund, in_time, asks=[Refund]),
        row(S.PACKING, Cancelled, S.REFUNDING, refund, asks=[Refund]),
        row([S.BASKET, S.APPROVING], Cancelled, S.CANCELLED, keep),
        row(S.REFUNDING, Refunded, S.REFUNDED, tell_refunded, asks=[Tell]),
        row(S.REFUNDING, RefundFailed, S.REFUNDING, refund, asks=[Refund], spends=Tries.REFUND),
        row(S.REFUNDING, RefundFailed, S.BY_HAND, ask_by_hand, asks=[AskPerson]),
        row(S.BY_HAND, Decided, S.REFUNDED, tell_refunded, agreed, asks=[Tell]),
        ordered([S.BASKET], [Placed], "what is not sold there needs nobody's approval"),
        refuse(but(S.BASKET), [Placed], "an order is placed once"),
        refuse(but(S.APPROVING, S.BY_HAND), [Decided], "nobody was asked"),
        refuse([S.PAYING], [Cancelled], "the money is on its way"),
        refuse([S.SHIPPED, S.DELIVERED], [Cancelled], "the parcel is on its way: ask to return it"),
        refuse([S.REFUNDING, S.BY_HAND], [Cancelled], "the order is cancelled, and the money not back yet"),
        refuse([S.BASKET, S.APPROVING], [Charged, Challenged, Declined], "nothing was charged"),
        refuse(but(S.PACKING), [Shipped], "nothing is packed"),
        refuse(but(S.SHIPPED), [Delivered], "nothing is on its way"),
        refuse(but(S.DELIVERED), [ReturnAsked], "nothing has come that could be returned"),
        refuse(but(S.REFUNDING), [Refunded, RefundFailed], "nothing is being paid back"),
        ignore(but(S.APPROVING), [TimedOut], "a clock that was set for an answer that has come"),
        ignore(but(S.DELIVERED), [PeriodOver], "a clock that was set for a parcel that is going back, or never came"),
        ignore(but(S.BASKET, S.APPROVING, S.PAYING), [Charged, Challenged, Declined], "banks send things twice"),
    ],
    events=[
        Placed,
        Decided,
        TimedOut,
        Charged,
        Challenged,
        Declined,
        Shipped,
        Delivered,
        ReturnAsked,
        PeriodOver,
        Refunded,
        RefundFailed,
        Cancelled,
    ],
    initial=S.BASKET,
    final=[S.COMPLETED, S.REFUNDED, S.CANCELLED],
    at=order_at,
    move=move_order,
    budgets=ORDER_TRIES,
    purse=order_tries,
    pay=pay_order,
    inners=[PAY],
)
