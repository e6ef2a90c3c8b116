"""Where several agents speak in one recording: what another one says is no message of this run."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from machines.events import Begin, Call, Declared, Facts, PlanChanged, PlanItem, Reply, Result, StopReason, Text
from machines.message import Message
from machines.outcome import Reason
from machines.policy import Budget, Policy
from machines.run import RUN
from machines.state import Phase, Run, new_run
from machines.supervisor import feed
from statecraft import Step

TEXT = Text("text", 4)
POLICY = Policy(budget=Budget(turns=9, seconds=None, tokens=None, usd=None))


def run_of(agent: str | None, phase: Phase = Phase.ASKING) -> Run:
    return attrs.evolve(new_run("run", POLICY, agent=agent), at=phase)


def final(agent: str | None, **more: Any) -> Reply:
    facts = Facts(grounded=True)
    return attrs.evolve(
        Reply(1.0, StopReason.END_TURN, text=TEXT, kind=Declared.FINAL, facts=facts, agent=agent), **more
    )


@pytest.mark.parametrize(
    ("mine", "speaks", "at"),
    [
        (None, None, Phase.COMPLETED),
        ("main", "main", Phase.COMPLETED),
        ("main", None, Phase.COMPLETED),
        ("main", "helper", Phase.ACTING),
        (None, "helper", Phase.ACTING),
    ],
)
@pytest.mark.parametrize("phase", [Phase.ASKING, Phase.RECOVERING])
def test_only_the_runs_own_agent_ends_it(mine: str | None, speaks: str | None, at: Phase, phase: Phase) -> None:
    step = RUN.step(run_of(mine, phase), final(speaks))
    assert isinstance(step, Step)
    assert step.target is at
    judged = [inside.machine for inside in step.inside]
    assert judged == (["message"] if at is Phase.COMPLETED else [])


@pytest.mark.parametrize("kind", [None, *Declared])
def test_whatever_another_agent_declares_is_shown_and_ends_nothing(kind: Declared | None) -> None:
    step = RUN.step(run_of("main"), final("helper", kind=kind))
    assert step.run.at is Phase.ACTING
    assert step.run.candidate.at is Message.CANDIDATE


def test_another_agents_words_are_a_turn_and_so_are_its_calls() -> None:
    run = feed(new_run("run", POLICY, agent="main"), Begin(0.0)).run
    run = feed(run, final("helper")).run
    assert (run.at, run.turn.number) == (Phase.ASKING, 1)
    calling = Reply(1.0, StopReason.TOOL_USE, (Call("1", "read", b"sign", TEXT),), agent="helper")
    run = feed(feed(run, calling).run, Result(1.0, "1", b"digest")).run
    assert (run.at, run.turn.number, run.streaks.last_signal) == (Phase.ASKING, 2, "result")


@pytest.mark.parametrize(("speaks", "alone"), [("main", True), (None, True), ("helper", False)])
def test_the_last_words_of_a_stopped_run_are_its_own(speaks: str | None, alone: bool) -> None:
    stopped = attrs.evolve(run_of("main", Phase.CONCLUDING), stop=Reason("turns"))
    outcome = RUN.step(stopped, final(speaks)).run.outcome
    assert outcome is not None
    assert outcome.stands_alone is alone
    assert outcome.message == (TEXT if alone else None)


def test_another_agents_message_is_not_taken_for_the_answer_that_was_sent_back() -> None:
    """A final answer beside an open plan is reminded of it; whatever another agent says then ends nothing."""
    run = run_of("main")
    for event in (PlanChanged(1.0, (PlanItem(TEXT, "pending"),)), final("main")):
        run = feed(run, event).run
    assert (run.at, run.candidate.at) == (Phase.RECOVERING, Message.CANDIDATE)
    assert feed(run, final("helper")).run.outcome is None
