"""What a step answers, what it pays, and what it does when a guard or an effect is wrong."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Any

import attrs
import pytest

from statecraft import (
    Evidence,
    Fault,
    Ignored,
    Level,
    Reading,
    Refused,
    Rows,
    Step,
    Table,
    Unhandled,
    guard,
    ignore,
    keep,
    reaches,
    refuse,
    seen,
)


class Door(Enum):
    SHUT = auto()
    OPEN = auto()
    GONE = auto()


class Stock(Enum):
    OIL = "oil"
    WAX = "wax"


@attrs.frozen
class Push:
    force: int = 1


@attrs.frozen
class Wind:
    pass


@attrs.frozen
class Turn:
    pass


@attrs.frozen
class Unknown:
    pass


@attrs.frozen
class Ring:
    times: int = 1


@attrs.frozen
class Chime(Ring):
    pass


@attrs.frozen
class Hall:
    at: Door = Door.SHUT
    needed: int = 3
    left: Mapping[Stock, int | None] = attrs.Factory(lambda: {Stock.OIL: 2, Stock.WAX: 1})
    note: str = ""


Effect = Callable[[Hall, Any], tuple[Hall, Sequence[Ring]]]

row = Rows[Hall, Door, Ring]()


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, state: Door) -> Hall:
    return attrs.evolve(run, at=state)


def purse(run: Hall) -> Mapping[Stock, int | None]:
    return run.left


def pay(run: Hall, left: Mapping[Stock, int | None]) -> Hall:
    return attrs.evolve(run, left=left)


def wax(run: Hall) -> int | None:
    return run.needed


def without_limit(run: Hall) -> int | None:
    return None


def hall(*rows: Any, **changes: Any) -> Table[Hall, Door, Push | Wind | Turn, Ring]:
    """The rows, all from SHUT on `Push`, in a table that ignores the wind and refuses to be turned."""
    more: dict[str, Any] = {"budgets": {Stock.OIL: 5, Stock.WAX: wax}, "purse": purse, "pay": pay, **changes}
    return Table[Hall, Door, Push | Wind | Turn, Ring](
        "hall",
        [
            *rows,
            row(Door.OPEN, Push, Door.SHUT, keep),
            ignore([Door.SHUT, Door.OPEN], [Wind], "nobody feels it"),
            refuse([Door.SHUT, Door.OPEN], [Turn], "there is no key"),
        ],
        events=[Push, Wind, Turn],
        initial=Door.SHUT,
        final=[Door.GONE],
        at=at,
        move=move,
        **more,
    )


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.force >= run.needed, force=event.force, needed=run.needed)


def swing(run: Hall, event: Push) -> tuple[Hall, tuple[Ring, ...]]:
    return attrs.evolve(run, note="swung"), (Ring(1), Ring(event.force))


def push(*guards: Any, effect: Any = keep, to: Door = Door.OPEN, **more: Any) -> Any:
    return row(Door.SHUT, Push, to, effect, *guards, **more)


# The four answers


def test_a_step_holds_the_next_run_the_commands_the_row_and_what_was_asked() -> None:
    run = Hall()
    step = hall(push(strong, effect=swing, asks=[Ring])).step(run, Push(4))
    assert step == Step(
        run=attrs.evolve(run, at=Door.OPEN, note="swung"),
        commands=(Ring(1), Ring(4)),
        row=0,
        seen=(seen("strong", True, force=4, needed=3),),
        inside=(),
        machine="hall",
        source=Door.SHUT,
        target=Door.OPEN,
    )


def test_a_row_that_changes_nothing_gives_back_the_very_run() -> None:
    run = Hall()
    step = hall(push(to=Door.SHUT)).step(run, Push())
    assert isinstance(step, Step)
    assert step.run is run


def test_an_event_to_which_every_row_says_no_is_refused_with_the_evidence() -> None:
    run = Hall()
    refused = hall(push(strong)).step(run, Push(2))
    assert refused == Refused(run, (seen("strong", False, force=2, needed=3),), (), "hall", Door.SHUT, "Push")
    assert refused.run is run


def test_an_event_that_the_table_refuses_is_refused_with_the_reason() -> None:
    run = Hall()
    refused = hall(push()).step(run, Turn())
    assert refused == Refused(run, (), (), "hall", Door.SHUT, "Turn", why="there is no key")
    assert refused.run is run


def test_an_event_that_means_nothing_here_is_ignored_with_the_reason() -> None:
    run = Hall()
    ignored = hall(push()).step(run, Wind())
    assert ignored == Ignored(run, "hall", Door.SHUT, "Wind", "nobody feels it")
    assert ignored.run is run


@pytest.mark.parametrize("state", Door)
def test_an_event_outside_the_alphabet_is_unhandled_in_every_state(state: Door) -> None:
    run = Hall(state)
    unknown: Any = Unknown()
    unhandled = hall(push()).step(run, unknown)
    assert unhandled == Unhandled(run, "hall", state, "Unknown")
    assert unhandled.run is run


@pytest.mark.parametrize("event", [Push(9), Wind(), Turn()])
def test_a_final_state_refuses_everything_in_the_alphabet(event: Push | Wind | Turn) -> None:
    run = Hall(Door.GONE)
    refused = hall(push()).step(run, event)
    assert refused == Refused(run, (), (), "hall", Door.GONE, type(event).__name__, why="the run has ended: GONE")


# Budgets


def test_a_row_that_spends_takes_one_and_shows_what_was_left() -> None:
    step = hall(push(spends=Stock.OIL)).step(Hall(), Push())
    assert step.run.left == {Stock.OIL: 1, Stock.WAX: 1}
    assert isinstance(step, Step)
    assert step.seen == (seen("oil_left", True, left=2),)


@pytest.mark.parametrize(("left", "number"), [(2, 0), (1, 0), (0, 1)])
def test_a_row_that_spends_is_taken_down_to_the_last_one(left: int, number: int) -> None:
    table = hall(push(spends=Stock.OIL), push(to=Door.GONE))
    assert table.step(Hall(left={Stock.OIL: left, Stock.WAX: 0}), Push()).row == number


def test_the_empty_budget_is_the_evidence_of_the_refusal() -> None:
    run = Hall(left={Stock.OIL: 0, Stock.WAX: 0})
    refused = hall(push(spends=Stock.OIL)).step(run, Push())
    assert refused == Refused(run, (seen("oil_left", False, left=0),), (), "hall", Door.SHUT, "Push")


def test_what_a_row_would_spend_is_not_spent_when_a_guard_says_no() -> None:
    table = hall(push(strong, spends=Stock.OIL), push(to=Door.GONE))
    step = table.step(Hall(), Push(1))
    assert (step.row, step.run.left) == (1, Hall().left)


def test_a_budget_without_limit_always_holds_and_stays_without_limit() -> None:
    run = Hall(left={Stock.OIL: None, Stock.WAX: 0})
    step = hall(push(to=Door.SHUT, spends=Stock.OIL), budgets={Stock.OIL: without_limit, Stock.WAX: 1}).step(
        run, Push()
    )
    assert isinstance(step, Step)
    assert step.seen == (seen("oil_left", True, left=None),)
    assert step.run is run


def test_a_row_refills_to_the_full_size() -> None:
    table = hall(push(refills=[Stock.OIL, Stock.WAX]))
    assert table.step(Hall(needed=7), Push()).run.left == {Stock.OIL: 5, Stock.WAX: 7}


def test_a_row_may_spend_one_budget_and_refill_another() -> None:
    table = hall(push(spends=Stock.OIL, refills=[Stock.WAX]))
    assert table.step(Hall(), Push()).run.left == {Stock.OIL: 1, Stock.WAX: 3}


def test_a_purse_that_lacks_the_budget_is_a_fault() -> None:
    with pytest.raises(Fault, match=r"^hall row 0: oil_left"):
        hall(push(spends=Stock.OIL)).step(Hall(left={}), Push())


# Faults


def faulty(table: Table[Hall, Door, Push | Wind | Turn, Ring], event: Push = Push(4)) -> Fault:
    """The fault of a step, after which the caller's run is what it was and the table still works."""
    run = Hall()
    with pytest.raises(Fault) as caught:
        table.step(run, event)
    assert run == Hall()
    assert table.step(run, Wind()) == Ignored(run, "hall", Door.SHUT, "Wind", "nobody feels it")
    return caught.value


