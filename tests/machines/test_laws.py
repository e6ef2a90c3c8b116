"""What holds of every run, whatever happens to it: laws over random sequences of events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from machines.commands import AnswerCalls, Ask, Command, End, RunCalls, Withdraw
from machines.events import (
    Awaited,
    Awaits,
    Begin,
    Call,
    Cancel,
    Chunk,
    Clock,
    Condensed,
    Declared,
    Ended,
    ErrorKind,
    Event,
    Facts,
    GoalMeasured,
    Measured,
    NoReply,
    PlanChanged,
    PlanItem,
    PollState,
    Refusal,
    RefusalKind,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
    TurnEnded,
    Usage,
)
from machines.manifest import Kind, Tool, Wait, Work
from machines.message import Message
from machines.outcome import Outcome, TerminalStatus, message_of
from machines.policy import Budget, Condensings, Detectors, Escalation, Limits, Policy, Recovery, Waiting
from machines.run import RUN
from machines.state import ENDINGS, OPEN, Phase, Purse, Run, new_run
from machines.supervisor import Fed, Moved, NewLeg, feed
from statecraft import Fault, Ignored, Step
from statecraft.guards import name_of
from statecraft.proofs import Bound, ends
from statecraft.testing import told

TOOLS = {
    "read": Tool(Kind.READ),
    "write": Tool(Kind.WRITE, target=("path",)),
    "note": Tool(Kind.WRITE, scratch=True),
    "build": Tool(Kind.WAIT, wait=Wait("*", ("queued",), ("done",), 50.0, 5.0)),
}

times = st.floats(0, 60) | st.floats(0, 600)
ids = st.sampled_from(["a", "b", "c"])
texts = st.sampled_from([Text("words", 12), Text("other", 3), Text("none", 0)])
digests = st.sampled_from([b"digest-1", b"digest-2"])
calls = st.builds(
    Call, ids, st.sampled_from([*TOOLS, "unheard of"]), digests, texts, st.booleans(), st.none() | st.just("a.txt")
)
usages = st.builds(Usage, st.integers(0, 900), st.integers(0, 300), st.just(0), st.floats(0, 0.1))
three = st.sampled_from([None, True, False])
facts = st.builds(Facts, three, three, st.sampled_from([None, 0, 2]), three, three, three, three, three)
plans = st.lists(st.builds(PlanItem, texts, st.sampled_from(["pending", "completed"])), max_size=3).map(tuple)

some_calls = st.lists(calls, max_size=3).map(tuple)
distinct_calls = st.lists(calls, min_size=1, max_size=3, unique_by=lambda call: call.id).map(tuple)
replies = st.builds(
    Reply,
    times,
    st.sampled_from(StopReason),
    some_calls,
    st.none() | texts,
    st.none() | texts,
    usages,
    st.none() | st.sampled_from(Declared),
    st.none() | facts,
)
results = st.builds(
    Result,
    times,
    ids,
    st.none() | digests,
    st.none() | texts,
    st.none() | st.sampled_from(ErrorKind),
    st.just(None),
    st.none() | digests,
    st.none() | st.just("a.txt"),
    st.booleans(),
    st.none() | st.sampled_from(PollState),
    st.none() | st.just("queued"),
)
others: st.SearchStrategy[Event] = st.one_of(
    st.builds(Begin, times),
    st.builds(Said, times, texts, st.booleans()),
    st.builds(TurnEnded, times),
    st.builds(Chunk, times, st.sampled_from(["text", "thinking"]), texts),
    st.builds(PlanChanged, times, plans),
    st.builds(GoalMeasured, times, st.integers(0, 9), st.integers(0, 9)),
    st.builds(Refusal, times, st.sampled_from([0, 400, 401, 413, 422, 429, 500]), texts, st.none() | st.just(3.0)),
    st.builds(Condensed, times, st.integers(0, 100)),
    st.builds(Signal, times, st.just("approved")),
    st.builds(Clock, times),
    st.builds(Cancel, times),
    st.builds(NoReply, times, st.just("gone")),
    st.builds(Ended, times, st.just("ok")),
)
every: st.SearchStrategy[Event] = st.one_of(replies, results, others)

# What a world sends that keeps to the protocol, by what the run waits for: far into a run only this leads.
calling = st.builds(Reply, times, st.just(StopReason.TOOL_USE), distinct_calls, usage=usages)
speaking = st.builds(
    Reply,
    times,
    st.just(StopReason.END_TURN),
    text=texts,
    usage=usages,
    kind=st.none() | st.sampled_from(Declared),
    facts=st.none() | facts,
)
failing = st.builds(Reply, times, st.sampled_from([StopReason.LENGTH, StopReason.PAUSE]), some_calls, usage=usages)
refused = st.builds(Refusal, times, st.sampled_from([413, 429]), texts)
asked: st.SearchStrategy[Event] = st.one_of(calling, calling, calling, speaking, failing, refused)
EXPECTED: dict[Phase, st.SearchStrategy[Event]] = {
    Phase.ASKING: asked,
    Phase.RECOVERING: asked,
    Phase.WAITING: st.builds(Clock, times) | calling,
    Phase.CONDENSING: st.builds(Condensed, times, st.just(10)),
    Phase.CONCLUDING: speaking | st.builds(NoReply, times, st.just("gone")),
}


def limits_of(nudge: int, more: int, on: bool) -> Limits:
    return Limits(on, nudge, nudge + more, nudge + 1, nudge + 1 + more)


def run_of(policy: Policy, work: Work, requires: tuple[str, ...]) -> Run:
    return new_run("run", policy, tools=TOOLS, work=work, requires=requires)


limits = st.builds(limits_of, st.integers(1, 3), st.integers(0, 3), st.booleans())
budgets = st.builds(
    Budget,
    turns=st.integers(1, 8),
    seconds=st.sampled_from([None, 100.0, 600.0]),
    tokens=st.sampled_from([None, 4_000]),
    usd=st.sampled_from([None, 0.5]),
    calls_per_turn=st.integers(1, 2),
    final_reply=st.booleans(),
    reply_tokens=st.sampled_from([None, 100]),
)
roomy = st.builds(Budget, st.integers(8, 12), st.none(), st.none(), st.none())
policies = st.builds(
    Policy,
    budgets | roomy,
    st.builds(Recovery, *[st.integers(0, 2)] * 5),
    st.builds(Escalation, st.booleans(), st.integers(1, 12)),
    st.builds(Detectors, consecutive_duplicate=limits, no_progress=limits, monologue=limits, stalled_work=limits),
    waiting=st.builds(Waiting, st.booleans(), st.sampled_from([0.0, 120.0])),
)
runs = st.builds(run_of, policies, st.sampled_from(Work), st.sampled_from([(), ("a.txt",)]))


@st.composite
def histories(draw: st.DrawFn) -> tuple[Run, list[Event]]:
    """A run before its first event, and what happens to it: mostly what it waits for, and anything at any time."""
    run = first = draw(runs)
    events: list[Event] = []
    for number in range(draw(st.integers(1, 9) | st.just(40))):
        event = draw(st.builds(Begin, times) if number == 0 else every)
        if draw(st.integers(0, 7)):
            if run.turn.open:
                event = attrs.evolve(draw(results), call=run.turn.open[0].id)
            elif run.at in EXPECTED:
                event = draw(EXPECTED[run.at])
        events.append(event)
        run = feed(run, event).run
    return first, events


@attrs.define
class Leg:
    """What one leg asked for and did so far."""

    begun: Run
    steps: int = 0
    asks: int = 0
    heard: int = 0
    last_asks: int = 0
    ends: int = 0
    unanswered: Counter[str] = attrs.field(factory=Counter[str])
    late: Counter[str] = attrs.field(factory=Counter[str])


def words(text: Text) -> str | None:
    return "w" * text.chars


def steps_of(fed: Fed) -> Iterable[Step[Run, Command]]:
    return (move.answer for move in fed.moves if isinstance(move, Moved) and isinstance(move.answer, Step))


def counts(step: Step[Run, Command]) -> bool:
    """Whether the proof counts the step: one that stays and asks nothing answers what nobody asked for."""
    row = RUN.rows[step.row]
    return step.source is not step.target or bool(row.asks or row.spends or row.refills)


def check_outcome(run: Run, outcome: Outcome) -> None:
    assert outcome.status.value == run.at.value
    assert message_of(outcome, words).strip()
    assert message_of(outcome, lambda text: None).strip()
    if run.stop is not None:
        assert outcome.status is not TerminalStatus.COMPLETED
        if outcome.status is not TerminalStatus.CANCELLED:
            assert outcome.reason == run.stop


def check_requests(leg: Leg, step: Step[Run, Command], event: Event) -> None:
    """One request is out, or none; a run that has ended may leave one unheard."""
    leg.asks += sum(isinstance(command, Ask) for command in step.commands)
    leg.heard += isinstance(event, Reply | Refusal | NoReply)
    leg.heard += sum(isinstance(command, Withdraw) for command in step.commands)
    if step.target not in ENDINGS:
        out = step.target in (Phase.ASKING, Phase.RECOVERING, Phase.CONCLUDING)
        assert leg.asks - leg.heard == out


def check_calls(leg: Leg, step: Step[Run, Command], event: Event) -> None:
    """Each call has one answer by the end of its turn, and one that came of the run may have its tool's later, once."""
    if isinstance(event, Reply):
        assert not +leg.unanswered
        leg.unanswered = Counter(call.id for call in event.calls)
    if isinstance(event, Result):
        waiting = leg.late if name_of(RUN.rows[step.row].guards[0]) == "late_call" else leg.unanswered
        waiting[event.call] -= 1
        assert waiting[event.call] >= 0
    for command in step.commands:
        if isinstance(command, AnswerCalls):
            leg.unanswered.subtract(command.calls)
            if isinstance(event, TurnEnded):
                leg.late.update(command.calls)
    assert min(leg.unanswered.values(), default=0) >= 0
    if step.target is not Phase.ACTING:
        assert not +leg.unanswered


