"""Every check of a fault run can fail: each is shown a record that is broken in what it looks at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import pytest

from machines.agent.scripted import Received, ScriptedServer
from machines.agent.taking_up import retell
from machines.agent.transcript import Transcript
from machines.agent.wire import CallPart, Message, Request, TextPart, ToolSchema
from machines.events import Call, Reply, Result, StopReason, Text
from machines.outcome import Outcome, Reason, TerminalStatus
from machines.state import Run
from statecraft.journal import MemoryStore

from .checks import CHECKS, wrong_with
from .moves import ABANDONED
from .play import Play
from .record import Read, Record, Took, read
from .scenario import scenario
from .tally import play_one

SOUND = 0
"""A seed whose run calls tools, and ends by itself."""

Broken = tuple[Record, Read]
Breaks = Callable[[Record, Read], Broken]


@pytest.fixture(scope="module")
def played() -> Broken:
    return play_one(SOUND)


def with_run(found: Read, **changes: Any) -> Read:
    return attrs.evolve(found, run=attrs.evolve(found.run, **changes))


def with_outcome(found: Read, **changes: Any) -> Read:
    outcome = found.outcome
    assert isinstance(outcome, Outcome)
    return with_run(found, outcome=attrs.evolve(outcome, **changes))


def with_steps(found: Read, change: Callable[[tuple[Took, ...]], tuple[Took, ...]]) -> Read:
    (run, steps), *others = found.legs
    return attrs.evolve(found, legs=((run, change(steps)), *others))


def raised(record: Record, found: Read) -> Broken:
    record.raised.append("ValueError: it broke")
    return record, found


def without_outcome(record: Record, found: Read) -> Broken:
    return record, with_run(found, outcome=None)


def other_outcome(record: Record, found: Read) -> Broken:
    other = TerminalStatus.FAILED if found.run.at.value != "failed" else TerminalStatus.BLOCKED
    return record, with_outcome(found, status=other)


def unknown_reason(record: Record, found: Read) -> Broken:
    return record, with_outcome(found, reason=Reason("because"))


def fault(record: Record, found: Read) -> Broken:
    return record, with_outcome(found, reason=Reason("fault"))


def cut_journal(record: Record, found: Read) -> Broken:
    store = MemoryStore()
    for seq, line in enumerate([*record.store.lines()][:-1]):
        store.append(seq, line)
    return record, attrs.evolve(found, verified=read(store).verified)


def decided_otherwise(record: Record, found: Read) -> Broken:
    return record, attrs.evolve(found, difference="seq 3: row was 7, and is 8 now")


def lost_answer(record: Record, found: Read) -> Broken:
    at = next(at for at, took in enumerate(found.legs[0][1]) if isinstance(took.event, Result))
    return record, with_steps(found, lambda steps: (*steps[:at], *steps[at + 1 :]))


def second_answer(record: Record, found: Read) -> Broken:
    at = next(at for at, took in enumerate(found.legs[0][1]) if isinstance(took.event, Result))
    return record, with_steps(found, lambda steps: (*steps[:at], steps[at], *steps[at:]))


def open_call(record: Record, found: Read) -> Broken:
    record.open_calls = ("call_1",)
    return record, found


def blank_message(record: Record, found: Read) -> Broken:
    record.message = " \n"
    return record, found


def endless(record: Record, found: Read) -> Broken:
    return record, with_steps(found, lambda steps: steps * 20_000)


def against_a_rule(record: Record, found: Read) -> Broken:
    call = Message("assistant", (CallPart("call_1", "look", "{}"),))
    request = Request("", (Message("user", (TextPart("go"),)), call))
    play = Play(record.scenario, ScriptedServer([]))
    play.move(Received("openai", "model", "run", 0, request))
    record.rules += play.record.rules
    return record, found


def cut_call_ran(record: Record, found: Read) -> Broken:
    reply = Reply(1.0, StopReason.LENGTH, (Call("cut", "save", b"signature", Text("args", 4)),))
    record.ran.append(("cut", "save"))
    return record, with_steps(found, lambda steps: (*steps, attrs.evolve(steps[0], event=reply)))


def nameless_call_ran(record: Record, found: Read) -> Broken:
    reply = Reply(1.0, StopReason.TOOL_USE, (Call("none", "", b"signature", Text("args", 4)),))
    record.ran.append(("none", "save"))
    return record, with_steps(found, lambda steps: (*steps, attrs.evolve(steps[0], event=reply)))


def garbled_call_ran(record: Record, found: Read) -> Broken:
    reply = Reply(1.0, StopReason.TOOL_USE, (Call("bad", "save", b"signature", Text("args", 4), parsed=False),))
    record.ran.append(("bad", "save"))
    return record, with_steps(found, lambda steps: (*steps, attrs.evolve(steps[0], event=reply)))


def written_twice(record: Record, found: Read) -> Broken:
    record.ran += [("call_1", "save"), ("call_1", "save")]
    return record, found


def overspent(record: Record, found: Read) -> Broken:
    def with_budget(run: Run) -> Run:
        budget = attrs.evolve(run.policy.budget, tokens=1)
        return attrs.evolve(run, policy=attrs.evolve(run.policy, budget=budget))

    def change(steps: tuple[Took, ...]) -> tuple[Took, ...]:
        return tuple(attrs.evolve(took, step=attrs.evolve(took.step, run=with_budget(took.step.run))) for took in steps)

    return record, with_steps(found, change)


def overspent_money(record: Record, found: Read) -> Broken:
    def with_budget(run: Run) -> Run:
        budget = attrs.evolve(run.policy.budget, usd=1e-12)
        spent = attrs.evolve(run.spent, usage=attrs.evolve(run.spent.usage, usd=1.0))
        return attrs.evolve(run, spent=spent, policy=attrs.evolve(run.policy, budget=budget))

    def change(steps: tuple[Took, ...]) -> tuple[Took, ...]:
        return tuple(attrs.evolve(took, step=attrs.evolve(took.step, run=with_budget(took.step.run))) for took in steps)

    return record, with_steps(found, change)


def stopped_and_completed(record: Record, found: Read) -> Broken:
    return record, with_run(with_outcome(found, status=TerminalStatus.COMPLETED), stop=Reason("turns"))


def parted(record: Record, found: Read) -> Broken:
    record.parted.append("burst 1: said[0]: told again None, live ['text', 'go on']")
    return record, found


def changed(record: Record, found: Read) -> Broken:
    play = Play(record.scenario, ScriptedServer([]))
    tools = (ToolSchema("look", "Look.", {}),)
    for said in ("go", "stop"):
        messages = (Message("user", (TextPart(said),)), Message("assistant", (TextPart("Well."),)))
        play.move(Received("openai", "model", "run", 0, Request("", (*messages, *messages), tools)))
    record.changed += play.record.changed
    return record, found


def shows_abandoned(record: Record, found: Read) -> Broken:
    record.message = f"[{ABANDONED} 3] and so on"
    return record, found


BROKEN: Mapping[Breaks, str] = {
    raised: "nothing_raised",
    without_outcome: "typed_outcome",
    other_outcome: "typed_outcome",
    unknown_reason: "known_reason",
    fault: "known_reason",
    cut_journal: "whole_journal",
    decided_otherwise: "replays",
    lost_answer: "answered_once",
    second_answer: "answered_once",
    open_call: "answered_once",
    blank_message: "says_something",
    endless: "in_bound",
    against_a_rule: "keeps_the_rules",
    cut_call_ran: "ran_whole_calls",
    nameless_call_ran: "ran_whole_calls",
    garbled_call_ran: "ran_whole_calls",
    written_twice: "ran_once",
    overspent: "in_budget",
    overspent_money: "in_budget",
    stopped_and_completed: "stopped_is_not_completed",
    parted: "told_again",
    changed: "keeps_what_was_sent",
    shows_abandoned: "shows_nothing_abandoned",
}


@pytest.mark.parametrize("breaks", BROKEN, ids=lambda breaks: breaks.__name__)
def test_a_broken_record_is_found_by_its_check(played: Broken, breaks: Breaks) -> None:
    record, found = played
    assert [*wrong_with(record, found)] == []
    lists: dict[str, Any] = {name: [*getattr(record, name)] for name in ("raised", "rules", "ran", "parted", "changed")}
    record, found = breaks(attrs.evolve(record, **lists), found)
    assert BROKEN[breaks] in [line.split(":")[0] for line in wrong_with(record, found)]


def test_every_check_is_shown_to_fail() -> None:
    assert {check.__name__ for check in CHECKS} == set(BROKEN.values())


@attrs.frozen
class Host:
    """Of a host, what is compared."""

    transcript: Transcript


def test_a_run_that_is_told_otherwise_than_it_is_sent_is_noted() -> None:
    """The comparison itself, on a real run whose live transcript is given words that are in no journal."""
    record, _ = play_one(SOUND)
    play: Any = Play(scenario(SOUND), ScriptedServer([]))
    play.store = record.store
    live = retell(record.store).retold.talk.transcript
    host = Host(live)
    play._told_again(host, None)
    assert play.record.parted == []
    live.say("in no journal")
    play._told_again(host, None)
    assert len(play.record.parted) == 1
