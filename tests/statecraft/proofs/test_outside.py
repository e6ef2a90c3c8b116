"""Flaws that only the world around a table shows: each of them, and the nearest table that has it not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import pytest

from statecraft import Table, World
from statecraft.proofs import outside, prove

AnyTable = Table[Any, Any, Any, Any]


def commands(*tables: AnyTable) -> dict[str, type[Any]]:
    return {kind.__name__: kind for table in tables for row in table.rows for kind in row.asks}


def world(
    table: AnyTable, answers: Mapping[str, Sequence[str]], *, waits: str = "", time: str = "", cancel: str = ""
) -> World:
    """Events and commands by their names."""
    events = {kind.__name__: kind for kind in table.events}
    held = commands(table, *(held.table for held in table.inners))
    states = {state.name: state for state in table.states}
    return World(
        {held[name]: [events[one] for one in some] for name, some in answers.items()},
        tuple(states[name] for name in waits.split()),
        events.get(time),
        events.get(cancel),
    )


def found(table: AnyTable, around: World) -> list[tuple[str, str | None, int | None]]:
    return [(flaw.what, flaw.state, flaw.row) for flaw in outside(table, around)]


def test_a_command_of_which_the_world_says_nothing_is_a_flaw_and_one_that_asks_nothing_back_is_none(build: Any) -> None:
    table = build("A Go -> Z; asks Tell", final="Z")
    assert found(table, World({})) == [("unknown command Tell", None, 0)]
    assert found(table, world(table, {"Tell": []})) == []


@pytest.mark.parametrize(
    ("rows", "flawed"),
    [
        (("A Go -> B; asks Call", "B Go -> Z"), True),
        (("A Go -> B; asks Call", "B Tick -> Z"), False),
        (("A Go -> Z; asks Call", "A Tick -> A"), False),  # an ending may leave a command unanswered
        (("A Go -> A; asks Call", "A Go -> B", "B Tick -> Z"), False),  # the answer is taken in a later state
        (("A Go -> B; asks Call", "B Go -> A", "A Tick -> Z"), False),  # and in one that comes before the next asking
        (("A Go -> B; asks Call", "B Go -> C; asks Call", "C Tick -> Z"), True),  # only after it was asked for again
    ],
)
def test_an_answer_has_to_meet_a_row_before_it_is_asked_for_again(
    build: Any, rows: tuple[str, ...], *, flawed: bool
) -> None:
    table = build(*rows, "X Go -> Z", "X Tick -> Z", final="Z")
    assert (("no answer to Call", None, 0) in found(table, world(table, {"Call": ["Tick"]}))) is flawed


def test_of_several_answers_one_is_enough(build: Any) -> None:
    table = build("A Go -> B; asks Call", "B Go -> Z", "X Tick -> Z", final="Z")
    assert found(table, world(table, {"Call": ["Tick"]})) == [("no answer to Call", None, 0)]
    assert found(table, world(table, {"Call": ["Tick", "Go"]})) == []


def test_what_an_inner_machine_asks_is_answered_by_the_world_of_the_outer(build: Any, hold: Any) -> None:
    kid = build("P Go -> P; asks Call", "P Tick -> P", name="kid", depth=1)
    table = build("A Go -> B", "B Go -> Z", "X Tick -> Z", final="Z", inners={"kid": hold(kid, "A")})
    assert found(table, World({})) == [("unknown command Call", None, 0)]
    assert found(table, world(table, {"Call": ["Tick"]})) == [("no answer to Call", None, 0)]
    assert found(table, world(table, {"Call": ["Go"]})) == []


def test_a_state_in_which_nothing_is_out_needs_a_way_out_by_time(build: Any) -> None:
    for row, flawed in (("A Tick -> A", True), ("A Tick -> Z", False), ("Z2 Tick -> Z", True)):
        table = build("A Go -> Z", row, final="Z")
        flaw = ("no way out by time", "A", None)
        assert (flaw in found(table, world(table, {}, waits="A", time="Tick"))) is flawed
        assert flaw not in found(table, world(table, {}, waits="", time="Tick"))


def test_every_state_that_is_no_ending_needs_a_cancel_that_leads_to_one(build: Any) -> None:
    table = build("A Go -> B", "A Tick -> Z", "B Go -> Z", "B Tick -> A", final="Z")
    assert found(table, world(table, {}, cancel="Tick")) == [("no way out by cancel", "B", None)]
    table = build("A Go -> B", "A|B Tick -> Z", "B Go -> Z", final="Z")
    assert found(table, world(table, {}, cancel="Tick")) == []


def test_the_report_has_them_among_its_flaws(build: Any) -> None:
    table = build("A Go -> Z; asks Call", final="Z")
    (one,) = prove([table], worlds={"machine": World({})}).tables
    assert [flaw.what for flaw in one.flaws] == ["unknown command Call"]
    assert not one.ok
    (call,) = commands(table).values()
    whole = attrs.evolve(World({}), answers={call: ()}, request=call)
    (one,) = prove([table], worlds={"machine": whole}).tables
    assert (one.ok, one.request) == (True, "Call")