def check_leg(leg: Leg, fed: Fed) -> Leg:
    """The laws of each move; answers the leg as it stands afterwards."""
    for move in fed.moves:
        if isinstance(move, NewLeg):
            leg = Leg(move.run)
            continue
        assert not isinstance(move.answer, Fault), move.answer
        if not isinstance(move.answer, Step):
            assert move.answer.commands == ()
            continue
        step = move.answer
        leg.steps += counts(step)
        asked = [command for command in step.commands if command == Ask(final=True)]
        stopped = step.target is Phase.CONCLUDING and step.source is not Phase.CONCLUDING
        assert len(asked) == stopped
        assert leg.last_asks == 0 or not any(isinstance(c, RunCalls | Ask) for c in step.commands)
        leg.last_asks += len(asked)
        leg.ends += sum(isinstance(command, End) for command in step.commands)
        assert leg.ends == (step.target in ENDINGS)
        if step.target in ENDINGS:
            assert isinstance(step.commands[-1], End)
            assert step.commands[-1].outcome == step.run.outcome
            for inside in step.inside:
                assert inside.source is not Message.CANDIDATE or inside.run.at is not Message.CHECKPOINT
        check_requests(leg, step, move.event)
        check_calls(leg, step, move.event)
        full = RUN.full(leg.begun)
        for budget, left in step.run.purse.items():
            limit = full[budget]
            assert left is None or (limit is not None and 0 <= left <= limit)
    return leg


