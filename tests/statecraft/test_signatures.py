"""What the table asks of the signature of a guard, a reading and an effect: it takes the run and the row's event."""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

import attrs
import pytest

from statecraft import BadTable, Evidence, Level, Reading, Rows, Table, guard, keep, reaches, seen, value_is


class Light(Enum):
    RED = auto()
    GREEN = auto()


@attrs.frozen
class Go:
    pass


@attrs.frozen
class Loud(Go):
    pass


@attrs.frozen
class Halt:
    pass


@attrs.frozen
class Run:
    at: Light


# Guards here are wrong on purpose, so that a type checker would say it; so they are untyped.
row: Any = Rows[Run, Light, Any]()


def at(run: Run) -> Light:
    return run.at


def move(run: Run, state: Light) -> Run:
    return Run(state)


def build(tested: Any) -> Table[Any, Any, Any, Any]:
    """The row in a table in which all else is in order."""
    events = [tested.event, *(kind for kind in (Go, Halt) if kind is not tested.event)]
    others = (row(Light, kind, Light.RED, keep) for kind in events[1:])
    rest = (row(Light.RED, tested.event, Light.RED, keep), row(Light.GREEN, tested.event, Light.RED, keep))
    return Table[Run, Light, Any, Any](
        "light", [tested, *rest, *others], events=events, initial=Light.RED, final=[], at=at, move=move
    )


def problem(tested: Any) -> str:
    with pytest.raises(BadTable) as caught:
        build(tested)
    (one,) = caught.value.problems
    return one


def go(question: Any) -> Any:
    return row(Light.RED, Go, Light.GREEN, keep, question)


def a(run: Run, event: Go) -> Evidence:
    return seen("a", True)


def takes_go(run: Run, event: Go) -> Evidence:
    return seen("takes_go", True)


def takes_halt(run: Run, event: Halt) -> Evidence:
    return seen("takes_halt", True)


def takes_either(run: Run, event: Halt | Go) -> Evidence:
    return seen("takes_either", True)


def takes_anything(run: Run, event: object) -> Evidence:
    return seen("takes_anything", True)


def takes_base(run: Run, event: Go, extra: int = 0) -> Evidence:
    return seen("takes_base", True)


def takes_untold(run, event):  # type: ignore[no-untyped-def]  # this is what it tests
    return seen("takes_untold", True)


def takes_run(run: Run) -> Evidence:
    return seen("takes_run", True)


def takes_three(run: Run, event: Go, more: int) -> Evidence:
    return seen("takes_three", True)


def takes_named(run: Run, *, event: Go) -> Evidence:
    return seen("takes_named", True)


def takes_all(*both: Any) -> Evidence:
    return seen("takes_all", True)


def reads_halt(run: Run, event: Halt) -> Reading:
    return Reading("reads_halt", 0, 1, 2, 3)


def effect_on_halt(run: Run, event: Halt) -> tuple[Run, tuple[()]]:
    return run, ()


class Asks:
    """A guard that is an object."""

    def __call__(self, run: Run, event: Halt) -> Evidence:  # noqa: ARG002  # a guard need not use both
        return seen("asks", True)


ON_GO: Any = guard(a)
ON_HALT: Any = guard(takes_halt)


@pytest.mark.parametrize(
    "name", ["takes_go", "takes_either", "takes_anything", "takes_base", "takes_untold", "takes_all"]
)
def test_a_guard_that_takes_the_event_is_built(name: str) -> None:
    fits: Any = globals()[name]
    assert build(go(fits))
    assert build(go(~guard(fits)))


def test_a_guard_that_takes_the_base_of_the_event_is_built() -> None:
    assert build(row(Light.RED, Loud, Light.GREEN, keep, takes_go))


@pytest.mark.parametrize(
    "question",
    [
        takes_halt,
        ON_HALT,
        ~ON_HALT,
        ON_GO & takes_halt,
        ON_GO | ~ON_HALT,
    ],
)
def test_a_guard_that_takes_another_event_is_refused_however_it_is_wrapped(question: Any) -> None:
    assert problem(go(question)) == "row 0 (RED Go -> GREEN): takes_halt takes Halt, expected Go"
    assert build(row(Light.RED, Halt, Light.GREEN, keep, takes_halt))


def test_a_guard_that_is_an_object_is_looked_at_too() -> None:
    assert problem(go(Asks())) == "row 0 (RED Go -> GREEN): Asks takes Halt, expected Go"
    assert build(row(Light.RED, Halt, Light.GREEN, keep, Asks()))


def test_a_reading_that_takes_another_event_is_refused() -> None:
    reading: Any = reaches(reads_halt, Level.STOP)
    assert problem(go(reading)) == "row 0 (RED Go -> GREEN): reads_halt takes Halt, expected Go"
    assert build(row(Light.RED, Halt, Light.GREEN, keep, reading))


def test_what_is_asked_for_a_value_is_held_to_the_event() -> None:
    def light(run: Run, event: Halt) -> Light:
        return run.at

    red: Any = value_is("red", "light", light, Light.RED)
    assert problem(go(red)) == "row 0 (RED Go -> GREEN): red takes Halt, expected Go"
    assert build(row(Light.RED, Halt, Light.GREEN, keep, red))


@pytest.mark.parametrize(
    ("wrong", "name", "signature"),
    [
        (takes_run, "takes_run", "(run: 'Run')"),
        (takes_three, "takes_three", "(run: 'Run', event: 'Go', more: 'int')"),
        (takes_named, "takes_named", "(run: 'Run', *, event: 'Go')"),
    ],
)
def test_a_guard_that_cannot_be_called_with_run_and_event_is_refused(wrong: Any, name: str, signature: str) -> None:
    assert problem(go(wrong)) == (
        f"row 0 (RED Go -> GREEN): {name} takes {signature} -> 'Evidence', expected (run, event)"
    )


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (7, "the number 7"),
        (None, "None"),
        ([a], "a list"),
        ("a", "the text 'a'"),
        (a(Run(Light.RED), Go()), "an instance of Evidence"),
    ],
)
def test_what_is_no_function_is_refused(wrong: Any, found: str) -> None:
    said = f"row 0 (RED Go -> GREEN): found {found}, expected a function of (run, event)"
    assert problem(go(wrong)) == said
    assert problem(row(Light.RED, Go, Light.GREEN, wrong, a)) == said


def test_an_effect_that_takes_another_event_is_refused() -> None:
    found = problem(row(Light.RED, Go, Light.GREEN, effect_on_halt, a))
    assert found == "row 0 (RED Go -> GREEN): effect_on_halt takes Halt, expected Go"
    assert build(row(Light.RED, Halt, Light.GREEN, effect_on_halt, takes_halt))
