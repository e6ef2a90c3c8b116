"""Inner machines: stepped first, seen by the outer guards, spent while open, and undone with the outer's refusal."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Any

import attrs
import pytest

from statecraft import (
    Answer,
    Evidence,
    Fault,
    Ignored,
    Inner,
    Refused,
    Rows,
    Step,
    Table,
    guard,
    ignore,
    inner,
    keep,
    seen,
)


class Spring(Enum):
    SLACK = auto()
    TENSE = auto()
    WORN = auto()


class Door(Enum):
    SHUT = auto()
    OPEN = auto()
    GONE = auto()


class Wear(Enum):
    TURN = "turns"


@attrs.frozen
class Push:
    force: int = 1


@attrs.frozen
class Wind:
    pass


@attrs.frozen
class Ring:
    by: str


@attrs.frozen
class Closer:
    at: Spring = Spring.SLACK
    turns: Mapping[Wear, int | None] = attrs.Factory(lambda: {Wear.TURN: 2})


@attrs.frozen
class Hall:
    at: Door = Door.SHUT
    closer: Closer | None = Closer()
    second: Closer | None = None
    pushes: int = 0


def rings(by: str) -> Any:
    def ring(run: Any, event: Any) -> tuple[Any, tuple[Ring, ...]]:
        return run, (Ring(by),)

    return ring


def gently(run: Closer, event: Push) -> Evidence:
    return seen("gently", event.force < 9, force=event.force)


def closer_at(run: Closer) -> Spring:
    return run.at


def closer_move(run: Closer, state: Spring) -> Closer:
    return attrs.evolve(run, at=state)


def closer_purse(run: Closer) -> Mapping[Wear, int | None]:
    return run.turns


def closer_pay(run: Closer, left: Mapping[Wear, int | None]) -> Closer:
    return attrs.evolve(run, turns=left)


spring = Rows[Closer, Spring, Ring]()
CLOSER = Table[Closer, Spring, Push, Ring](
    "closer",
    [
        spring(Spring.SLACK, Push, Spring.TENSE, rings("closer"), gently, asks=[Ring], spends=Wear.TURN),
        spring(Spring.SLACK, Push, Spring.WORN, rings("worn"), gently, asks=[Ring]),
        spring(Spring.TENSE, Push, Spring.SLACK, keep),
    ],
    events=[Push],
    initial=Spring.SLACK,
    final=[Spring.WORN],
    at=closer_at,
    move=closer_move,
    budgets={Wear.TURN: 2},
    purse=closer_purse,
    pay=closer_pay,
)


def the_closer(run: Hall, event: Push) -> Closer | None:
    return run.closer


def with_closer(run: Hall, event: Push, closer: Closer) -> Hall:
    return attrs.evolve(run, closer=closer)


def the_second(run: Hall, event: Push) -> Closer | None:
    return run.second


def with_second(run: Hall, event: Push, closer: Closer) -> Hall:
    return attrs.evolve(run, second=closer)


INSIDE: Inner[Hall, Door, Ring] = inner(CLOSER, during=[Door.SHUT], get=the_closer, put=with_closer)

row = Rows[Hall, Door, Ring]()


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, state: Door) -> Hall:
    return attrs.evolve(run, at=state)


def hall(*rows: Any, inners: tuple[Any, ...] = (INSIDE,)) -> Table[Hall, Door, Push | Wind, Ring]:
    """The rows, all from SHUT on `Push`, in a table that holds the inner machines."""
    return Table[Hall, Door, Push | Wind, Ring](
        "hall",
        [
            *rows,
            row(Door.OPEN, Push, Door.SHUT, keep),
            row([Door.SHUT, Door.OPEN], Wind, Door.GONE, keep),
        ],
        events=[Push, Wind],
        initial=Door.SHUT,
        final=[Door.GONE],
        at=at,
        move=move,
        inners=inners,
    )


def push(*guards: Any, effect: Any = keep, to: Door = Door.OPEN, **more: Any) -> Any:
    return row(Door.SHUT, Push, to, effect, *guards, **more)


def tense(run: Hall, event: object) -> Evidence:
    state = run.closer.at.name if run.closer else "none"
    return seen("tense", state == "TENSE", closer=state)


def taken(answer: Answer[Hall, Ring]) -> Step[Hall, Ring]:
    assert isinstance(answer, Step)
    return answer


WORN = Closer(Spring.SLACK, {Wear.TURN: 0})  # one more push and it ends


def test_the_inner_machine_is_stepped_first_and_the_outer_guards_see_it_after_its_step() -> None:
    step = taken(hall(push(tense)).step(Hall(), Push()))
    assert step.seen == (seen("tense", True, closer="TENSE"),)
    assert step.run == Hall(Door.OPEN, Closer(Spring.TENSE, {Wear.TURN: 1}))


def test_the_inner_step_is_shown_whole_under_the_outer_one() -> None:
    (inside,) = taken(hall(push()).step(Hall(), Push(3))).inside
    assert inside == Step(
        run=Closer(Spring.TENSE, {Wear.TURN: 1}),
        commands=(Ring("closer"),),
        row=0,
        seen=(seen("turns_left", True, left=2), seen("gently", True, force=3)),
        inside=(),
        machine="closer",
        source=Spring.SLACK,
        target=Spring.TENSE,
    )


def test_the_commands_of_the_inner_machine_come_first() -> None:
    step = hall(push(effect=rings("hall"), asks=[Ring])).step(Hall(), Push())
    assert step.commands == (Ring("closer"), Ring("hall"))


def test_the_row_need_not_declare_what_the_inner_machine_asks_for() -> None:
    assert hall(push()).step(Hall(), Push()).commands == (Ring("closer"),)


def test_the_effect_gets_the_run_with_the_inner_step_in_it() -> None:
    def count(run: Hall, event: Push) -> tuple[Hall, tuple[()]]:
        return attrs.evolve(run, pushes=0 if run.closer is None else run.closer.at.value), ()

    assert taken(hall(push(effect=count)).step(Hall(), Push())).run.pushes == Spring.TENSE.value


def test_when_the_outer_machine_takes_no_row_neither_step_happened() -> None:
    run = Hall()
    refused = hall(push(~guard(tense))).step(run, Push())
    assert isinstance(refused, Refused)
    assert refused.run is run
    assert run == Hall()
    assert refused.commands == ()
    assert refused.seen[0] == seen("tense", True, closer="TENSE")
    assert [inside.machine for inside in refused.inside] == ["closer"]


def test_when_the_outer_machine_is_at_fault_neither_step_happened() -> None:
    run = Hall()
    with pytest.raises(Fault, match=r"^hall row 0: ring asks for Ring, which the row does not declare$"):
        hall(push(effect=rings("hall"))).step(run, Push())
    assert run == Hall()


def fails(run: Closer, event: Push) -> tuple[Closer, tuple[Ring, ...]]:
    raise OSError("snapped")


def test_a_fault_of_the_inner_machine_names_the_inner_machine() -> None:
    weak = Table[Closer, Spring, Push, Ring](
        "weak",
        [spring(Spring.SLACK, Push, Spring.SLACK, fails)],
        events=[Push],
        initial=Spring.SLACK,
        final=[Spring.TENSE, Spring.WORN],
        at=closer_at,
        move=closer_move,
    )
    run = Hall()
    within = inner(weak, during=[Door.SHUT], get=the_closer, put=with_closer)
    with pytest.raises(Fault, match=r"^weak row 0: fails raised OSError: snapped$"):
        hall(push(), inners=(within,)).step(run, Push())
    assert run == Hall()


# Which events reach it


def test_outside_its_states_it_is_not_stepped() -> None:
    step = taken(hall(push()).step(Hall(Door.OPEN), Push()))
    assert (step.inside, step.run.closer) == ((), Closer())


def test_an_event_outside_its_alphabet_does_not_reach_it() -> None:
    step = taken(hall(push()).step(Hall(), Wind()))
    assert (step.inside, step.run.closer) == ((), Closer())


def test_where_there_is_none_nothing_is_stepped() -> None:
    assert taken(hall(push()).step(Hall(closer=None), Push())).inside == ()


def test_one_that_has_ended_is_not_stepped() -> None:
    ended = Closer(Spring.WORN)
    step = taken(hall(push()).step(Hall(closer=ended), Push()))
    assert (step.inside, step.run.closer) == ((), ended)


def test_an_event_that_the_outer_machine_ignores_does_not_reach_it() -> None:
    quiet = Table[Hall, Door, Push | Wind, Ring](
        "hall",
        [row(Door.SHUT, Wind, Door.GONE, keep), ignore([Door.SHUT], [Push], "it is dark")],
        events=[Push, Wind],
        initial=Door.SHUT,
        final=[Door.OPEN, Door.GONE],
        at=at,
        move=move,
        inners=[INSIDE],
    )
    run = Hall()
    assert quiet.step(run, Push()) == Ignored(run, "hall", Door.SHUT, "Push", "it is dark")


def test_its_refusal_is_shown_and_the_outer_machine_goes_on() -> None:
    step = taken(hall(push()).step(Hall(), Push(9)))
    assert step.run == Hall(Door.OPEN)
    assert step.commands == ()
    (inside,) = step.inside
    assert isinstance(inside, Refused)
    assert [found.name for found in inside.seen] == ["turns_left", "gently"]


def test_two_of_them_are_stepped_in_their_order() -> None:
    both = (INSIDE, inner(CLOSER, during=[Door.SHUT], get=the_second, put=with_second))
    step = taken(hall(push(), inners=both).step(Hall(closer=WORN, second=Closer()), Push()))
    assert step.commands == (Ring("worn"), Ring("closer"))
    assert (step.run.closer, step.run.second) == (
        Closer(Spring.WORN, {Wear.TURN: 0}),
        Closer(Spring.TENSE, {Wear.TURN: 1}),
    )
    assert len(step.inside) == 2


def test_a_machine_inside_a_machine_inside_a_machine_is_stepped_through_both() -> None:
    def itself(run: Hall, event: object) -> Hall:
        return run

    def stored(run: Hall, event: object, within: Hall) -> Hall:
        return within

    middle = hall(push(to=Door.SHUT))
    outer = hall(push(to=Door.SHUT), inners=(inner(middle, during=[Door.SHUT], get=itself, put=stored),))
    step = taken(outer.step(Hall(), Push()))
    (of_middle,) = step.inside
    assert isinstance(of_middle, Step)
    (of_closer,) = of_middle.inside
    assert (of_middle.machine, of_closer.machine) == ("hall", "closer")
    assert step.commands == (Ring("closer"),)


# Spending it


@pytest.mark.parametrize(
    ("closer", "force", "number"),
    [
        (Closer(), 1, 0),  # stepped, still open
        (Closer(Spring.TENSE), 1, 0),
        (WORN, 1, 1),  # ends with this step
        (Closer(Spring.WORN), 1, 1),  # has ended before
        (Closer(), 9, 1),  # open, but it took no step
        (None, 1, 1),
    ],
)
def test_a_row_that_spends_it_holds_only_while_it_is_open_after_its_step(
    closer: Closer | None, force: int, number: int
) -> None:
    table = hall(push(spends=INSIDE), push(to=Door.GONE))
    step = taken(table.step(Hall(closer=closer), Push(force)))
    assert step.row == number
    assert step.seen == (seen("closer_goes_on", number == 0),)


def test_spending_one_of_two_looks_at_that_one() -> None:
    second = inner(CLOSER, during=[Door.SHUT], get=the_second, put=with_second)
    table = hall(push(spends=second), push(to=Door.GONE), inners=(INSIDE, second))
    assert table.step(Hall(closer=WORN, second=Closer()), Push()).row == 0
    assert table.step(Hall(closer=Closer(), second=WORN), Push()).row == 1


def begins(closer: Closer | None) -> Any:
    def effect(run: Hall, event: Push) -> tuple[Hall, tuple[()]]:
        return attrs.evolve(run, closer=closer), ()

    return effect


def test_an_effect_that_begins_a_spent_inner_machine_again_is_a_fault() -> None:
    run = Hall()
    table = hall(push(effect=begins(Closer()), spends=INSIDE), push(to=Door.GONE))
    with pytest.raises(Fault, match=r"^hall row 0: effect changes the inner machine closer without refilling it$"):
        table.step(run, Push())
    assert run == Hall()


def test_a_row_that_neither_spends_nor_refills_it_must_not_begin_it_again_either() -> None:
    table = hall(push(spends=INSIDE), push(effect=begins(Closer()), to=Door.GONE))
    with pytest.raises(Fault, match=r"^hall row 1: effect changes the inner machine closer without refilling it$"):
        table.step(Hall(closer=WORN), Push())


def test_a_row_that_refills_it_may_begin_it_again() -> None:
    table = hall(push(spends=INSIDE), push(effect=begins(Closer()), to=Door.GONE, refills=[INSIDE]))
    assert taken(table.step(Hall(closer=WORN), Push())).run == Hall(Door.GONE, Closer())


def test_an_effect_may_put_a_spent_inner_machine_away() -> None:
    table = hall(push(effect=begins(None), spends=INSIDE), push(to=Door.GONE))
    assert taken(table.step(Hall(), Push())).run.closer is None


def test_what_no_row_spends_may_be_begun_again_by_any_row() -> None:
    assert taken(hall(push(effect=begins(Closer()))).step(Hall(), Push())).run.closer == Closer()
