"""What a row needs without spending it, and how much less a run can then do."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

import attrs
import pytest

from statecraft import Evidence, Guard, Rows, Table, guard, keep, ordered, seen, used_up
from statecraft.proofs import Bound, ends
from statecraft.proofs.needed import needs_of

AnyTable = Table[Any, Any, Any, Any]


class Glow(Enum):
    LIT = "lit"
    OUT = "out"


class Purse(Enum):
    OIL = "oil"


@attrs.frozen
class Tick:
    pass


@attrs.frozen
class Lamp:
    left: Mapping[Purse, int | None]


def left_of(run: Lamp) -> Mapping[Purse, int | None]:
    return run.left


@guard
def dim(run: Lamp, event: Tick) -> Evidence:
    return seen("dim", True)


def empty(run: Lamp) -> Mapping[Purse, int | None]:
    return {}


def asking(question: Guard[Lamp, Any]) -> Guard[Lamp, Tick]:
    return question


NO_OIL: Guard[Lamp, Tick] = used_up(Purse.OIL, left_of)
MARK = ordered([Glow.LIT], [Tick], "the test decides")


def needs(table: AnyTable) -> dict[tuple[int, str], set[str]]:
    return {(n, state.name): {one.value for one in found} for (n, state), found in needs_of(table).items()}


def bound(table: AnyTable) -> Bound:
    found = ends(table)
    assert isinstance(found, Bound)
    return found


def test_a_row_below_one_that_is_taken_once_a_budget_is_used_up_needs_it(build: Any) -> None:
    table = build("A Go -> Z; once oil", "A Go -> B", "B Go -> A; spends oil", final="Z", budgets={"oil": 3})
    assert needs(table) == {(1, "A"): {"oil"}}


def test_a_row_that_asks_that_some_is_left_needs_it(build: Any) -> None:
    table = build("A Go -> B; while oil", "B|A Tick -> A; spends oil", budgets={"oil": 3})
    assert needs(table) == {(0, "A"): {"oil"}}


def test_a_row_above_it_or_of_another_cell_needs_nothing(build: Any) -> None:
    table = build("A Go -> B", "A Go -> Z; once oil", "B Go -> A; spends oil", final="Z", budgets={"oil": 3})
    assert needs(table) == {}


@pytest.mark.parametrize("also", ["; spends tea", "; while tea"])
def test_below_a_row_that_may_not_be_taken_nothing_is_needed(build: Any, also: str) -> None:
    rows = ("A Go -> B; once oil" + also, "A Go -> A; spends oil")
    assert needs(build(*rows, budgets={"oil": 3, "tea": 1})).get((1, "A")) is None


def test_used_up_holds_where_nothing_is_left() -> None:
    assert [NO_OIL(Lamp({Purse.OIL: left}), Tick()).holds for left in (1, 0, None)] == [False, True, False]
    assert NO_OIL(Lamp({Purse.OIL: 0}), Tick()).seen == {"left": 0}
    assert NO_OIL.name == "oil"


ASKED: list[tuple[Guard[Lamp, Tick], bool]] = [
    (~NO_OIL, True),
    (~(NO_OIL | dim), True),
    (~(NO_OIL & dim), False),
    (~NO_OIL & dim, True),
    (~NO_OIL | dim, False),
    (NO_OIL, False),
    (dim, False),
    (~asking(used_up(Purse.OIL, empty)), False),  # of a purse that is not the table's
]


@pytest.mark.parametrize(("asked", "closed"), ASKED)
def test_a_guard_made_of_others_needs_what_they_must(asked: Guard[Lamp, Tick], *, closed: bool) -> None:
    row = Rows[Lamp, Glow, object]()
    table = Table[Lamp, Glow, Tick, object](
        "lamp",
        [row(Glow.LIT, Tick, Glow.OUT, keep, asked), row(Glow.LIT, Tick, Glow.LIT, keep, spends=Purse.OIL), MARK],
        events=[Tick],
        initial=Glow.LIT,
        final=[Glow.OUT],
        at=lambda run: Glow.LIT,
        move=lambda run, state: run,
        budgets={Purse.OIL: 3},
        purse=left_of,
        pay=lambda run, left: Lamp(left),
    )
    assert (needs(table) == {(0, "LIT"): {"oil"}}) is closed


@pytest.mark.parametrize(("row", "most"), [("B Go -> A; while oil", 2 * 3), ("B Go -> A", 2 * 3 + 1)])
def test_what_needs_a_budget_does_not_follow_its_last_unit(build: Any, walk: Any, row: str, most: int) -> None:
    table = build("A Go -> B; spends oil", row, "A|B Tick -> Z", final="Z", budgets={"oil": 3})
    assert bound(table).number == most == walk(table)


def test_the_last_unit_is_named_where_it_counts_less(build: Any) -> None:
    table = build("A Go -> B; spends oil", "B Go -> A; while oil", budgets={"oil": 3})
    found = bound(table)
    assert "oil, 3, not refilled here: 2 x 2 and 1 with the last, as some rows need it" in "\n".join(found.lines)
    once = bound(build("A Go -> B; spends oil", "B Go -> A; while oil", budgets={"oil": 1}))
    assert "oil, 1, not refilled here: 1 with the last, as some rows need it" in "\n".join(once.lines)
