"""What a table refuses to be, and what it tells of itself. Each rule is tried on both sides of its boundary."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any

import attrs
import pytest

from statecraft import (
    BadTable,
    Evidence,
    Inner,
    Rows,
    Table,
    guard,
    ignore,
    inner,
    keep,
    ordered,
    refuse,
    seen,
)


class Light(Enum):
    RED = auto()
    GREEN = auto()


class Lamp(Enum):
    ON = auto()
    OFF = auto()
    BROKEN = auto()


class Fuel(Enum):
    DROP = "drops"
    SPARK = "sparks"


@attrs.frozen
class Go:
    speed: int = 1


@attrs.frozen
class Halt:
    pass


@attrs.frozen
class Run:
    at: Any
    left: Mapping[Fuel, int | None] = attrs.Factory(dict[Fuel, "int | None"])


# Most tables here are wrong, and many so that a type checker would say it; so these are untyped on purpose.
row: Any = Rows[Run, Light, Any]()
lamp: Any = Rows[Run, Lamp, Any]()


def at(run: Run) -> Any:
    return run.at


def move(run: Run, state: Any) -> Run:
    return attrs.evolve(run, at=state)


def purse(run: Run) -> Mapping[Fuel, int | None]:
    return run.left


def pay(run: Run, left: Mapping[Fuel, int | None]) -> Run:
    return attrs.evolve(run, left=left)


def build(*entries: Any, **changes: Any) -> Table[Any, Any, Any, Any]:
    """A table of the entries, on `Go` alone, that starts red; a row from green to red is added unless `rest=()`."""
    rest: tuple[Any, ...] = changes.pop("rest", (row(Light.GREEN, Go, Light.RED, keep),))
    known: dict[str, Any] = {"events": [Go], "initial": Light.RED, "final": [], "at": at, "move": move}
    return Table("light", [*entries, *rest], **{**known, **changes})


def problems(*entries: Any, **changes: Any) -> list[str]:
    with pytest.raises(BadTable) as caught:
        build(*entries, **changes)
    return caught.value.problems


def only_problem(*entries: Any, **changes: Any) -> str:
    (one,) = problems(*entries, **changes)
    return one


@guard
def a(run: Run, event: Go) -> Evidence:
    return seen("a", True)


@guard
def b(run: Run, event: Go) -> Evidence:
    return seen("b", True)


def go(*guards: Any, **more: Any) -> Any:
    return row(Light.RED, Go, Light.GREEN, keep, *guards, **more)


IN_ORDER = ordered([Light.RED], [Go], "the first that holds is meant")

# States


def test_a_table_without_a_mistake_is_built() -> None:
    assert build(go()).states == (Light.RED, Light.GREEN)


def test_a_table_without_rows_is_refused() -> None:
    assert only_problem(rest=()) == "has no rows"


@pytest.mark.parametrize(
    ("entry", "where"),
    [
        (lambda: row(Lamp.ON, Go, Light.GREEN, keep), "row 0 (ON Go -> GREEN): Lamp.ON"),
        (lambda: row([Light.RED, Lamp.ON], Go, Light.GREEN, keep), "row 0 (RED|ON Go -> GREEN): Lamp.ON"),
        (lambda: row(Light.RED, Go, Lamp.ON, keep), "row 0 (RED Go -> ON): Lamp.ON"),
    ],
)
def test_a_row_with_a_state_of_another_machine_is_refused(entry: Callable[[], Any], where: str) -> None:
    assert only_problem(entry()) == f"{where} is not a state of this machine, which has RED, GREEN"


@pytest.mark.parametrize("mark", [ignore, refuse, ordered])
def test_a_mark_with_a_state_of_another_machine_is_refused(mark: Any) -> None:
    found = only_problem(go(), mark([Lamp.ON], [Go], "why not"))
    assert found == f"{mark.__name__} (ON on Go): Lamp.ON is not a state of this machine"


def test_a_final_state_of_another_machine_is_refused() -> None:
    assert only_problem(go(), final=[Lamp.ON]) == (
        "final state Lamp.ON is not a state of this machine, which has RED, GREEN"
    )


def test_a_row_without_a_source_is_refused() -> None:
    assert only_problem(go(), row([], Go, Light.GREEN, keep)) == "row 1 ( Go -> GREEN): has no source state"


def build_lamp(*entries: Any, **changes: Any) -> Table[Any, Any, Any, Any]:
    return build(*entries, **{"rest": (), "initial": Lamp.ON, "final": [Lamp.OFF], **changes})


def test_a_state_that_no_row_leaves_or_reaches_is_refused_unless_it_is_final() -> None:
    with pytest.raises(BadTable) as caught:
        build_lamp(lamp(Lamp.ON, Go, Lamp.OFF, keep))
    assert caught.value.problems[0] == "state BROKEN is unused: no row leaves or reaches it, and it is not final"
    assert build_lamp(lamp(Lamp.ON, Go, Lamp.OFF, keep), final=[Lamp.OFF, Lamp.BROKEN])


def test_a_state_that_a_row_leaves_or_reaches_is_used() -> None:
    assert build_lamp(lamp([Lamp.ON, Lamp.BROKEN], Go, Lamp.OFF, keep))
    assert build_lamp(lamp(Lamp.ON, Go, Lamp.BROKEN, keep), ignore([Lamp.BROKEN], [Go], "it is dark"), final=[Lamp.OFF])


def test_a_row_from_a_final_state_is_refused_and_one_into_it_is_not() -> None:
    assert only_problem(go(), final=[Light.GREEN]) == "row 1 (GREEN Go -> RED): leaves GREEN, which is final"
    assert build(go(), rest=(), final=[Light.GREEN])


# Events


def test_a_row_for_an_event_outside_the_alphabet_is_refused() -> None:
    outside = row(Light.RED, Halt, Light.RED, keep)
    assert only_problem(go(), outside) == "row 1 (RED Halt -> RED): Halt is not in the machine's alphabet, which is Go"
    assert build(go(), outside, ignore([Light.GREEN], [Halt], "it may go"), events=[Go, Halt])


@pytest.mark.parametrize("mark", [ignore, refuse, ordered])
def test_a_mark_for_an_event_outside_the_alphabet_is_refused(mark: Any) -> None:
    found = only_problem(go(), mark([Light.RED], [Halt], "why not"))
    assert found == f"{mark.__name__} (RED on Halt): Halt is not in the machine's alphabet"


def test_an_event_listed_twice_is_refused() -> None:
    assert "lists an event twice" in problems(go(), events=[Go, Go])


def test_two_events_of_one_name_are_refused() -> None:
    other = attrs.make_class("Go", [])
    assert only_problem(go(), events=[Go, other]) == "has two events of one name"


# Cells


def test_a_blank_cell_is_refused() -> None:
    found = only_problem(go(), events=[Go, Halt], rest=(row(Light.GREEN, Go, Light.RED, keep), _quiet_green()))
    assert found == ("cell RED on Halt is blank: add a row, or say ignore([RED], [Halt], why) or refuse(...)")


def _quiet_green() -> Any:
    return refuse([Light.GREEN], [Halt], "it may not stop")


@pytest.mark.parametrize(
    "entry",
    [
        ignore([Light.RED], [Halt], "it stands"),
        refuse([Light.RED], [Halt], "it stands"),
        row(Light.RED, Halt, Light.RED, keep),
    ],
)
def test_a_cell_that_is_handled_ignored_or_refused_is_not_blank(entry: Any) -> None:
    assert build(go(), entry, _quiet_green(), events=[Go, Halt])


def test_the_cells_of_a_final_state_are_never_blank() -> None:
    assert build(go(), rest=(), final=[Light.GREEN])
    assert "cell GREEN on Go is blank" in only_problem(go(), rest=())


# Marks


@pytest.mark.parametrize("mark", [ignore, refuse])
def test_a_mark_on_a_cell_with_a_row_is_refused(mark: Any) -> None:
    found = only_problem(go(), mark([Light.RED], [Go], "why not"))
    assert found == f"{mark.__name__} RED on Go: row 0 (RED Go -> GREEN) handles it"


@pytest.mark.parametrize("mark", [ignore, refuse])
def test_a_mark_on_a_final_state_is_refused(mark: Any) -> None:
    found = only_problem(go(), mark([Light.GREEN], [Go], "why not"), rest=(), final=[Light.GREEN])
    assert found == f"{mark.__name__} GREEN on Go: the state is final, and final states refuse everything"


def test_a_cell_is_marked_once() -> None:
    twice = (ignore([Light.RED], [Halt], "it stands"), refuse([Light.RED], [Halt], "it stands"))
    assert only_problem(go(), *twice, _quiet_green(), events=[Go, Halt]) == "refuse RED on Halt: already said by ignore"


@pytest.mark.parametrize("mark", [ignore, refuse])
def test_a_mark_says_why(mark: Any) -> None:
    entries = (go(), _quiet_green())
    assert only_problem(*entries, mark([Light.RED], [Halt], " "), events=[Go, Halt]) == (
        f"{mark.__name__} (RED on Halt): says no reason"
    )
    assert build(*entries, mark([Light.RED], [Halt], "x"), events=[Go, Halt])


# Budgets and inner machines

PAID = {"purse": purse, "pay": pay}


@pytest.mark.parametrize("declared", [{"spends": Fuel.DROP}, {"refills": [Fuel.DROP]}])
def test_a_budget_that_the_machine_does_not_have_is_refused(declared: dict[str, Any]) -> None:
    entries = (go(a, **declared), go())
    verb = next(iter(declared))
    assert only_problem(*entries) == f"row 0 (RED Go -> GREEN): {verb} drops, which the machine does not have"
    assert only_problem(*entries, budgets={Fuel.SPARK: 1}, **PAID).endswith("drops, which the machine does not have")
    assert build(*entries, budgets={Fuel.DROP: 1}, **PAID)


@pytest.mark.parametrize("given", [{}, {"purse": purse}, {"pay": pay}])
def test_budgets_without_a_purse_to_pay_from_are_refused(given: dict[str, Any]) -> None:
    found = only_problem(go(), budgets={Fuel.DROP: 1}, **given)
    assert found == "has budgets, but no purse to pay from: give both `purse` and `pay`"


def the_lamp(run: Run, event: Go) -> Run:
    return run


def with_lamp(run: Run, event: Go, lamp: Run) -> Run:
    return run


def held() -> Inner[Any, Any, Any]:
    kid = Table(
        "lamp",
        [lamp(Lamp.ON, Go, Lamp.OFF, keep)],
        events=[Go],
        initial=Lamp.ON,
        final=[Lamp.OFF, Lamp.BROKEN],
        at=at,
        move=move,
    )
    return inner(kid, during=[Light.RED], get=the_lamp, put=with_lamp)


@pytest.mark.parametrize("verb", ["spends", "refills"])
def test_an_inner_machine_that_the_machine_does_not_have_is_refused(verb: str) -> None:
    mine, other = held(), held()
    entries = (go(a, **{verb: mine if verb == "spends" else [mine]}), go())
    for inners in ([], [other]):
        assert only_problem(*entries, inners=inners) == (
            f"row 0 (RED Go -> GREEN): {verb} the inner machine lamp, which the machine does not have"
        )
    assert build(*entries, inners=[mine])


# All at once, and what a table tells of itself


def test_every_problem_is_named_at_once_with_the_name_of_the_table() -> None:
    with pytest.raises(BadTable) as caught:
        build(go(), go(a, spends=Fuel.DROP), final=[Light.GREEN])
    assert str(caught.value).splitlines() == [
        "table light: row 1 (RED Go -> GREEN): spends drops, which the machine does not have",
        "table light: row 2 (GREEN Go -> RED): leaves GREEN, which is final",
        "table light: row 1 (RED Go -> GREEN) is shadowed: row 0 before it has no guard",
    ]
    assert [f"table light: {problem}" for problem in caught.value.problems] == str(caught.value).splitlines()


def test_rows_are_numbered_in_the_order_in_which_they_are_tried() -> None:
    made = build(go(a, b), [go(a)], IN_ORDER, (go(guards) for guards in (b,)), go())
    assert [str(one) for one in made.rows] == ["RED Go -> GREEN"] * 4 + ["GREEN Go -> RED"]
    assert made.cell(Light.RED, Go) == (0, 1, 2, 3)
    assert made.cell(Light.GREEN, Go) == (4,)
    assert made.cell(Light.RED, Halt) == ()
    assert made.cell_of(Light.RED, Go) == "Go"
    assert made.cell_of(Light.RED, Halt) is None


def sparks(run: Run) -> int | None:
    return 7 if run.at is Light.RED else None


def test_the_purse_can_be_asked_for() -> None:
    made = build(go(), budgets={Fuel.DROP: 3, Fuel.SPARK: sparks}, **PAID)
    assert made.full(Run(Light.RED)) == {Fuel.DROP: 3, Fuel.SPARK: 7}
    assert made.full(Run(Light.GREEN)) == {Fuel.DROP: 3, Fuel.SPARK: None}
    assert made.left(Run(Light.RED, {Fuel.DROP: 2})) == {Fuel.DROP: 2}
    assert build(go()).left(Run(Light.RED)) == {}


def other_keep(run: Run, event: Go) -> tuple[Run, tuple[()]]:
    return run, ()


def test_the_digest_is_that_of_the_names() -> None:
    plain = build(go(a), go())
    assert plain.digest == build(go(a), go()).digest
    changed = [
        build(go(b), go()),
        build(go(a), row(Light.RED, Go, Light.RED, keep)),
        build(row(Light.RED, Go, Light.GREEN, other_keep, a), go()),
        build(go(a, asks=[Halt]), go()),
        build(go(a), go(), budgets={Fuel.DROP: 1}, **PAID),
        build(go(a), go(), budgets={Fuel.DROP: 2}, **PAID),
        build(go(a, refills=[Fuel.DROP]), go(), budgets={Fuel.DROP: 1}, **PAID),
        build(go(a), go(), inners=[held()]),
        build(go(a), go(), initial=Light.GREEN),
        build(go(a), go(), _quiet_green(), ignore([Light.RED], [Halt], "x"), events=[Go, Halt]),
        build(go(a), go(), rest=(), final=[Light.GREEN]),
    ]
    assert len({plain.digest, *(one.digest for one in changed)}) == len(changed) + 1


def test_the_digest_does_not_change_with_the_body_of_a_guard() -> None:
    def again(run: Run, event: Go) -> Evidence:
        return seen("again", False)

    again.__name__ = "a"
    assert build(go(again), go()).digest == build(go(a), go()).digest


def test_a_table_shows_its_name_and_its_size() -> None:
    assert repr(build(go())) == "<table light: 2 states, 2 rows>"
