"""What a guard, a reading and an effect may answer; anything else is a fault, there and not where it is kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum, auto
from typing import Any, NamedTuple

import attrs
import pytest

from statecraft import Evidence, Fault, Level, Reading, Rows, Step, Table, guard, keep, reaches, seen
from statecraft.codec import codec
from statecraft.journal import Journaled, MemoryStore, Writer, verify
from statecraft.replay import explain, replay, told


class Door(Enum):
    SHUT = auto()
    OPEN = auto()


class Colour(StrEnum):
    RED = "red"


class Size(IntEnum):
    SMALL = 1


class Pair(NamedTuple):
    run: Any
    commands: Any


@attrs.frozen
class Push:
    force: int = 4


@attrs.frozen
class Ring:
    pass


@attrs.frozen
class Hall:
    at: Door = Door.SHUT


LISTED: Any = ["force"]

# Most answers here are wrong, and a type checker would say so; so what gives them is untyped.
row: Any = Rows[Hall, Door, Ring]()


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, state: Door) -> Hall:
    return Hall(state)


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.force >= 3, force=event.force)


def answering(answer: Any, name: str = "odd") -> Callable[[Hall, Push], Any]:
    def odd(run: Hall, event: Push) -> Any:
        return answer

    odd.__name__ = name
    return odd


def hall(*guards: Any, effect: Any = keep) -> Table[Hall, Door, Push, Any]:
    rows = [row(Door.SHUT, Push, Door.OPEN, effect, *guards, asks=[Ring])]
    return Table("hall", rows, events=[Push], initial=Door.SHUT, final=[Door.OPEN], at=at, move=move)


def fault(*guards: Any, effect: Any = keep) -> Fault:
    with pytest.raises(Fault) as caught:
        hall(*guards, effect=effect).step(Hall(), Push())
    return caught.value


# Guards

KEPT = ["text", "", 0, -1, 2**70, 0.5, math.inf, -math.inf, math.nan, True, None, Colour.RED, Size.SMALL]
NOT_KEPT = [
    ([1], "a list"),
    ((), "a tuple"),
    ({"a": 1}, "a dict"),
    ({1}, "a set"),
    (b"x", "an instance of bytes"),
    (Decimal(1), "an instance of Decimal"),
    (Door.SHUT, "Door.SHUT"),
    (Hall(), "an instance of Hall"),
    (Hall, "the class Hall"),
    (at, "the function at"),
]


@pytest.mark.parametrize("value", KEPT)
def test_evidence_of_a_scalar_is_taken_as_it_is(value: Any) -> None:
    step = hall(answering(seen("looks", True, it=value))).step(Hall(), Push())
    assert isinstance(step, Step)
    assert isinstance(step.seen[0], Evidence)
    assert step.seen[0].seen["it"] is value


@pytest.mark.parametrize("value", KEPT)
def test_what_a_step_takes_a_journal_keeps_and_replay_finds_the_same(value: Any) -> None:
    table = hall(answering(seen("looks", True, it=value)))
    of = Journaled(table, Hall, codec(Hall))
    store = MemoryStore()
    writer = Writer.begin(store, of, "r", Hall())
    writer.answer(Push(), table.step(Hall(), Push()))
    writer.end(Door.OPEN)
    assert verify(store).verdict == "whole"
    assert replay(store, of).difference is None
    assert told(explain(store, of)).splitlines()[-1].startswith("    yes odd: it=")


@pytest.mark.parametrize(("value", "found"), NOT_KEPT)
def test_evidence_that_is_no_scalar_is_a_fault_that_names_row_guard_and_key(value: Any, found: str) -> None:
    raised = fault(strong, answering(seen("looks", True, plain=1, it=value)))
    assert str(raised) == f"hall row 0: odd saw it, {found}; expected text, a number, True, False or None"
    assert raised.asked == (seen("strong", True, force=4),)


def test_the_guard_that_is_named_is_the_part_of_a_combination() -> None:
    combined = guard(strong) & guard(answering(seen("looks", True, it=LISTED)))
    assert str(fault(combined)).startswith("hall row 0: odd saw it, a list; ")


@pytest.mark.parametrize("now", [0, 1, 2])
def test_a_reading_of_what_is_no_scalar_is_a_fault_at_every_level(now: int) -> None:
    raised = fault(reaches(answering(Reading("r", now, 1, 2, 3, {"it": LISTED})), Level.STOP))
    assert str(raised) == "hall row 0: odd at stop saw it, a list; expected text, a number, True, False or None"


@pytest.mark.parametrize("answer", [Evidence("e", True, LISTED), Reading("r", 1, 2, 3, 4, LISTED)])
def test_values_that_are_no_mapping_are_a_fault_of_their_guard(answer: Any) -> None:
    odd = answering(answer)
    raised = fault(odd if isinstance(answer, Evidence) else reaches(odd, Level.STOP))
    assert str(raised).endswith("raised AttributeError: 'list' object has no attribute 'values'")
    assert raised.part.startswith("odd")


@pytest.mark.parametrize(
    ("holds", "found"),
    [(1, "the number 1"), (0, "the number 0"), (None, "None"), ("yes", "the text 'yes'"), ([], "a list")],
)
def test_evidence_that_neither_holds_nor_does_not_is_a_fault(holds: Any, found: str) -> None:
    raised = fault(answering(seen("looks", holds)))
    assert str(raised) == f"hall row 0: odd answered with {found} for whether it holds, expected True or False"


@pytest.mark.parametrize("field", ["now", "nudge", "stop", "most"])
@pytest.mark.parametrize(
    ("count", "found"), [(None, "None"), (1.0, "the number 1.0"), (math.inf, "the number inf"), (True, "True")]
)
def test_a_reading_that_does_not_count_in_integers_is_a_fault(field: str, count: Any, found: str) -> None:
    numbers: dict[str, Any] = {"now": 5, "nudge": 1, "stop": 2, "most": 3, field: count}
    raised = fault(reaches(answering(Reading("r", **numbers)), Level.STOP))
    assert str(raised) == f"hall row 0: odd at stop answered {field}={found}, expected an integer"


@pytest.mark.parametrize("now", [1, Size.SMALL, 2**70])
def test_a_reading_may_count_in_integers_of_any_kind(now: int) -> None:
    assert hall(reaches(answering(Reading("r", now, 0, 1, 3)), Level.STOP)).step(Hall(), Push()).row == 0


# Effects


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (None, "NoneType, expected (run, commands)"),
        (Hall(), "Hall, expected (run, commands)"),
        ((Hall(),), "tuple of 1, expected (run, commands)"),
        ([Hall(), (), ()], "list of 3, expected (run, commands)"),
        ((Hall(), None), "None for its commands, expected a list"),
        ((Hall(), Ring()), "an instance of Ring for its commands, expected a list"),
        ((Hall(), Ring), "the class Ring for its commands, expected a list"),
    ],
)
def test_an_effect_that_answers_with_no_run_and_commands_is_a_fault_that_says_what_it_answered(
    answer: Any, found: str
) -> None:
    raised = fault(strong, effect=answering(answer))
    assert str(raised) == f"hall row 0: odd answered {found}"
    assert raised.asked == (seen("strong", True, force=4),)


@pytest.mark.parametrize("form", [tuple, list, Pair._make])
def test_an_effect_may_answer_with_any_pair_and_with_commands_that_are_made_as_they_are_taken(form: Any) -> None:
    def lazy(run: Hall, event: Push) -> Any:
        return form((run, (Ring() for _ in range(2))))

    assert hall(effect=lazy).step(Hall(), Push()).commands == (Ring(), Ring())


@pytest.mark.parametrize("form", [tuple, list, Pair._make])
def test_an_effect_that_raises_as_its_commands_are_taken_is_a_fault_with_what_it_raised(form: Any) -> None:
    def lazy(run: Hall, event: Push) -> Any:
        return form((run, (Ring() for count in (1, 0) if 1 / count)))

    assert str(fault(effect=lazy)) == "hall row 0: lazy raised ZeroDivisionError: division by zero"
