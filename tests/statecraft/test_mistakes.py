"""What is said of a table whose parts are not what belongs there: where it is, what was found, what was expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, StrEnum, auto
from typing import Any, Union

import attrs
import pytest

import statecraft
from statecraft import BadTable, Evidence, Rows, Table, keep, ordered, refuse, seen


class Light(Enum):
    RED = auto()
    GREEN = auto()


class Fuel(StrEnum):
    DROP = "drops"


@attrs.frozen
class Go:
    speed: int = 1


@attrs.frozen
class Halt:
    pass


@attrs.frozen
class Ring:
    pass


@attrs.frozen
class Chime:
    pass


@attrs.frozen
class Run:
    at: Light
    left: Mapping[Fuel, int | None] = attrs.Factory(dict[Fuel, "int | None"])


# Every table here is wrong, and a type checker would say so; so these are untyped.
row: Any = Rows[Run, Light, Any]()
ignore: Any = statecraft.ignore
inner: Any = statecraft.inner
mark_of: Mapping[str, Any] = {"ignore": ignore, "refuse": refuse, "ordered": ordered}


def strong(run: Run, event: Go) -> Evidence:
    return seen("strong", event.speed > 1, speed=event.speed)


def go(**more: Any) -> Any:
    return row(Light.RED, Go, Light.GREEN, keep, strong, **more)


def at(run: Run) -> Light:
    return run.at


def move(run: Run, state: Light) -> Run:
    return attrs.evolve(run, at=state)


def purse(run: Run) -> Mapping[Fuel, int | None]:
    return run.left


def pay(run: Run, left: Mapping[Fuel, int | None]) -> Run:
    return attrs.evolve(run, left=left)


def build(*entries: Any, **changes: Any) -> Table[Any, Any, Any, Any]:
    """A table that is in order but for the entries and the changes."""
    rest = (row(Light.RED, Go, Light.RED, keep), row(Light.GREEN, Go, Light.RED, keep))
    given: dict[str, Any] = {
        "name": "light",
        "rows": [*entries, *rest],
        "events": [Go],
        "initial": Light.RED,
        "final": [],
        "at": at,
        "move": move,
        "budgets": {Fuel.DROP: 1},
        "purse": purse,
        "pay": pay,
    }
    return Table(**{**given, **changes})


def problems(*entries: Any, **changes: Any) -> list[str]:
    with pytest.raises(BadTable) as caught:
        build(*entries, **changes)
    return caught.value.problems


def only_problem(*entries: Any, **changes: Any) -> str:
    (one,) = problems(*entries, **changes)
    return one


def test_what_is_changed_here_is_in_order_before() -> None:
    assert build(go(asks=[Ring], spends=Fuel.DROP, refills=[Fuel.DROP])).rows[0].wrong == ()


# Rows

COMMANDS = "a list of classes of commands"
PAYABLE = "one budget or inner machine"


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"asks": Ring}, f"asks: found the class Ring, expected {COMMANDS}: [Ring]"),
        ({"asks": Ring | Chime}, f"asks: found Ring | Chime, expected {COMMANDS}: [Ring, Chime]"),
        ({"asks": Union[Ring, Chime]}, f"asks: found Ring | Chime, expected {COMMANDS}: [Ring, Chime]"),  # noqa: UP007
        ({"asks": "Ring"}, f"asks: found the text 'Ring', expected {COMMANDS}"),
        ({"asks": "x" * 41}, f"asks: found the text '{'x' * 40}'..., expected {COMMANDS}"),
        ({"asks": None}, f"asks: found None, expected {COMMANDS}"),
        ({"asks": 7}, f"asks: found the number 7, expected {COMMANDS}"),
        ({"asks": [Chime, Ring()]}, "asks: found an instance of Ring, expected the class of a command"),
        ({"asks": [[Ring]]}, "asks: found a list, expected the class of a command"),
        ({"spends": [Fuel.DROP]}, f"spends: found a list, expected {PAYABLE}"),
        ({"spends": "drops"}, f"spends: found the text 'drops', expected {PAYABLE}"),
        ({"spends": Fuel}, f"spends: found the class Fuel, expected {PAYABLE}, as Fuel.DROP"),
        ({"spends": Go}, f"spends: found the class Go, expected {PAYABLE}"),
        (
            {"refills": Fuel.DROP},
            "refills: found Fuel.DROP, expected a list of budgets and inner machines: [Fuel.DROP]",
        ),
        ({"refills": "drops"}, "refills: found the text 'drops', expected a list of budgets and inner machines"),
        ({"refills": ["drops"]}, f"refills: found the text 'drops', expected {PAYABLE}"),
        ({"refills": [dict[str, int]()]}, f"refills: found a dict, expected {PAYABLE}"),
    ],
)
def test_what_a_row_declares_in_another_form_is_named_with_its_row(declared: dict[str, Any], message: str) -> None:
    assert only_problem(go(**declared)) == f"row 0 (RED Go -> GREEN): {message}"


@pytest.mark.parametrize("form", [list, tuple, set, frozenset, iter])
def test_what_a_row_declares_may_be_a_list_of_any_kind(form: Callable[[Any], Any]) -> None:
    made = build(go(asks=form([Ring, Chime]), refills=form([Fuel.DROP]))).rows[0]
    assert made.asks == {Ring, Chime}
    assert made.refills == {Fuel.DROP}


def test_all_budgets_may_be_refilled_by_their_enum() -> None:
    assert build(go(refills=Fuel)).rows[0].refills == {Fuel.DROP}


@pytest.mark.parametrize(
    ("source", "shown", "messages"),
    [
        ("RED", "RED", ["source: found the text 'RED', expected a state: Light.RED"]),
        ("1", "1", ["source: found the text '1', expected a state"]),
        (None, "NoneType", ["source: found None, expected a state"]),
        ([Light.RED, "GREEN"], "RED|GREEN", ["source: found the text 'GREEN', expected a state: Light.GREEN"]),
        ([[Light.RED]], "list", ["source: found a list, expected a state"]),
        ((2, None), "int|NoneType", [f"source: found {one}, expected a state" for one in ("the number 2", "None")]),
    ],
)
def test_a_source_that_is_no_state_is_named_with_its_row(source: Any, shown: str, messages: list[str]) -> None:
    found = problems(row(source, Go, Light.GREEN, keep, strong))
    assert found == [f"row 0 ({shown} Go -> GREEN): {message}" for message in messages]


def test_a_state_is_known_by_its_value_too() -> None:
    class Lamp(Enum):
        ON = "it is on"

    found = only_problem(rows=[row("it is on", Go, Lamp.ON, keep)], initial=Lamp.ON)
    assert found == "row 0 (it is on Go -> ON): source: found the text 'it is on', expected a state: Lamp.ON"


def test_a_target_that_is_no_state_is_named_with_its_row() -> None:
    found = only_problem(row(Light.RED, Go, "GREEN", keep, strong))
    assert found == "row 0 (RED Go -> GREEN): target: found the text 'GREEN', expected a state: Light.GREEN"
    found = only_problem(row(Light.RED, Go, Light, keep, strong))
    assert found == "row 0 (RED Go -> Light): target: found the class Light, expected a state, as Light.RED"


@pytest.mark.parametrize(
    ("event", "shown", "found"),
    [
        (Go(), "Go", "an instance of Go"),
        ("Go", "Go", "the text 'Go'"),
        ([Go], "list", "a list"),
        (Go | Halt, "Go | Halt", "Go | Halt"),
        (None, "NoneType", "None"),
        (strong, "strong", "the function strong"),
    ],
)
def test_an_event_that_is_no_class_is_named_with_its_row(event: Any, shown: str, found: str) -> None:
    message = f"event: found {found}, expected the class of one event"
    assert only_problem(row(Light.RED, event, Light.GREEN, keep, strong)) == f"row 0 (RED {shown} -> GREEN): {message}"


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (Light.RED, "states: found Light.RED, expected a list of states: [Light.RED]"),
        (["RED"], "source: found the text 'RED', expected a state: Light.RED"),
        ("RED", "states: found the text 'RED', expected a list of states"),
        (7, "states: found the number 7, expected a list of states"),
    ],
)
def test_rows_that_stay_take_a_list_of_states(states: Any, message: str) -> None:
    where = "row 0 (int Go -> int)" if states == 7 else "row 0 (RED Go -> RED)"
    assert f"{where}: {message}" in problems(row.stay(states, Go, keep, strong))
    assert build(row.stay([Light.RED], Go, keep, strong))


# Marks

EVENTS = "a list of classes of events"


@pytest.mark.parametrize("how", mark_of)
@pytest.mark.parametrize(
    ("states", "events", "why", "where", "message"),
    [
        (Light.RED, [Go], "x", "RED on Go", "states: found Light.RED, expected a list of states: [Light.RED]"),
        ("RED", [Go], "x", " on Go", "states: found the text 'RED', expected a list of states"),
        (["RED"], [Go], "x", " on Go", "states: found the text 'RED', expected a state"),
        ([Light.RED], Go, "x", "RED on Go", f"events: found the class Go, expected {EVENTS}: [Go]"),
        ([Light.RED], Go | Halt, "x", "RED on Go, Halt", f"events: found Go | Halt, expected {EVENTS}: [Go, Halt]"),
        ([Light.RED], [Go()], "x", "RED on ", "events: found an instance of Go, expected the class of one event"),
        ([Light.RED], [Go, "Halt"], "x", "RED on Go", "events: found the text 'Halt', expected the class of one event"),
        ([Light.RED], [Go], None, "RED on Go", "why: found None, expected text"),
        ([Light.RED], [Go], ["x"], "RED on Go", "why: found a list, expected text"),
    ],
)
def test_a_mark_in_another_form_is_named(
    how: str, states: Any, events: Any, why: Any, where: str, message: str
) -> None:
    assert only_problem(mark_of[how](states, events, why)) == f"{how} ({where}): {message}"


# Tables

FORM = "letters, digits, '_', '-' and '.', of which the last two do not come first"


@pytest.mark.parametrize(
    ("name", "called", "found"),
    [
        ("", "''", "the text ''"),
        ("my/machine", "my/machine", "the text 'my/machine'"),
        ("two words", "two words", "the text 'two words'"),
        (".hidden", ".hidden", "the text '.hidden'"),
        ("-x", "-x", "the text '-x'"),
        ("..", "..", "the text '..'"),
        ("a\n", "a\n", "the text 'a\\n'"),
        ("a\\b", "a\\b", "the text 'a\\\\b'"),
        ("größe", "größe", "the text 'größe'"),
        (None, "None", "None"),
        (7, "7", "the number 7"),
    ],
)
def test_a_name_that_cannot_be_a_files_is_refused(name: Any, called: str, found: str) -> None:
    with pytest.raises(BadTable) as caught:
        build(go(), name=name)
    assert str(caught.value) == f"table {called}: its name is {found}, which cannot be a file's; expected {FORM}"


@pytest.mark.parametrize("name", ["a", "_", "7", "tool_call", "v1.2-x", "a..", "Hall"])
def test_a_name_that_can_be_a_files_is_taken(name: str) -> None:
    assert build(go(), name=name).name == name


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"final": Light.RED}, "final: found Light.RED, expected a list of states: [Light.RED]"),
        ({"final": None}, "final: found None, expected a list of states"),
        ({"final": ["RED"]}, "final: found the text 'RED', expected a state"),
        ({"final": [[Light.RED]]}, "final: found a list, expected a state"),
        ({"events": Go}, "events: found the class Go, expected a list of classes of events: [Go]"),
        ({"events": Go | Halt}, "events: found Go | Halt, expected a list of classes of events: [Go, Halt]"),
        ({"events": [Go, Halt()]}, "events: found an instance of Halt, expected the class of one event"),
        ({"initial": "RED"}, "initial: found the text 'RED', expected a state"),
        ({"initial": Light}, "initial: found the class Light, expected a state, as Light.RED"),
        ({"rows": None}, "rows: found None, expected a list of rows"),
        ({"rows": go()}, "rows: found an instance of Row, expected a list of rows"),
        ({"rows": ["row"]}, "rows: found the text 'row', expected a list of rows"),
        ({"rows": [strong]}, "rows: found the function strong, expected a list of rows"),
        ({"rows": [[go(), strong]]}, "rows: found the function strong, expected a row"),
        ({"rows": [[go(), ignore([Light.RED], [Go], "x")]]}, "rows: found an instance of Mark, expected a row"),
        (
            {"budgets": [Fuel.DROP]},
            "budgets: found a list, expected a mapping of the members of an Enum to their sizes",
        ),
        ({"budgets": {"drops": 1}}, "budgets: found the text 'drops' as a key, expected a member of an Enum"),
        ({"budgets": {Fuel: 1}}, "budgets: found the class Fuel as a key, expected a member of an Enum"),
    ],
)
def test_what_a_table_is_given_in_another_form_is_named(changes: dict[str, Any], message: str) -> None:
    assert only_problem(go(), **changes) == message


@pytest.mark.parametrize(
    ("size", "found"), [("1", "the text '1'"), (1.0, "the number 1.0"), (True, "True"), ([1], "a list")]
)
def test_a_size_that_is_no_size_is_refused(size: Any, found: str) -> None:
    said = only_problem(go(), budgets={Fuel.DROP: size})
    assert said == f"budget drops: found {found}, expected an integer, a function of the run, or None"


@pytest.mark.parametrize("size", [0, 1, None, len])
def test_a_size_is_an_integer_a_function_or_none(size: Any) -> None:
    assert build(go(), budgets={Fuel.DROP: size}).budgets == {Fuel.DROP: size}


# Inner machines


def test_an_inner_machine_in_another_form_is_named() -> None:
    kid = build(go(), name="kid")
    lone = inner(kid, during=Light.RED, get=max, put=max)
    said = "inner machine kid: during: found Light.RED, expected a list of states: [Light.RED]"
    assert only_problem(go(), inners=[lone]) == said
    assert problems(go(), inners=lone) == [
        "inners: found an instance of Inner, expected a list of inner machines",
        said,
    ]
    expected = "an inner machine, made by inner(...)"
    assert only_problem(go(), inners=[kid]) == f"inners: found an instance of Table, expected {expected}"
    with pytest.raises(TypeError, match=r"^inner: found the class Light, expected a table$"):
        inner(Light, during=[], get=max, put=max)


# All at once


def test_every_mistake_is_named_at_once_and_no_rule_is_tried_before_they_are_mended() -> None:
    rows = [go(asks=Ring), row("RED", Go, Light.GREEN, keep), row(Light.RED, Go(), Light.GREEN, keep)]
    assert problems(*rows, ignore(Light.RED, [Go], "x"), final=Light.GREEN, name="") == [
        "final: found Light.GREEN, expected a list of states: [Light.GREEN]",
        f"its name is the text '', which cannot be a file's; expected {FORM}",
        "row 0 (RED Go -> GREEN): asks: found the class Ring, expected a list of classes of commands: [Ring]",
        "row 1 (RED Go -> GREEN): source: found the text 'RED', expected a state: Light.RED",
        "row 2 (RED Go -> GREEN): event: found an instance of Go, expected the class of one event",
        "ignore (RED on Go): states: found Light.RED, expected a list of states: [Light.RED]",
    ]
