"""One transition by one call: what it gives back, and what it says when the table does something else."""

from __future__ import annotations

import traceback
from enum import Enum, auto
from typing import Any

import attrs
import pytest

from statecraft import Evidence, Fault, Rows, Table, ignore, inner, keep, refuse, seen
from statecraft.testing import step_one, told


class Spring(Enum):
    SLACK = auto()
    WORN = auto()


class Door(Enum):
    SHUT = auto()
    OPEN = auto()
    GONE = auto()


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
class Letter:
    text: str


@attrs.frozen
class Ring:
    times: int = 1


@attrs.frozen
class Squeak:
    pass


Command = Ring | Squeak


@attrs.frozen
class Closer:
    at: Spring = Spring.SLACK


@attrs.frozen
class Hall:
    at: Door = Door.SHUT
    closer: Closer = Closer()


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.force >= 3, force=event.force, needed=3)


def sober(run: Hall, event: Push) -> Evidence:
    return seen("sober", event.force < 9)


def swing(run: Hall, event: Push) -> tuple[Hall, tuple[Command, ...]]:
    return run, (Ring(event.force), Squeak())


def closer_at(run: Closer) -> Spring:
    return run.at


def closer_move(run: Closer, state: Spring) -> Closer:
    return Closer(state)


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, state: Door) -> Hall:
    return attrs.evolve(run, at=state)


def the_closer(run: Hall, event: Push) -> Closer:
    return run.closer


def with_closer(run: Hall, event: Push, closer: Closer) -> Hall:
    return attrs.evolve(run, closer=closer)


CLOSER = Table[Closer, Spring, Push, Command](
    "closer",
    [Rows[Closer, Spring, Command]()(Spring.SLACK, Push, Spring.WORN, keep)],
    events=[Push],
    initial=Spring.SLACK,
    final=[Spring.WORN],
    at=closer_at,
    move=closer_move,
)
row = Rows[Hall, Door, Command]()
HALL = Table[Hall, Door, Push | Wind | Turn, Command](
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, swing, strong, sober, asks=[Ring, Squeak]),
        row(Door.OPEN, Push, Door.SHUT, keep),
        ignore([Door.SHUT, Door.OPEN], [Wind], "nobody feels it"),
        refuse([Door.SHUT, Door.OPEN], [Turn], "there is no key"),
    ],
    events=[Push, Wind, Turn],
    initial=Door.SHUT,
    final=[Door.GONE],
    at=at,
    move=move,
    inners=[inner(CLOSER, during=[Door.SHUT], get=the_closer, put=with_closer)],
)


def said(*args: Any, **expected: Any) -> str:
    with pytest.raises(AssertionError) as caught:
        step_one(*args, **expected)
    return str(caught.value)


def test_the_step_comes_back() -> None:
    assert step_one(HALL, Hall(), Push(3)) == HALL.step(Hall(), Push(3))


def test_what_is_expected_of_the_step_may_be_said() -> None:
    step_one(HALL, Hall(), Push(3), row=0, target=Door.OPEN, commands=[Ring(3), Squeak()])
    step_one(HALL, Hall(), Push(3), commands=[Ring, Squeak])
    step_one(HALL, Hall(Door.OPEN), Push(3), row=1, target=Door.SHUT, commands=[])


def test_a_refusal_is_told_with_a_line_for_each_guard_and_its_values() -> None:
    assert said(HALL, Hall(), Push(2)).splitlines() == [
        "expected a step",
        "hall, SHUT on Push(force=2): refused",
        "  first, inside, undone as no row was taken:",
        "    closer, SLACK on Push: row 0 was taken, to WORN",
        "      row 0: SLACK Push -> WORN: taken",
        "  row 0: SHUT Push -> OPEN: no, because of strong",
        "    no  strong: force=2, needed=3",
        "    -   sober: not asked",
    ]


def test_a_guard_that_held_before_the_no_is_told_too() -> None:
    assert said(HALL, Hall(closer=Closer(Spring.WORN)), Push(9)).splitlines()[3:] == [
        "    yes strong: force=9, needed=3",
        "    no  sober",
    ]


def test_a_refusal_by_the_table_is_told_with_its_reason() -> None:
    assert said(HALL, Hall(), Turn()) == "expected a step\nhall, SHUT on Turn(): refused: there is no key"


def test_what_is_ignored_is_told_with_its_reason() -> None:
    assert said(HALL, Hall(), Wind()) == "expected a step\nhall, SHUT on Wind(): ignored: nobody feels it"


def test_what_is_unhandled_is_told_with_the_alphabet() -> None:
    assert said(HALL, Hall(), Letter("hi")) == (
        "expected a step\nhall, SHUT on Letter(text='hi'): fault: "
        "Letter is not in the machine's alphabet, which is Push, Wind, Turn"
    )


def test_another_row_is_told_with_both_numbers() -> None:
    text = said(HALL, Hall(), Push(3), row=1)
    assert text.startswith("expected row 1, found row 0\nhall, SHUT on Push(force=3): row 0 was taken, to OPEN")
    assert "yes strong: force=3, needed=3" in text


