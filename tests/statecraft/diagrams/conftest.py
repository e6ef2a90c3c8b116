"""A door and a lift, drawn by the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import Enum, auto
from typing import Any

import hypothesis.strategies as st
import pytest
from attrs import evolve, frozen

from statecraft import Evidence, Inner, Rows, Table, guard, ignore, inner, keep, ordered, refuse, seen


class Door(Enum):
    OPEN = auto()
    SHUT = auto()


class Oil(Enum):
    DROP = "drops"


@frozen
class Push:
    force: int


@frozen
class Knock: ...


@frozen
class Ring: ...


@frozen
class Hall:
    at: Door = Door.SHUT
    needed: int = 2
    purse: Mapping[Oil, int | None] = {Oil.DROP: 3}


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.force >= run.needed, force=event.force, needed=run.needed)


def swing(run: Hall, event: Push) -> tuple[Hall, tuple[Ring, ...]]:
    return run, (Ring(),)


door_row = Rows[Hall, Door, Ring]()
HALL: Table[Hall, Door, Push | Knock, Ring] = Table(
    "hall",
    [
        door_row(Door.SHUT, Push, Door.OPEN, swing, strong, asks=[Ring], spends=Oil.DROP),
        door_row(Door.SHUT, Push, Door.SHUT, keep),
        door_row(Door.OPEN, Push, Door.SHUT, keep),
        ignore([Door.OPEN], [Knock], "it is open"),
        refuse([Door.SHUT], [Knock], "nobody is in"),
    ],
    events=[Push, Knock],
    initial=Door.SHUT,
    final=[],
    at=lambda run: run.at,
    move=lambda run, at: evolve(run, at=at),
    budgets={Oil.DROP: 3},
    purse=lambda run: run.purse,
    pay=lambda run, purse: evolve(run, purse=purse),
)


class Motor(Enum):
    SLOW = auto()
    FAST = auto()
    HOT = auto()


class Lamp(Enum):
    DARK = auto()
    LIT = auto()


class Lift(Enum):
    IDLE = auto()
    MOVING = auto()
    OUT = auto()


class Power(Enum):
    UNIT = "units"


@frozen
class Call:
    floor: int = 1


@frozen
class Tick: ...


@frozen
class Halt: ...


@frozen
class Drive: ...


@frozen
class Bell: ...


Wanted = Drive | Bell


@frozen
class MotorRun:
    at: Motor = Motor.SLOW


@frozen
class LampRun:
    at: Lamp = Lamp.DARK


@frozen
class LiftRun:
    at: Lift = Lift.IDLE
    motor: MotorRun = MotorRun()
    lamp: LampRun = LampRun()
    purse: Mapping[Power, int | None] = {Power.UNIT: 2}


motor_row = Rows[MotorRun, Motor, Wanted]()
MOTOR: Table[MotorRun, Motor, Tick, Wanted] = Table(
    "motor",
    [motor_row(Motor.SLOW, Tick, Motor.FAST, keep), motor_row(Motor.FAST, Tick, Motor.HOT, keep)],
    events=[Tick],
    initial=Motor.SLOW,
    final=[Motor.HOT],
    at=lambda run: run.at,
    move=lambda run, at: evolve(run, at=at),
)
lamp_row = Rows[LampRun, Lamp, Wanted]()
LAMP: Table[LampRun, Lamp, Tick, Wanted] = Table(
    "lamp",
    [lamp_row(Lamp.DARK, Tick, Lamp.LIT, keep), lamp_row(Lamp.LIT, Tick, Lamp.DARK, keep)],
    events=[Tick],
    initial=Lamp.DARK,
    final=[],
    at=lambda run: run.at,
    move=lambda run, at: evolve(run, at=at),
)


@guard
def above(run: LiftRun, event: Call) -> Evidence:
    return seen("above", event.floor > 0, floor=event.floor)


@guard
def known(run: LiftRun, event: Call) -> Evidence:
    return seen("known", event.floor < 9, floor=event.floor)


def start(run: LiftRun, event: Call) -> tuple[LiftRun, tuple[Wanted, ...]]:
    return evolve(run, motor=MotorRun()), (Drive(),)


def ring(run: LiftRun, event: Tick) -> tuple[LiftRun, tuple[Wanted, ...]]:
    return run, (Bell(),)


in_motor: Inner[LiftRun, Lift, Wanted] = inner(
    MOTOR,
    during=[Lift.MOVING],
    get=lambda run, event: run.motor,
    put=lambda run, event, held: evolve(run, motor=held),
)
in_lamp: Inner[LiftRun, Lift, Wanted] = inner(
    LAMP,
    during=[Lift.MOVING, Lift.IDLE],
    get=lambda run, event: run.lamp,
    put=lambda run, event, held: evolve(run, lamp=held),
)
lift_row = Rows[LiftRun, Lift, Wanted]()
LIFT: Table[LiftRun, Lift, Call | Tick | Halt, Wanted] = Table(
    "lift",
    [
        lift_row(
            Lift.IDLE, Call, Lift.MOVING, start, above & known, asks=[Drive], spends=Power.UNIT, refills=[in_motor]
        ),
        lift_row(Lift.IDLE, Call, Lift.IDLE, keep),
        lift_row(Lift.MOVING, Tick, Lift.MOVING, keep, spends=in_motor),
        lift_row(Lift.MOVING, Tick, Lift.IDLE, ring, asks=[Bell, Drive], refills=[Power.UNIT]),
        lift_row(Lift.IDLE, Tick, Lift.IDLE, keep),
        lift_row([Lift.IDLE, Lift.MOVING], Halt, Lift.OUT, keep),
        refuse([Lift.MOVING], [Call], "it is on its way"),
    ],
    events=[Call, Tick, Halt],
    initial=Lift.IDLE,
    final=[Lift.OUT],
    at=lambda run: run.at,
    move=lambda run, at: evolve(run, at=at),
    budgets={Power.UNIT: 2},
    purse=lambda run: run.purse,
    pay=lambda run, purse: evolve(run, purse=purse),
    inners=[in_motor, in_lamp],
)


def a_guard(name: str) -> Callable[[Any, Any], Evidence]:
    def asked(run: Any, event: Any) -> Evidence:
        return seen(name, False)

    asked.__name__ = name
    return asked


def _renamed(name: str) -> type[Any]:
    made = type("Named", (), {})
    made.__name__ = name
    return made


@pytest.fixture(scope="session")
def hall() -> Table[Any, Any, Any, Any]:
    """A door: two states, three rows, one budget, an ignored and a refused cell."""
    return HALL


@pytest.fixture(scope="session")
def lift() -> Table[Any, Any, Any, Any]:
    """A lift: an inner machine in one state and one in two, a row with two sources, a final state."""
    return LIFT


@pytest.fixture(scope="session")
def hall_answers() -> list[Any]:
    """Push weakly, strongly, shut it, knock (refused), and push strongly again."""
    return _walk(HALL, Hall(), [Push(1), Push(2), Push(1), Knock(), Push(5)])


@pytest.fixture(scope="session")
def lift_answers() -> list[Any]:
    """Up and down once, and out of order on the second way up."""
    return _walk(LIFT, LiftRun(), [Call(), Tick(), Call(), Tick(), Call(0), Tick(), Call(), Halt(), Tick()])


def _walk(table: Table[Any, Any, Any, Any], run: Any, events: Iterable[Any]) -> list[Any]:
    answers: list[Any] = []
    for event in events:
        answers.append(table.step(run, event))
        run = answers[-1].run
    return answers


@pytest.fixture(scope="session")
def machine() -> Callable[..., Table[Any, Any, Any, Any]]:
    """Builds a machine of any names: `machine(name, states, rows, final=(), budget="", inners=(), why="meant")`.

    A row is (source, event, target, guards, commands); a cell without a row is ignored. All cells are `ordered` where
    that is needed, so that only the names and the shape are under test.
    """
    return build


Row = tuple[str, str, str, tuple[str, ...], tuple[str, ...]]


def build(
    name: str,
    states: list[str],
    rows: list[Row],
    *,
    final: Iterable[str] = (),
    budget: str = "",
    inside: Iterable[tuple[Table[Any, Any, Any, Any], list[str]]] = (),
    why: str = "meant",
) -> Table[Any, Any, Any, Any]:
    new_enum: Any = Enum  # the type checkers know no Enum that is made from values
    kinds = new_enum("kinds", {state: number for number, state in enumerate(states)})
    purse = new_enum("purse", {"UNIT": budget})
    at = {state: kinds[state] for state in states}
    events = {event: _renamed(event) for _, event, _, _, _ in rows}
    wanted = {command: _renamed(command) for row in rows for command in row[4]}
    guards = {asked: a_guard(asked) for row in rows for asked in row[3]}
    row = Rows[Any, Any, Any]()
    made = [
        row(
            *(at[source], events[event], at[target], keep, *(guards[asked] for asked in asks)),
            asks=[wanted[command] for command in commands],
            spends=purse.UNIT if budget and number == 0 else None,
        )
        for number, (source, event, target, asks, commands) in enumerate(rows)
    ]
    handled = {(source, event) for source, event, _, _, _ in rows}
    blank = [(s, e) for s in states for e in events if s not in set(final) and (s, e) not in handled]
    several = [(s, e) for s, e in sorted(handled) if _overlap([r for r in rows if r[:2] == (s, e)])]
    return Table(
        name,
        [
            *made,
            *(ignore([at[state]], [events[event]], why) for state, event in blank),
            *(ordered([at[state]], [events[event]], why) for state, event in several),
        ],
        events=list(events.values()),
        initial=at[states[0]],
        final=[at[state] for state in final],
        at=lambda run: run,
        move=lambda run, state: state,
        budgets={purse.UNIT: 3} if budget else None,
        purse=(lambda run: {}) if budget else None,
        pay=(lambda run, left: run) if budget else None,
        inners=[
            inner(table, during=[at[s] for s in during], get=lambda run, event: None, put=lambda run, event, held: run)
            for table, during in inside
        ],
    )


def _overlap(rows: list[Row]) -> bool:
    return any(not set(later[3]) <= set(row[3]) for number, row in enumerate(rows) for later in rows[number + 1 :])


# What means something to Mermaid, to DOT, to HTML, to Markdown or to a terminal.
HOSTILE = (
    *(";", ":", "#", "{", "}", "\n", '"', "'", "-->", "->", "--", "<", ">", "<br/>", "%%", "%%{init: {}}%%", "&lt;"),
    *("direction TB", "[[fork]]", "<<choice>>", "[*]", "state ", "note", "end note", "class ", "click", "\\", "\\n"),
    *("\\l", "\\N", "#35;", "`", "*a*", "_a_", "1. ", "- ", "//", "/*", "start", "root_start", "subgraph", "]", "["),
    *(
        "=",
        ",",
        "|",
        "\t",
        "\r",
        "\u2028",
        "\u202e",
        "\u200b",
        " ",
        "é",
        "日本",
        "😀",
        "a",
        "B",
        "(a & b)",
        "−x",
        " -x",
    ),
)


@pytest.fixture(scope="session")
def hostile() -> st.SearchStrategy[str]:
    """Names made of what could break a diagram, and any text besides."""
    return HOSTILE_NAME


HOSTILE_NAME = st.one_of(
    st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=4).map("".join),
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6),
)


# A table's name is a file's, and may still be a word of either language.
TABLE_NAME = st.one_of(
    st.sampled_from(["state", "end", "note", "digraph", "direction", "start", "_", "1", "a.b-c"]),
    st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,5}", fullmatch=True),
)


def _is_member(name: str) -> bool:
    """Whether an Enum takes the name for a member (it keeps `_x_`, `__x__` and `mro`), and a table for a state."""
    return not (name.startswith("_") and name.endswith("_")) and name not in ("mro", "*", "=")


@pytest.fixture(scope="session")
def hostile_tables() -> st.SearchStrategy[Table[Any, Any, Any, Any]]:
    """Machines with hostile names everywhere, some with inner machines, in one state or in several."""
    return _tables(inner_machines=True)


@st.composite
def _tables(draw: st.DrawFn, *, inner_machines: bool) -> Table[Any, Any, Any, Any]:
    # The engine's library takes no event called `state`.
    name = HOSTILE_NAME.filter(lambda text: text != "state")
    states = draw(st.lists(HOSTILE_NAME.filter(_is_member), min_size=3, max_size=3, unique=True))
    events = draw(st.lists(name, min_size=2, max_size=2, unique=True))
    guards = tuple(draw(st.lists(name, max_size=2, unique=True)))
    commands = tuple(draw(st.lists(name, max_size=2, unique=True)))
    rows: list[Row] = [
        (states[0], events[0], states[1], ("g", *guards), commands),
        (states[0], events[0], states[0], ("g",), ()),
        (states[0], events[1], states[1], guards, ()),
        (states[1], events[0], states[2], (), commands),
    ]
    inside: list[tuple[Table[Any, Any, Any, Any], list[str]]] = []
    if inner_machines:
        during = draw(st.lists(st.sampled_from([states[:1], states[1:2], states[:2]]), max_size=2))
        inside = [(draw(_tables(inner_machines=False)), some) for some in during]
    budget, why = draw(name), draw(HOSTILE_NAME.filter(lambda text: bool(text.strip())))
    return build(draw(TABLE_NAME), states, rows, final=states[2:], budget=budget, inside=inside, why=why)