def breaks(run: Hall, event: Push) -> Evidence:
    raise ZeroDivisionError("no force")


def test_a_guard_that_raises_is_a_fault_of_its_row_and_never_a_no() -> None:
    fault = faulty(hall(push(strong, breaks), push(to=Door.GONE)))
    assert (fault.machine, fault.row, fault.part) == ("hall", 0, "breaks")
    assert str(fault) == "hall row 0: breaks raised ZeroDivisionError: no force"
    assert fault.asked == (seen("strong", True, force=4, needed=3),)
    assert isinstance(fault.__cause__, ZeroDivisionError)


def test_a_guard_that_is_not_reached_cannot_raise() -> None:
    table = hall(push(strong, breaks), push(to=Door.GONE))
    assert table.step(Hall(), Push(2)).row == 1


def counts_badly(run: Hall, event: Push) -> Reading:
    raise LookupError("lost count")


@pytest.mark.parametrize(
    "question", [~guard(breaks), guard(strong) & breaks, guard(strong) | breaks, guard(breaks) | strong]
)
def test_a_part_of_a_combination_that_raises_is_a_fault_under_its_own_name(question: Any) -> None:
    assert faulty(hall(push(question))).part == "breaks"


def test_a_reading_that_raises_is_a_fault() -> None:
    fault = faulty(hall(push(reaches(counts_badly, Level.STOP))))
    assert str(fault) == "hall row 0: counts_badly at stop raised LookupError: lost count"


