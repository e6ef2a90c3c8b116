"""One payment: the bank charges, or wants to see the customer first, or declines, for good or in passing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import attrs

from statecraft import Evidence, Rows, Table, keep, refuse, seen


class Paying(Enum):
    """The states of a payment; the last two are its endings."""

    CHARGING = "charging"
    CHALLENGED = "challenged"
    PAID = "paid"
    FAILED = "failed"


class Charges(Enum):
    """What a payment may do again, and how often."""

    CHARGE = "charges"


PAYMENT_TRIES: Mapping[Charges, int] = {Charges.CHARGE: 2}


@attrs.frozen
class Charged:
    """The bank has the money."""

    reference: str


@attrs.frozen
class Challenged:
    """The bank wants to see the customer first."""

    url: str


@attrs.frozen
class Declined:
    """The bank did not charge; `passing`: it may if asked again."""

    code: str
    passing: bool = False


@attrs.frozen
class Charge:
    """Have the bank charge. Cents."""

    total: int


@attrs.frozen
class Show:
    """Show the customer the bank's page."""

    url: str


FromBank = Charged | Challenged | Declined
Command = Charge | Show


@attrs.frozen
class Payment:
    """One payment. Total in cents."""

    total: int
    at: Paying = Paying.CHARGING
    tries: Mapping[Charges, int | None] = PAYMENT_TRIES
    reference: str = ""


def passing(run: Payment, event: Declined) -> Evidence:
    return seen("passing", event.passing, code=event.code)


def note_reference(run: Payment, event: Charged) -> tuple[Payment, tuple[()]]:
    return attrs.evolve(run, reference=event.reference), ()


def show(run: Payment, event: Challenged) -> tuple[Payment, Sequence[Command]]:
    return run, [Show(event.url)]


def charge_again(run: Payment, event: Declined) -> tuple[Payment, Sequence[Command]]:
    return run, [Charge(run.total)]


def payment_at(run: Payment) -> Paying:
    return run.at


def move_payment(run: Payment, state: Paying) -> Payment:
    return attrs.evolve(run, at=state)


def payment_tries(run: Payment) -> Mapping[Charges, int | None]:
    return run.tries


def pay_payment(run: Payment, left: Mapping[Charges, int | None]) -> Payment:
    return attrs.evolve(run, tries=left)


P = Paying
row = Rows[Payment, Paying, Command]()

PAYMENT: Table[Payment, Paying, FromBank, Command] = Table(
    "payment",
    [
        row([P.CHARGING, P.CHALLENGED], Charged, P.PAID, note_reference),
        row(P.CHARGING, Challenged, P.CHALLENGED, show, asks=[Show]),
        row(
            [P.CHARGING, P.CHALLENGED],
            Declined,
            P.CHARGING,
            charge_again,
            passing,
            asks=[Charge],
            spends=Charges.CHARGE,
        ),
        row([P.CHARGING, P.CHALLENGED], Declined, P.FAILED, keep),
        refuse([P.CHALLENGED], [Challenged], "the customer is at the bank's page already"),
    ],
    events=[Charged, Challenged, Declined],
    initial=P.CHARGING,
    final=[P.PAID, P.FAILED],
    at=payment_at,
    move=move_payment,
    budgets=PAYMENT_TRIES,
    purse=payment_tries,
    pay=pay_payment,
)
