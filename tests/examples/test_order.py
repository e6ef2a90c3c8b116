"""The order and its payment: each transition alone, inner ones through the order, what is proved, and the pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from statecraft import BadTable, Evidence, Ignored, Refused, Row, Step, Table
from statecraft.diagrams import dot, mermaid
from statecraft.proofs import Bound, FreeCycle, ends, prove
from statecraft.testing import covered, step_one

from .order import (
    ORDER,
    ORDER_TRIES,
    PAY,
    AskPerson,
    Cancelled,
    Command,
    Decided,
    Delivered,
    Event,
    Order,
    Pack,
    PeriodOver,
    Placed,
    Refund,
    Refunded,
    RefundFailed,
    ReturnAsked,
    Shipped,
    Stage,
    Tell,
    TimedOut,
    Tries,
    move_order,
    order_at,
    order_tries,
    pay_order,
)
from .payment import PAYMENT, Challenged, Charge, Charged, Charges, Declined, FromBank, Paying, Payment, Show

AnyTable = Table[Any, Any, Any, Any]
S, P = Stage, Paying

CHARGING = Payment(500)
CHALLENGED = Payment(500, P.CHALLENGED)
TRIED = attrs.evolve(CHARGING, tries={Charges.CHARGE: 0})


def order_in(at: Stage, payment: Payment | None = None, **left: int) -> Order:
    """An order in this state, with what is left of its budgets by their names, or full ones."""
    return Order(at, total=500, payment=payment, tries={one: left.get(one.value, ORDER_TRIES[one]) for one in Tries})


PAYING = order_in(S.PAYING, CHARGING)

PAYMENT_CASES: list[tuple[Payment, FromBank, int, Paying, list[type[Any]]]] = [
    (CHARGING, Charged("r1"), 0, P.PAID, []),
    (CHALLENGED, Charged("r1"), 0, P.PAID, []),
    (CHARGING, Challenged("https://bank.example"), 1, P.CHALLENGED, [Show]),
    (CHALLENGED, Declined("busy", passing=True), 2, P.CHARGING, [Charge]),
    (CHARGING, Declined("no money"), 3, P.FAILED, []),
    (TRIED, Declined("busy", passing=True), 3, P.FAILED, []),
]

ORDER_CASES: list[tuple[Order, Event, int, Stage, list[type[Any]]]] = [
    (Order(), Placed(500, "FR"), 0, S.CANCELLED, [Tell]),
    (Order(), Placed(100_001, "DE"), 1, S.APPROVING, [AskPerson]),
    (Order(), Placed(100_000, "DE"), 2, S.PAYING, [Charge]),
    (order_in(S.APPROVING), Decided("Ada", yes=True), 3, S.PAYING, [Charge]),
    (order_in(S.APPROVING), Decided("Ada", yes=False), 4, S.CANCELLED, [Tell]),
    (order_in(S.APPROVING), TimedOut(), 5, S.APPROVING, [AskPerson]),
    (order_in(S.APPROVING, reminders=0), TimedOut(), 6, S.CANCELLED, [Tell]),
    (PAYING, Charged("r1"), 7, S.PACKING, [Pack]),
    (PAYING, Challenged("https://bank.example"), 8, S.PAYING, [Show]),
    (order_in(S.PAYING, CHALLENGED), Declined("busy", passing=True), 9, S.PAYING, [Charge]),
    (PAYING, Declined("no money"), 10, S.CANCELLED, [Tell]),
    (order_in(S.PACKING), Shipped("p1"), 11, S.SHIPPED, [Tell]),
    (order_in(S.SHIPPED), Delivered(4), 12, S.DELIVERED, []),
    (order_in(S.DELIVERED), PeriodOver(), 13, S.COMPLETED, []),
    (order_in(S.DELIVERED), ReturnAsked(30), 14, S.REFUNDING, [Refund]),
    (order_in(S.PACKING), Cancelled(), 15, S.REFUNDING, [Refund]),
    (order_in(S.APPROVING), Cancelled(), 16, S.CANCELLED, []),
    (order_in(S.REFUNDING), Refunded(), 17, S.REFUNDED, [Tell]),
    (order_in(S.REFUNDING, refunds=1), RefundFailed("busy"), 18, S.REFUNDING, [Refund]),
    (order_in(S.REFUNDING, refunds=0), RefundFailed("busy"), 19, S.BY_HAND, [AskPerson]),
    (order_in(S.BY_HAND), Decided("Ada", yes=True), 20, S.REFUNDED, [Tell]),
]

REFUSED: list[tuple[Order, Event]] = [
    (order_in(S.PAYING, Payment(500, P.FAILED)), Charged("r1")),
    (order_in(S.PAYING, CHALLENGED), Challenged("https://bank.example")),
    (order_in(S.DELIVERED), ReturnAsked(31)),
    (order_in(S.BY_HAND), Decided("Ada", yes=False)),
    (order_in(S.PAYING, TRIED), Cancelled()),
]


@pytest.mark.parametrize(("run", "event", "row", "target", "commands"), PAYMENT_CASES)
def test_a_payment_takes_this_row(
    run: Payment, event: FromBank, row: int, target: Paying, commands: list[type[Any]]
) -> None:
    step_one(PAYMENT, run, event, row=row, target=target, commands=commands)


@pytest.mark.parametrize(("run", "event", "row", "target", "commands"), ORDER_CASES)
def test_an_order_takes_this_row(run: Order, event: Event, row: int, target: Stage, commands: list[type[Any]]) -> None:
    step_one(ORDER, run, event, row=row, target=target, commands=commands)


@pytest.mark.parametrize(("run", "event"), REFUSED)
def test_an_order_refuses_this_and_stays_as_it_is(run: Order, event: Event) -> None:
    answer = ORDER.step(run, event)
    assert isinstance(answer, Refused)
    assert answer.run is run


def test_a_charge_that_failed_in_passing_is_asked_for_again_at_the_cost_of_one_try() -> None:
    step = step_one(PAYMENT, CHARGING, Declined("busy", passing=True), row=2, commands=[Charge(500)])
    assert step.run.tries == {Charges.CHARGE: 1}


def test_the_order_sees_its_payment_as_it_is_after_its_own_step() -> None:
    step = step_one(ORDER, PAYING, Charged("r1"), row=7)
    assert step.run.payment == Payment(500, P.PAID, reference="r1")
    (within,) = step.inside
    assert isinstance(within, Step)
    assert (within.machine, within.row, within.target) == ("payment", 0, P.PAID)
    assert step.seen == (Evidence("paid", True, {"payment": "paid"}),)


def test_what_the_payment_asks_for_goes_out_with_the_order_s_own_commands() -> None:
    step = step_one(ORDER, PAYING, Declined("busy", passing=True), row=9)
    assert step.commands == (Charge(500),)
    assert step.run.payment == attrs.evolve(CHARGING, tries={Charges.CHARGE: 1})


def test_an_order_that_is_paid_again_begins_a_payment_of_its_own() -> None:
    asked = attrs.evolve(order_in(S.APPROVING), payment=Payment(500, P.FAILED))
    assert step_one(ORDER, asked, Decided("Ada", yes=True), row=3).run.payment == Payment(500)


def test_a_late_return_is_refused_with_the_days_that_it_counted() -> None:
    answer = ORDER.step(attrs.evolve(order_in(S.DELIVERED), day=4), ReturnAsked(35))
    assert isinstance(answer, Refused)
    assert answer.seen == (Evidence("in_time", False, {"days": 31, "at_most": 30}),)


def test_cancelling_while_the_money_is_on_its_way_is_refused_with_the_reason() -> None:
    answer = ORDER.step(PAYING, Cancelled())
    assert isinstance(answer, Refused)
    assert answer.why == "the money is on its way"


def test_what_a_bank_sends_twice_is_ignored() -> None:
    answer = ORDER.step(order_in(S.PACKING), Charged("r1"))
    assert isinstance(answer, Ignored)
    assert answer.why == "banks send things twice"


@pytest.mark.parametrize("ending", [S.COMPLETED, S.REFUNDED, S.CANCELLED])
def test_an_order_that_has_ended_refuses_everything(ending: Stage) -> None:
    answer = ORDER.step(order_in(ending), Cancelled())
    assert isinstance(answer, Refused)
    assert ending.name in answer.why


def test_the_cases_take_every_row_of_both_machines_and_hear_every_guard_both_ways() -> None:
    inner_only: list[tuple[Order, Event]] = [(order_in(S.PAYING, run), event) for run, event, _, _, _ in PAYMENT_CASES]
    pairs = [*((run, event) for run, event, *_ in ORDER_CASES), *REFUSED, *inner_only]
    coverage = covered(ORDER, [(event, ORDER.step(run, event)) for run, event in pairs])
    assert [(one.name, one.rows) for one in coverage.machines] == [("order", (21, 21)), ("order > payment", (4, 4))]
    assert coverage.whole, [(one.name, ways) for machine in coverage.machines for one, ways in machine.never_seen]


def test_a_payment_tested_alone_covers_nothing_of_the_payment_inside_an_order() -> None:
    coverage = covered(ORDER, [(event, ORDER.step(run, event)) for run, event, *_ in ORDER_CASES[:3]])
    assert coverage.machines[1].rows == (0, 4)


def test_an_order_ends_and_asks_the_bank_and_people_only_so_often() -> None:
    report = prove([ORDER])
    assert report.ok
    order, payment = report.tables
    assert (order.table, order.inside) == ("order", "")
    assert (payment.table, payment.inside) == ("payment", "order")
    assert isinstance(order.steps, Bound)
    assert isinstance(payment.steps, Bound)
    assert (order.steps.number, payment.steps.number) == (18, 6)
    asked = {one.asking: one.number for one in order.requests}
    # A first question, two reminders, and one when no refund succeeds; one charge and its two repetitions; one refund
    # and its three.
    assert (asked["AskPerson"], asked["Charge"], asked["Refund"]) == (4, 3, 4)


SENT = st.one_of(
    st.builds(Placed, st.sampled_from([500, 200_000]), st.sampled_from(["DE", "FR"])),
    st.builds(Decided, st.just("Ada"), st.booleans()),
    st.builds(Declined, st.just("busy"), st.booleans()),
    st.builds(ReturnAsked, st.sampled_from([5, 50])),
    st.sampled_from(
        [
            TimedOut(),
            Charged("r1"),
            Challenged("https://bank.example"),
            Shipped("p1"),
            Delivered(4),
            PeriodOver(),
            Refunded(),
            RefundFailed("busy"),
            Cancelled(),
        ]
    ),
)


@given(st.lists(SENT, max_size=60))
def test_no_story_takes_more_steps_or_charges_more_often_than_is_proved(story: list[Event]) -> None:
    run, steps, commands = Order(), 0, list[Command]()
    for event in story:
        answer = ORDER.step(run, event)
        steps += isinstance(answer, Step)
        commands += answer.commands
        run = answer.run
    assert steps <= 18
    assert sum(isinstance(one, Charge) for one in commands) <= 3
    assert sum(isinstance(one, Refund) for one in commands) <= 4
    if run.at in (S.PACKING, S.SHIPPED, S.DELIVERED, S.COMPLETED):
        assert run.payment is not None
        assert run.payment.at is P.PAID


def test_refunds_that_fill_their_own_budget_again_are_found_to_go_round_for_ever() -> None:
    rows = [
        attrs.evolve(row, refills=frozenset({Tries.REFUND})) if row.spends is Tries.REFUND else row
        for row in ORDER.rows
    ]
    found = ends(order_of(rows))
    assert isinstance(found, FreeCycle)
    assert found.payable
    assert [str(hop) for hop in found.hops] == [
        "row 18: REFUNDING RefundFailed -> REFUNDING, spends refunds, refills refunds"
    ]
    assert found.way[0].source == "BASKET"
    assert not prove([order_of(rows)]).ok


def test_without_a_row_that_leads_there_the_check_finds_the_states_that_nothing_reaches() -> None:
    rows = [
        attrs.evolve(row, target=S.CANCELLED) if row.target is S.REFUNDING and row.spends is None else row
        for row in ORDER.rows
    ]
    (proved, _) = prove([order_of(rows)]).tables
    assert not proved.ok
    lost = {flaw.state for flaw in proved.flaws if flaw.what == "unreachable state"}
    assert lost == {"REFUNDING", "BY_HAND", "REFUNDED"}


def test_two_rows_that_may_both_hold_are_refused_unless_their_order_is_said_to_be_meant() -> None:
    unordered = [mark for mark in ORDER.marks if mark.how != "ordered"]
    with pytest.raises(BadTable, match=r"row 1 .* overlaps row 0 in cell BASKET on Placed"):
        order_of(ORDER.rows, unordered)


@pytest.mark.parametrize("draw", [mermaid, dot])
def test_its_picture_holds_the_payment_inside_the_order_and_is_made_alike_of_the_same_rows(
    draw: Callable[[AnyTable], str],
) -> None:
    picture = draw(ORDER)
    assert draw(order_of(ORDER.rows)) == picture
    for words in ("PAYING", "CHALLENGED", "payment", "refunds", "AskPerson"):
        assert words in picture
    assert len(draw(PAYMENT)) < len(picture)


def order_of(rows: Iterable[Row[Order, Stage, Command]], marks: Iterable[Any] | None = None) -> AnyTable:
    """The same machine with other rows, or other marks."""
    return Table[Order, Stage, Event, Command](
        "order",
        [*rows, *(ORDER.marks if marks is None else marks)],
        events=ORDER.events,
        initial=S.BASKET,
        final=ORDER.final,
        at=order_at,
        move=move_order,
        budgets=ORDER_TRIES,
        purse=order_tries,
        pay=pay_order,
        inners=[PAY],
    )