@pytest.mark.parametrize("answer", [True, None, 1, Reading("r", 9, 1, 2, 3), "yes"])
def test_a_guard_that_answers_anything_but_evidence_is_a_fault(answer: Any) -> None:
    def odd(run: Hall, event: Push) -> Any:
        return answer

    fault = faulty(hall(push(odd), push(to=Door.GONE)))
    assert str(fault) == f"hall row 0: odd answered {type(answer).__name__}, expected Evidence"
    assert fault.asked == ()


def test_a_reading_that_answers_with_evidence_is_a_fault() -> None:
    wrong: Any = strong
    fault = faulty(hall(push(reaches(wrong, Level.STOP))))
    assert str(fault) == "hall row 0: strong at stop answered Evidence, expected Reading"


def falls(run: Hall, event: Push) -> tuple[Hall, tuple[Ring, ...]]:
    raise OSError("off its hinges")


def test_an_effect_that_raises_is_a_fault() -> None:
    fault = faulty(hall(push(strong, effect=falls)))
    assert str(fault) == "hall row 0: falls raised OSError: off its hinges"
    assert fault.asked == (seen("strong", True, force=4, needed=3),)
    assert isinstance(fault.__cause__, OSError)


@pytest.mark.parametrize("asks", [[], [Chime]])
def test_an_effect_that_asks_for_what_its_row_does_not_declare_is_a_fault(asks: list[type[Ring]]) -> None:
    fault = faulty(hall(push(effect=swing, asks=asks)))
    assert str(fault) == "hall row 0: swing asks for Ring, which the row does not declare"


def test_declaring_a_command_does_not_declare_a_kind_of_it() -> None:
    def chime(run: Hall, event: Push) -> tuple[Hall, list[Ring]]:
        return run, [Ring(), Chime()]

    assert "asks for Chime" in str(faulty(hall(push(effect=chime, asks=[Ring]))))
    assert hall(push(effect=chime, asks=[Ring, Chime])).step(Hall(), Push()).commands == (Ring(), Chime())


def test_an_effect_need_not_ask_for_all_that_its_row_declares() -> None:
    assert hall(push(asks=[Ring])).step(Hall(), Push()).commands == ()


def changed(**fields: Any) -> Effect:
    def effect(run: Hall, event: Push) -> tuple[Hall, tuple[Ring, ...]]:
        return attrs.evolve(run, **fields), ()

    return effect


@pytest.mark.parametrize("state", [Door.OPEN, Door.GONE])
def test_an_effect_that_changes_the_state_is_a_fault_even_to_the_target(state: Door) -> None:
    fault = faulty(hall(push(effect=changed(at=state))))
    assert str(fault) == "hall row 0: effect changes the state, which is the row's to change"


@pytest.mark.parametrize("left", [{Stock.OIL: 1, Stock.WAX: 1}, {Stock.OIL: 2}, {}])
def test_an_effect_that_changes_the_purse_is_a_fault(left: dict[Stock, int | None]) -> None:
    fault = faulty(hall(push(effect=changed(left=left), spends=Stock.OIL)))
    assert str(fault) == "hall row 0: effect changes the purse, which is the table's to pay from"


def test_an_effect_may_change_all_else() -> None:
    same = changed(note="new", needed=9, at=Door.SHUT, left={Stock.OIL: 2, Stock.WAX: 1})
    step = hall(push(effect=same, spends=Stock.OIL)).step(Hall(), Push())
    assert step.run == Hall(Door.OPEN, 9, {Stock.OIL: 1, Stock.WAX: 1}, "new")


@pytest.mark.parametrize("thrown", [KeyboardInterrupt(), SystemExit(3), asyncio.CancelledError()])
@pytest.mark.parametrize("where", ["guard", "part", "reading", "effect"])
def test_what_is_not_an_error_of_the_machine_passes_through_untouched(thrown: BaseException, where: str) -> None:
    def throws(run: Hall, event: Push) -> Any:
        raise thrown

    table = {
        "guard": hall(push(throws)),
        "part": hall(push(~guard(throws) & strong)),
        "reading": hall(push(reaches(throws, Level.NUDGE))),
        "effect": hall(push(effect=throws)),
    }[where]
    run = Hall()
    with pytest.raises(type(thrown)) as caught:
        table.step(run, Push(4))
    assert caught.value is thrown
    assert run == Hall()
    assert isinstance(table.step(run, Wind()), Ignored)
