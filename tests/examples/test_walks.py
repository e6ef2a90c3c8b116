"""The examples walked at random: what holds at every step, and that every row is come to, inner machines' too."""

from __future__ import annotations

from hypothesis import strategies as st

from statecraft import Step
from statecraft.proofs import Law, Taken
from statecraft.testing import likely, walk

from .door import HALL, Hall, Push
from .h11_connection import (
    CLIENT,
    SERVER,
    Client,
    ClientClosed,
    ClientFailed,
    Connection,
    Server,
    ServerClosed,
    ServerFailed,
)
from .order import ORDER, Order, Stage, Tries

few = st.sampled_from
OFTEN = {Tries.REMIND: 1, Tries.REFUND: 1}


def too_weak(step: Taken[Hall, Push], _: object) -> str:
    opened = isinstance(step.answer, Step) and step.answer.row == 0
    return "" if not opened or step.event.force >= 20 else f"opened with {step.event.force}"


STRONG = Law("it opens for the strong alone", "for this test", too_weak)


def test_the_door_comes_to_every_row() -> None:
    found = walk(
        HALL,
        Hall(),
        {"force": st.integers(10, 30)},
        laws=[STRONG],
        examples=10,
    )
    assert found.coverage.rows == (3, 3)


def test_the_order_comes_to_every_row_and_its_payment_too() -> None:
    drawn = {"country": few(["AT", "AT", "US"]), "total": few([1, 200_000]), "day": few([1, 40]), "code": "it"}
    starts = few([Order(tries=OFTEN), Order(Stage.REFUNDING, tries=OFTEN)])
    found = walk(ORDER, starts, drawn, steps=60, examples=60)
    assert [one.name for one in found.coverage.machines] == ["order", "order > payment"]
    assert found.coverage.rows == (25, 25)


STARTS = st.builds(
    Connection,
    few([Client.IDLE, Client.SEND_BODY, Client.DONE]),
    few([*Server, Server.IDLE, Server.IDLE, Server.SEND_RESPONSE]),
    few([True, True, False]),
    *[few([False, False, True])] * 2,
)


def test_both_sides_of_a_connection_come_to_every_row() -> None:
    walk(CLIENT, STARTS, likely(CLIENT, rare=[ClientFailed, ClientClosed]), steps=8, examples=160)
    walk(SERVER, STARTS, likely(SERVER, rare=[ServerFailed, ServerClosed]), steps=8, examples=160)
