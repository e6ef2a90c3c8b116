"""What each state of a run makes of each kind of event: steps, or refuses or ignores it on purpose."""

from __future__ import annotations

import attrs
import pytest

from machines.events import (
    Awaited,
    Awaits,
    Begin,
    Call,
    Cancel,
    Chunk,
    Clock,
    Condensed,
    Ended,
    Event,
    GoalMeasured,
    Measured,
    NoReply,
    PlanChanged,
    Refusal,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
    TurnEnded,
)
from machines.run import RUN
from machines.state import ENDINGS, Phase, new_run
from machines.turn import Turn
from statecraft import Ignored, Refused, Step

NEW = new_run("run")
TEXT = Text("words", 12)
CALL = Call("1", "read", b"sign-one", TEXT)

# What each state makes of each kind of event: a row takes it (r), it is ignored (i) or refused (x) on purpose.
SAMPLES: dict[str, Event] = {
    "Begin": Begin(5.0),
    "Said": Said(5.0, TEXT),
    "Reply": Reply(5.0, StopReason.END_TURN, text=TEXT),
    "Result": Result(5.0, "1", b"digest"),
    "Turn": TurnEnded(5.0),
    "Chunk": Chunk(5.0, "text", TEXT),
    "Plan": PlanChanged(5.0, ()),
    "Goal": GoalMeasured(5.0, 1, 2),
    "Refusal": Refusal(5.0, 529, TEXT),
    "Measured": Measured(5.0, 9, 8),
    "Condensed": Condensed(5.0, 100),
    "Awaits": Awaits(5.0, "1", Awaited.SIGNAL, "paid"),
    "Signal": Signal(5.0, "approved"),
    "Clock": Clock(5.0),
    "Cancel": Cancel(5.0),
    "NoReply": NoReply(5.0, "gone"),
    "Ended": Ended(5.0, "ok"),
}
GRID = """
       Begin Said Reply Result Turn Chunk Plan Goal Refusal Measured Condensed Awaits Signal Clock Cancel NoReply Ended
READY  r     r    x     x      x    x     x    x    x       x        x         x      x      x     r      x       i
ASKING x     r    r     r      x    r     r    r    r       r        r         x      i      i     r      r       i
ACTING x     r    x     r      r    x     r    r    x       x        r         r      i      i     r      x       i
WAITIN x     r    x     r      x    x     r    r    x       x        r         x      r      r     r      x       i
RECOVE x     r    r     r      x    r     r    r    r       r        r         x      i      i     r      r       i
CONDEN x     r    x     r      x    x     r    r    x       x        r         x      i      i     r      r       i
CONCLU x     r    r     r      x    i     r    r    r       i        i         x      i      i     r      r       i
"""
COLUMNS, *LINES = [line.split() for line in GRID.strip().splitlines()]
STATES = {phase.name[:6]: phase for phase in Phase}
CELLS = [(STATES[state], SAMPLES[name], how) for state, *hows in LINES for name, how in zip(COLUMNS, hows, strict=True)]


def test_the_grid_is_whole() -> None:
    assert {phase for phase, _, _ in CELLS} == {phase for phase in Phase if phase not in ENDINGS}
    assert [type(event) for event in SAMPLES.values()] == list(RUN.events)


@pytest.mark.parametrize(
    ("phase", "event", "how"),
    [pytest.param(*cell, id=f"{cell[0].value}-{type(cell[1]).__name__}") for cell in CELLS],
)
def test_every_cell_answers_as_it_is_meant_to(phase: Phase, event: Event, how: str) -> None:
    acting = phase is Phase.ACTING
    run = attrs.evolve(
        NEW, at=phase, turn=Turn(3, open=(CALL,) if acting else ()), unanswered=() if acting else (CALL,)
    )
    answer = RUN.step(run, event)
    match how:
        case "r":
            assert isinstance(answer, Step)
        case "i":
            assert isinstance(answer, Ignored)
            assert answer.why
        case _:
            assert isinstance(answer, Refused)
            assert answer.why
    if how != "r":
        assert answer.run is run
        assert answer.commands == ()


@pytest.mark.parametrize("phase", ENDINGS)
@pytest.mark.parametrize("event", list(SAMPLES.values()), ids=list(SAMPLES))
def test_an_ending_refuses_everything(phase: Phase, event: Event) -> None:
    run = attrs.evolve(NEW, at=phase)
    answer = RUN.step(run, event)
    assert isinstance(answer, Refused)
    assert phase.name in answer.why
    assert answer.run is run