def asked_for(fed: Fed, event: Event) -> tuple[Command, ...]:
    """What the steps asked for, less what a new leg asks anew, and the last reply where that is switched off."""
    asked: list[Command] = []
    for move in fed.moves:
        if isinstance(move, NewLeg):
            asked = [command for command in asked if isinstance(command, AnswerCalls)]
            continue
        if isinstance(move.event, NoReply) and move.event is not event:
            assert not fed.run.policy.budget.final_reply
            assert asked.pop() == Ask(final=True)
        asked += move.answer.commands if isinstance(move.answer, Step) else []
    return tuple(asked)


@given(histories())
@settings(max_examples=200, deadline=None)
def test_the_laws_of_a_run_hold_whatever_happens(history: tuple[Run, list[Event]]) -> None:
    run, events = history
    leg = Leg(run)
    bound = ends(RUN, run)
    assert isinstance(bound, Bound)
    for event in events:
        before = repr(run)
        fed = feed(run, event)
        assert repr(run) == before, "the given run is untouched"
        assert feed(run, event) == fed, "the same event does the same again"
        leg = check_leg(leg, fed)
        assert leg.steps <= bound.number
        assert (fed.run.outcome is not None) == (fed.run.at in ENDINGS)
        if fed.run.outcome is not None:
            check_outcome(fed.run, fed.run.outcome)
        assert fed.run.spent.now >= run.spent.now
        assert fed.run.turn.number >= run.turn.number
        assert fed.run.at is not Phase.CONCLUDING or run.policy.budget.final_reply
        assert fed.run.at is not Phase.ACTING or fed.run.turn.open
        assert fed.commands == asked_for(fed, event)
        run = fed.run


@given(histories(), st.floats(0, 1_000))
@settings(max_examples=40, deadline=None)
def test_an_open_run_is_cancelled_in_one_step(history: tuple[Run, list[Event]], at: float) -> None:
    run, events = history
    for event in [None, *events]:
        run = run if event is None else feed(run, event).run
        fed = feed(run, Cancel(at, "enough"))
        (move,) = fed.moves
        assert isinstance(move, Moved)
        if run.at in ENDINGS:
            assert fed.run is run
            continue
        assert isinstance(move.answer, Step)
        assert fed.run.at is Phase.CANCELLED
        assert isinstance(fed.commands[-1], End)


