"""Recording hears every step once, in every thread, and leaves nothing behind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from enum import Enum, auto
from typing import Any

import attrs
import pytest

from statecraft import Fault, Rows, Step, Table, inner, keep
from statecraft.testing import recording


class Light(Enum):
    RED = auto()
    GREEN = auto()


@attrs.frozen
class Go:
    number: int = 0


@attrs.frozen
class Run:
    at: Light = Light.RED


def at(run: Run) -> Light:
    return run.at


def move(run: Run, state: Light) -> Run:
    return Run(state)


def fails(run: Run, event: Go) -> tuple[Run, tuple[()]]:
    raise OSError("out")


def build(name: str, effect: Any = keep, inners: Any = ()) -> Table[Run, Light, Go, Any]:
    return Table[Run, Light, Go, Any](
        name,
        [Rows[Run, Light, Any]()(Light.RED, Go, Light.GREEN, effect)],
        events=[Go],
        initial=Light.RED,
        final=[Light.GREEN],
        at=at,
        move=move,
        inners=inners,
    )


def itself(run: Run, event: Go) -> Run:
    return Run()


def unchanged(run: Run, event: Go, within: Run) -> Run:
    return run


ORIGINAL: Any = Table[Any, Any, Any, Any].step
LIGHT = build("light")


class Ear:
    """Keeps what it was told."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, Any, Any]] = []

    def __call__(self, table: Any, event: Any, answer: Any) -> None:
        self.heard.append((table, event, answer))


def step_now() -> Any:
    return Table[Any, Any, Any, Any].step


def test_each_answer_is_heard_with_its_table_and_its_event() -> None:
    ear = Ear()
    with recording(ear):
        step, refused = LIGHT.step(Run(), Go(1)), LIGHT.step(Run(Light.GREEN), Go(2))
    assert ear.heard == [(LIGHT, Go(1), step), (LIGHT, Go(2), refused)]
    assert isinstance(step, Step)


def test_outside_the_block_steps_are_as_they_were() -> None:
    ear = Ear()
    assert step_now() is ORIGINAL
    with recording(ear):
        assert step_now() is not ORIGINAL
    assert step_now() is ORIGINAL
    LIGHT.step(Run(), Go())
    assert ear.heard == []


def test_an_error_inside_the_block_ends_the_recording() -> None:
    with pytest.raises(LookupError), recording(Ear()):
        raise LookupError
    assert step_now() is ORIGINAL


def test_a_step_of_an_inner_machine_is_heard_through_the_outer_one_alone() -> None:
    outer = build("outer", inners=[inner(LIGHT, during=[Light.RED], get=itself, put=unchanged)])
    ear = Ear()
    with recording(ear):
        answer = outer.step(Run(), Go())
    assert isinstance(answer, Step)
    assert [inside.machine for inside in answer.inside] == ["light"]
    assert ear.heard == [(outer, Go(), answer)]


def test_a_fault_is_not_heard_and_the_next_step_is() -> None:
    ear, weak = Ear(), build("weak", fails)
    with recording(ear):
        with pytest.raises(Fault):
            weak.step(Run(), Go())
        LIGHT.step(Run(), Go())
    assert [table for table, _, _ in ear.heard] == [LIGHT]


def test_one_recording_within_another_hears_the_same() -> None:
    outer, within = Ear(), Ear()
    with recording(outer):
        with recording(within):
            LIGHT.step(Run(), Go(1))
        LIGHT.step(Run(), Go(2))
    assert [event for _, event, _ in outer.heard] == [Go(1), Go(2)]
    assert [event for _, event, _ in within.heard] == [Go(1)]


def test_the_steps_of_every_thread_are_heard() -> None:
    ear = Ear()
    with recording(ear), ThreadPoolExecutor(8) as threads:
        list(threads.map(LIGHT.step, [Run()] * 400, map(Go, range(400))))
    assert sorted(event.number for _, event, _ in ear.heard) == list(range(400))
