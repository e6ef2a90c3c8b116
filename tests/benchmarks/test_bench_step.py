"""What one step costs, beside a step of the library underneath it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, auto
from typing import Any

import attrs
import pytest

from statecraft import Evidence, Guard, Level, Reading, Refused, Rows, Step, Table, guard, keep, ordered, reaches, seen
from statecraft.codec import codec, dump
from statecraft.journal import Journaled
from statecraft.journal.records import readings

from .conftest import Bench, bare_step

pytestmark = pytest.mark.benchmark


class Door(Enum):
    SHUT = auto()
    OPEN = auto()


class Oil(Enum):
    DROP = "drops"


@attrs.frozen
class Push:
    force: int


@attrs.frozen
class Ring:
    pass


@attrs.frozen
class Hall:
    at: Door
    needed: int
    oil: Mapping[Oil, int | None]


def strong(run: Hall, event: Push) -> Evidence:
    return seen("strong", event.force >= run.needed, force=event.force, needed=run.needed)


def swing(run: Hall, event: Push) -> tuple[Hall, tuple[Ring, ...]]:
    return run, (Ring(),)


def at(run: Hall) -> Door:
    return run.at


def move(run: Hall, state: Door) -> Hall:
    return Hall(state, run.needed, run.oil)


def oil(run: Hall) -> Mapping[Oil, int | None]:
    return run.oil


def pour(run: Hall, left: Mapping[Oil, int | None]) -> Hall:
    return Hall(run.at, run.needed, left)


SHUT = Hall(Door.SHUT, 2, {Oil.DROP: 40})
PUSH = Push(3)
row = Rows[Hall, Door, Ring]()

PLAIN: Table[Hall, Door, Push, Ring] = Table(
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, swing, strong, asks=[Ring]),
        row(Door.SHUT, Push, Door.SHUT, keep),
        row(Door.OPEN, Push, Door.SHUT, keep),
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[],
    at=at,
    move=move,
)

SPENDING: Table[Hall, Door, Push, Ring] = Table(
    "hall",
    [
        row(Door.SHUT, Push, Door.OPEN, swing, strong, asks=[Ring], spends=Oil.DROP),
        row(Door.SHUT, Push, Door.SHUT, keep),
        row(Door.OPEN, Push, Door.SHUT, keep),
    ],
    events=[Push],
    initial=Door.SHUT,
    final=[],
    at=at,
    move=move,
    budgets={Oil.DROP: 40},
    purse=oil,
    pay=pour,
)


def above(number: int) -> Guard[Hall, Push]:
    name = f"above_{number}"

    def ask(run: Hall, event: Push) -> Evidence:
        return seen(name, event.force > number, force=event.force)

    ask.__name__ = name
    return guard(ask)


def detector(number: int) -> Callable[[Hall, Push], Reading]:
    """A count at rest, as nearly all detectors of a run are at nearly all times."""
    name = f"detector_{number}"

    def read(run: Hall, event: Push) -> Reading:
        return Reading(name, event.force, 10 + number, 20 + number, 60)

    read.__name__ = name
    return read


def cell_of(questions: list[Guard[Hall, Push]]) -> Table[Hall, Door, Push, Ring]:
    """A cell with a row for each question, tried one after the other, and a last row that asks nothing."""
    return Table(
        "cell",
        [
            *(row(Door.SHUT, Push, Door.OPEN, swing, question, asks=[Ring]) for question in questions),
            row(Door.SHUT, Push, Door.SHUT, keep),
            row(Door.OPEN, Push, Door.SHUT, keep),
            ordered([Door.SHUT], [Push], "one after the other is what is measured"),
        ],
        events=[Push],
        initial=Door.SHUT,
        final=[],
        at=at,
        move=move,
    )


TEN = cell_of([above(number) for number in range(19, 9, -1)])
ROSTER = cell_of([reaches(detector(number), Level.STOP) for number in range(33)])


def test_a_step_with_one_guard_costs_little_more_than_one_of_the_bare_library(bench: Bench) -> None:
    (one, bare), factor = bench.race(lambda: PLAIN.step(SHUT, PUSH), bare_step())
    assert isinstance(PLAIN.step(SHUT, PUSH), Step)
    beside = f"a bare transitions Machine {bare:.2f} us"
    bench.hold("a step, one guard, to a bare one", one / bare, 1.7, "x")
    bench.hold("a step, one guard", one, 12 * factor, beside=beside)


def test_a_step_that_spends_costs_at_most_twice_one_of_the_bare_library(bench: Bench) -> None:
    (spends, bare), factor = bench.race(lambda: SPENDING.step(SHUT, PUSH), bare_step())
    answer = SPENDING.step(SHUT, PUSH)
    assert answer.run.oil == {Oil.DROP: 39}
    beside = f"a bare transitions Machine {bare:.2f} us"
    bench.hold("a step that spends, to a bare one", spends / bare, 2.0, "x")
    bench.hold("a step that spends", spends, 15 * factor, beside=beside)


def test_a_step_that_asks_ten_guards_is_within_its_limit(bench: Bench) -> None:
    (ten,), factor = bench.race(lambda: TEN.step(SHUT, PUSH))
    answer = TEN.step(SHUT, PUSH)
    assert isinstance(answer, Step)
    assert (answer.row, len(answer.seen)) == (10, 10)
    bench.hold("a step, ten guards", ten, 30 * factor, beside="python-statemachine 186 us, burr 35 us")


def test_a_refusal_costs_no_more_than_a_step(bench: Bench) -> None:
    silent: Table[Hall, Door, Push, Ring] = Table(
        "hall",
        [row(Door.SHUT, Push, Door.OPEN, swing, strong, asks=[Ring]), row(Door.OPEN, Push, Door.SHUT, keep)],
        events=[Push],
        initial=Door.SHUT,
        final=[],
        at=at,
        move=move,
    )
    weak = Push(1)
    assert isinstance(silent.step(SHUT, weak), Refused)
    (refused, taken), _ = bench.race(lambda: silent.step(SHUT, weak), lambda: silent.step(SHUT, PUSH))
    bench.hold("a refusal, to a step", refused / taken, 1.1, "x", beside=f"a step {taken:.2f} us")


def naive(of: Journaled[Any, Any, Any], answer: Step[Any, Any]) -> bytes:
    """Every answer in full."""
    return dump([of.findings.write(found) for found in answer.seen])


def test_what_33_detectors_at_rest_say_is_kept_in_a_few_bytes(bench: Bench) -> None:
    of: Journaled[Hall, Push, Ring] = Journaled(ROSTER, Hall, codec(Hall))
    answer = ROSTER.step(SHUT, PUSH)
    assert isinstance(answer, Step)
    assert len(answer.seen) == 33
    (step, ours, theirs), factor = bench.race(
        lambda: ROSTER.step(SHUT, PUSH), lambda: dump(readings(of, answer.seen)), lambda: naive(of, answer)
    )
    kept, all_of_it = len(dump(readings(of, answer.seen))), len(naive(of, answer))
    bench.hold("33 detectors at rest, kept", kept, 104, "bytes", beside=f"all in full {all_of_it} bytes")
    bench.hold("33 detectors at rest, encoded", ours, 25 * factor, beside=f"all in full {theirs:.1f} us")
    bench.hold("33 detectors at rest, a step", step, None)


def test_of_33_detectors_the_one_that_speaks_is_kept_in_full() -> None:
    of: Journaled[Hall, Push, Ring] = Journaled(ROSTER, Hall, codec(Hall))
    loud = ROSTER.step(SHUT, Push(10))
    kept = readings(of, loud.seen if isinstance(loud, Step) else ())
    assert [one["name"] for one in kept["seen"]] == ["detector_0"]
    assert kept["rest"] == 32