def test_another_target_is_told_with_both_states() -> None:
    assert said(HALL, Hall(), Push(3), target=Door.SHUT).startswith("expected target SHUT, found OPEN\n")


@pytest.mark.parametrize(
    ("commands", "shown"),
    [
        ([], "[]"),
        ([Ring(3)], "[Ring(times=3)]"),
        ([Ring(4), Squeak()], "[Ring(times=4), Squeak()]"),
        ([Squeak(), Ring(3)], "[Squeak(), Ring(times=3)]"),
        ([Ring], "[Ring]"),
        ([Squeak, Ring], "[Squeak, Ring]"),
        ([Ring, Squeak, Squeak], "[Ring, Squeak, Squeak]"),
        ([object, Squeak], "[object, Squeak]"),
    ],
)
def test_other_commands_are_told_with_both_lists(commands: list[object], shown: str) -> None:
    first = said(HALL, Hall(), Push(3), commands=commands).splitlines()[0]
    assert first == f"expected commands {shown}, found [Ring(times=3), Squeak()]"


def test_a_fault_of_the_machine_comes_through() -> None:
    weightless: Any = None
    with pytest.raises(Fault, match=r"^hall row 0: strong raised TypeError"):
        step_one(HALL, Hall(), Push(weightless))


def faulted(run: Hall, event: Any, table: Any = HALL) -> Fault:
    with pytest.raises(Fault) as caught:
        step_one(table, run, event)
    return caught.value


def frames(error: BaseException | None) -> list[str]:
    """The functions of an error's traceback, from the outside in."""
    return [one.name for one in traceback.extract_tb(error.__traceback__ if error else None)]


def brittle(run: Hall, event: Push) -> Evidence:
    return seen("brittle", 1 // (event.force - 5) > 0)


def slip(run: Hall, event: Push) -> tuple[Hall, tuple[Command, ...]]:
    return run, (Ring(1 // (event.force - 5)),)


def build(*guards: Any, effect: Any = keep, at: Any = at, inners: Any = ()) -> Any:
    return Table[Any, Any, Any, Any](
        "hall",
        [row(Door.SHUT, Push, Door.OPEN, effect, *guards, asks=[Ring])],
        events=[Push],
        initial=Door.SHUT,
        final=[Door.OPEN, Door.GONE],
        at=at,
        move=move,
        inners=inners,
    )


def test_a_fault_carries_what_was_heard_before_it() -> None:
    fault = faulted(Hall(), Push(5), build(strong, brittle))
    assert str(fault) == "hall row 0: brittle raised ZeroDivisionError: integer division or modulo by zero"
    assert fault.__notes__ == [
        "hall, SHUT on Push(force=5): fault: brittle raised ZeroDivisionError: integer division or modulo by zero",
        "  row 0: SHUT Push -> OPEN: fault",
        "    yes strong: force=5, needed=3",
        "    -   brittle: not asked",
    ]


@pytest.mark.parametrize("table", [build(brittle), build(effect=slip)])
def test_of_a_faults_frames_those_of_the_guard_or_effect_are_left(table: Any) -> None:
    fault = faulted(Hall(), Push(5), table)
    assert frames(fault) == ["faulted", "step_one"]  # pytest hides the second
    assert frames(fault.__cause__) in (["brittle"], ["slip"])
    assert fault.__suppress_context__


def test_a_fault_that_nothing_raised_has_no_cause() -> None:
    fault = faulted(Hall(), Push(), build(says_true))
    assert (fault.__cause__, fault.__context__) == (None, None)
    assert fault.__notes__[0].startswith(
        "hall, SHUT on Push(force=1): fault: says_true answered bool, expected Evidence"
    )


def says_true(run: Hall, event: Push) -> Any:
    return True


def test_a_fault_inside_carries_what_the_inner_machine_heard() -> None:
    kid = Table[Closer, Spring, Push, Command](
        "closer",
        [Rows[Closer, Spring, Command]()(Spring.SLACK, Push, Spring.WORN, keep, springy, brittle_spring)],
        events=[Push],
        initial=Spring.SLACK,
        final=[Spring.WORN],
        at=closer_at,
        move=closer_move,
    )
    fault = faulted(Hall(), Push(5), build(inners=[inner(kid, during=[Door.SHUT], get=the_closer, put=with_closer)]))
    assert fault.machine == "closer"
    assert fault.__notes__[1:3] == ["  row 0: SLACK Push -> WORN: fault", "    yes springy: force=5"]


def springy(run: Closer, event: Push) -> Evidence:
    return seen("springy", True, force=event.force)


def brittle_spring(run: Closer, event: Push) -> Evidence:
    raise OSError("it snapped")


def nowhere(run: Hall) -> Door:
    raise LookupError("no door")


def test_a_fault_that_cannot_be_told_comes_through_all_the_same() -> None:
    fault = faulted(Hall(), Push(), build(at=nowhere))
    assert str(fault).endswith("raised LookupError: no door")
    assert not hasattr(fault, "__notes__")
    assert frames(fault.__cause__) == ["nowhere"]


def test_a_long_event_is_cut() -> None:
    letter: Any = Letter("x" * 1000)
    (line,) = told(HALL, letter, HALL.step(Hall(), letter))
    assert 300 < len(line) < 420