@given(histories())
@settings(max_examples=40, deadline=None)
def test_a_run_that_has_ended_moves_only_when_a_person_speaks(history: tuple[Run, list[Event]]) -> None:
    run, events = history
    run = feed(feed(run, Begin(0.0)).run, Cancel(1.0)).run
    for event in events:
        fed = feed(run, event)
        if isinstance(event, Said) and not event.synthetic:
            assert fed.run.leg == run.leg + 1
        else:
            assert fed.run is run
            assert fed.commands == ()


@given(st.sampled_from(OPEN), every)
@settings(max_examples=150, deadline=None)
def test_no_event_is_a_fault_in_any_state(phase: Phase, event: Event) -> None:
    run = attrs.evolve(new_run("run", tools=TOOLS), at=phase)
    for answer in (RUN.step(run, event), *(move.answer for move in feed(run, event).moves if isinstance(move, Moved))):
        assert not isinstance(answer, Fault)
        if isinstance(answer, Ignored):
            assert told(RUN, event, answer)


def test_a_run_that_meets_every_incident_in_every_turn_comes_close_to_its_bound() -> None:
    """The bound is no idle number: a world that does its worst gets near it, and a run never beyond."""
    budget = Budget(turns=6, seconds=None, tokens=None, usd=None, reply_tokens=None, calls_per_turn=1)
    policy = Policy(budget=budget, detectors=Detectors(vain_condensing=Condensings(enabled=False)))
    run, bound = new_run("run", policy), ends(RUN, new_run("run", policy))
    assert isinstance(bound, Bound)
    number, steps = 0, 0

    def happens(event: Event) -> None:
        nonlocal run, steps
        fed = feed(run, event)
        run, steps = fed.run, steps + sum(map(counts, steps_of(fed)))

    happens(Begin(0.0))
    recovery = policy.recovery
    while run.at is Phase.ASKING:
        number += 1
        for _ in range(recovery.condensed):
            happens(Refusal(1.0, 413, Text("body", 4)))
            happens(Condensed(1.0, 100_000))
        for shorter in range(recovery.condensed_ahead):
            happens(Measured(1.0, 9_000 - shorter, 8_000))
            happens(Condensed(1.0, 100_000))
        for _ in range(recovery.truncated):
            happens(Reply(1.0, StopReason.CONTEXT_WINDOW, text=Text("words", 5)))
            happens(Condensed(1.0, 100_000))
        for wrong, times_over in (
            (Refusal(1.0, 529, Text("body", 4)), recovery.refused),
            (Refusal(1.0, 400, Text("body", 4), kind=RefusalKind.TRANSCRIPT), recovery.transcript),
            (Refusal(1.0, 400, Text("body", 4), kind=RefusalKind.BAD_CALL), recovery.bad_call),
            (Refusal(1.0, 400, Text("body", 4), kind=RefusalKind.REPLY_BUDGET, budget=32_000), recovery.reply_budget),
            (Reply(1.0, StopReason.PAUSE), recovery.paused),
            (Reply(1.0, StopReason.MALFORMED_CALL), recovery.malformed),
            (Reply(1.0, StopReason.END_TURN), recovery.empty),
        ):
            for _ in range(times_over):
                happens(wrong)
        left = {Purse.TURN: 7 - number, Purse.RESCUE: policy.escalation.rescues, Purse.HELD: 2 if number == 1 else 0}
        assert run.purse == dict.fromkeys(run.purse, policy.recovery.condensed) | left
        assert sum(count or 0 for count in run.reply.left.values()) == recovery.unfinished_plan
        assert sum(count or 0 for count in run.request.left.values()) == recovery.short_prompt
        happens(Reply(1.0, StopReason.TOOL_USE, (Call("1", "read", b"signature", Text("args", 4)),)))
        for name in ("first", "second"):  # a call that waits for one thing after another
            happens(Awaits(1.0, "1", Awaited.SIGNAL, name))
            happens(Signal(1.0, name))
        happens(Result(1.0, "1", b"%d" % number))
    happens(NoReply(1.0, "gone"))
    assert run.at in ENDINGS
    # The bound counts what may happen while a call is held as often as one is, and each recovery as the dearest is.
    assert 0.45 * bound.number <= steps <= bound.number
