"""A machine that is wrong comes to an outcome, and never to an exception of the host's."""

from __future__ import annotations

from typing import Any

import pytest

from machines import supervisor
from machines._run_effects import begin
from machines.commands import Ask, Command, End, RunCalls, WaitUntil
from machines.events import (
    Begin,
    Event,
    Result,
)
from machines.outcome import Fact, TerminalStatus
from machines.run import RUN
from machines.state import Phase, Run
from machines.supervisor import Moved, feed
from statecraft import Evidence, Fault, Rows, Table, refuse

from .histories import HI, NEW, ONE, TWO, after, calling, final

BEGUN = after(Begin(0.0))
BOTH_OPEN = after(calling(ONE, TWO), run=BEGUN)
ANSWERED = after(calling(ONE), Result(2.0, "1", b"digest-1"), final(), run=BEGUN)


def broken(run: Run, event: Begin) -> Evidence:
    raise ZeroDivisionError("nothing left to divide")


def wrong_command(run: Run, event: Begin) -> tuple[Run, list[Command]]:
    return run, [RunCalls(())]


def table(guarded: bool) -> Table[Run, Phase, Event, Command]:
    """A run's table that has one row, which is wrong: its guard raises, or its effect asks for what it may not."""
    row = Rows[Run, Phase, Command]()
    wrong = row(Phase.READY, Begin, Phase.ASKING, begin, broken, asks=[Ask])
    undeclared = row(Phase.READY, Begin, Phase.ASKING, wrong_command, asks=[Ask])
    others = [kind for kind in RUN.events if kind is not Begin]
    return Table(
        "run",
        [wrong if guarded else undeclared, refuse([Phase.READY], others, "it can only begin")],
        events=RUN.events,
        initial=Phase.READY,
        final=[phase for phase in Phase if phase is not Phase.READY],
        at=RUN.at,
        move=RUN.move,
    )


@pytest.mark.parametrize(
    ("guarded", "part", "problem"),
    [
        (True, "broken", "raised ZeroDivisionError: nothing left to divide"),
        (False, "wrong_command", "asks for RunCalls, which the row does not declare"),
    ],
)
def test_a_fault_ends_the_run_as_failed_and_names_the_part_and_what_it_did(
    monkeypatch: pytest.MonkeyPatch, guarded: bool, part: str, problem: str
) -> None:
    monkeypatch.setattr(supervisor, "RUN", table(guarded))
    fed = feed(NEW, Begin(7.0))
    outcome = fed.run.outcome
    assert outcome is not None
    assert (outcome.status, fed.run.at) == (TerminalStatus.FAILED, Phase.FAILED)
    assert (outcome.reason.by, dict(outcome.reason.values)) == ("fault", {"part": part, "problem": problem})
    assert fed.commands == (End(outcome),)
    (move,) = fed.moves
    assert isinstance(move, Moved)
    assert isinstance(move.answer, Fault)
    assert NEW.at is Phase.READY


def test_a_run_that_a_fault_ended_refuses_what_comes_and_hears_a_person(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "RUN", table(guarded=True))
    failed = feed(NEW, Begin(7.0)).run
    monkeypatch.undo()
    assert feed(failed, final()).run is failed
    assert feed(failed, HI).run.at is Phase.ASKING


def test_an_event_of_another_alphabet_is_a_fault() -> None:
    stranger: Any = WaitUntil(5.0)
    fed = feed(BOTH_OPEN, stranger)
    outcome = fed.run.outcome
    assert outcome is not None
    assert dict(outcome.reason.values)["part"] == "WaitUntil"
    assert outcome.account.unanswered == ("1", "2")
    assert outcome.facts == (Fact.SIDE_EFFECTS_UNCONFIRMED,)
    assert fed.commands[-1] == End(outcome)


def test_a_fault_after_the_end_ends_nothing_again() -> None:
    stranger: Any = WaitUntil(5.0)
    fed = feed(ANSWERED, stranger)
    assert fed.run is ANSWERED
    assert fed.commands == ()
