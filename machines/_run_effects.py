"""What the rows of a run do: pure functions from (run, event) to the next run and its commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rpds import HashTrieSet

from statecraft import Evidence, Level, Reading, Scalar
from statecraft.evolve import evolve

from ._run_endings import Done, answered, conclude, left_open, unanswered
from ._run_guards import limit_reached, nudge_due
from ._run_holding import marked, needs_consent
from ._run_spending import at_time, charge, charge_summary, charged, timed
from .commands import AnswerCalls, Ask, Command, RunCalls, Show, Tell, TellPerson, WaitUntil, Withdraw
from .detectors.roster import CHANTING, ROSTER, Detector
from .escalation import Ladder
from .events import (
    Begin,
    Call,
    Chunk,
    Clock,
    Condensed,
    Event,
    GoalMeasured,
    PlanChanged,
    PollState,
    Reply,
    Result,
    Said,
    Signal,
    TurnEnded,
    Values,
)
from .ledger.work import Learned, learn_goal, learn_plan, learn_result
from .manifest import Kind
from .message import was_cut
from .outcome import Fact, Reason
from .reply import ReplyState, mending
from .request import RequestState, passed
from .state import Run
from .turn import Answer, Turn, asked_by, outcome_of, unrun
from .wait import WaitState, told_of

BY_NAME: Mapping[str, Detector[TurnEnded]] = {detector.name: detector for detector in ROSTER}

Effect = Callable[[Run, TurnEnded], Done]


def asks(run: Run, after: float = 0.0) -> Ask:
    """A request, with the reply budget that the run has by now."""
    return Ask(after=after, reply_tokens=run.reply_tokens)


def begin(run: Run, event: Begin | Said) -> Done:
    """The first request of a leg."""
    spent = evolve(run.spent, began=max(event.at, run.spent.now), now=max(event.at, run.spent.now))
    return evolve(run, spent=spent), [asks(run)]


def ask_again(run: Run, event: Clock | Signal) -> Done:
    """What was waited for has come."""
    return marked(run, event), [asks(run)]


def act(run: Run, event: Reply) -> Done:
    """Run the calls that may run; hold those that need a consent; answer those that do not parse, or are too many."""
    most = run.policy.budget.calls_per_turn
    parsed = [call for call in event.calls if call.parsed]
    beyond = tuple(call.id for call in parsed[most:])
    run = evolve(went_through(run), spent=charged(run.spent, event))
    held = tuple(one for call in parsed[:most] if (one := needs_consent(run, call)) is not None)
    waiting = {one.call.id for one in held}
    ran = [call for call in parsed[:most] if call.id not in waiting]
    left = [call for call in event.calls if not call.parsed] + parsed[most:]
    turn = evolve(_next_turn(run, tuple(ran)), answers=tuple(map(unrun, left[:most])), held=held)
    commands: list[Command] = [RunCalls(tuple(call.id for call in ran))] if ran else []
    commands += _garbled(event)
    if beyond:
        commands.append(AnswerCalls(beyond, f"a turn may hold {most} calls"))
    return evolve(run, turn=turn), commands


def _garbled(event: Reply) -> list[Command]:
    """Calls whose arguments are no object are answered with what is wrong with them."""
    wrong = {
        call.problem: [other.id for other in event.calls if not other.parsed and other.problem == call.problem]
        for call in event.calls
        if not call.parsed
    }
    said = "the arguments are not a JSON object"
    return [AnswerCalls(tuple(ids), f"{said}: {problem}" if problem else said) for problem, ids in wrong.items()]


def checkpoint(run: Run, event: Reply) -> Done:
    """The message is shown and ends nothing; the turn is judged like any other."""
    run = charge(went_through(run), event)
    return evolve(run, turn=_next_turn(run, ())), [Show(event.text)]


def went_through(run: Run) -> Run:
    """The turn moves on: its request was answered, and what was left unfinished is behind it."""
    if run.request.at is RequestState.SENT and run.unfinished is None:
        return run
    return evolve(run, request=passed(run.request), unfinished=None)


def afresh(effect: Effect) -> Effect:
    """The same, after progress: the incident is over, and its recoveries begin afresh."""

    def after(run: Run, event: TurnEnded) -> Done:
        mended = run if run.reply.at is ReplyState.SOUND else evolve(run, reply=mending(run.policy.recovery))
        return effect(mended, event)

    after.__name__ = f"{effect.__name__}_afresh"
    return after


def fold(run: Run, event: Result) -> Done:
    """One answer: into the ledger, and into the turn as what is judged."""
    turn, spent = run.turn, timed(run.spent, event)
    call = asked_by(turn.open, event)
    assert call is not None
    tool = run.tool(call.tool)
    progress = run.policy.progress
    learned = learn_result(run.ledger, call, event, tool, progress.recent_results)
    left = tuple(other for other in turn.open if other is not call)
    came = tuple(one for one in turn.came if one.call is not call) if turn.came else ()
    turn = _brought(evolve(turn, open=left, came=came), learned)
    if event.poll is PollState.WAITING and call.signature in run.waits.open:
        return evolve(run, spent=spent, ledger=learned.ledger, turn=evolve(turn, polls=turn.polls + 1)), ()
    error = event.error.value if event.error else ""
    came_to = (event.digest or b"", error) if progress.results else (b"", "")
    outcome = outcome_of(call.signature, *came_to)
    answer = Answer(
        call.tool,
        call.signature,
        outcome,
        error=event.error,
        seen=event.digest is not None,
        new=learned.new,
        idle=tool.scratch or tool.kind is Kind.THINK,
        wordless=learned.wordless,
        sourced=learned.sourced,
        fruitless=event.fruitless,
        empty=call.empty,
        failure=event.failure or b"",
        topic=call.topic,
        figures=call.figures,
    )
    return evolve(run, spent=spent, ledger=learned.ledger, turn=evolve(turn, answers=(*turn.answers, answer))), ()


def fold_late(run: Run, event: Result) -> Done:
    """An answer that comes after its turn was over is news all the same: of the turn under way, or the next one."""
    run = at_time(run, event)
    call = asked_by(run.unanswered, event)
    assert call is not None
    tool = run.tool(call.tool)
    learned = learn_result(run.ledger, call, event, tool, run.policy.progress.recent_results)
    left = tuple(other for other in run.unanswered if other is not call)
    return evolve(run, ledger=learned.ledger, unanswered=left, turn=_brought(run.turn, learned)), ()


def note_plan(run: Run, event: PlanChanged) -> Done:
    """The plan as it now stands."""
    ledger, signal = learn_plan(run.ledger, event)
    return _signalled(evolve(at_time(run, event), ledger=ledger), signal), ()


def note_goal(run: Run, event: GoalMeasured) -> Done:
    """The task's own count."""
    ledger, signal = learn_goal(run.ledger, event)
    return _signalled(evolve(at_time(run, event), ledger=ledger), signal), ()


def hear(run: Run, event: Said) -> Done:
    """Somebody spoke while the run is under way; nothing is cleared by it."""
    return at_time(run, event), ()


def ask(run: Run, event: TurnEnded) -> Done:
    """The turn is over and nothing is wrong with it."""
    return close_turn(run, event), [*unanswered(run), asks(run)]


def wait(run: Run, event: TurnEnded) -> Done:
    """The turn only looked at declared waits: nothing is judged or asked before it is worth looking again."""
    return close_turn(run, event), [*unanswered(run), WaitUntil(run.waits.next_at)]


def tell_wait(run: Run, event: TurnEnded) -> Done:
    """Waits ended as nobody hoped: the model is told, and a person where nobody foresaw the value."""
    return close_turn(run, event), [*_left_over(run), *_tell_waits(run), asks(run)]


def _left_over(run: Run) -> list[Command]:
    """What a turn leaves to be done, however it is judged: calls without an answer, and what a person should know."""
    unforeseen = [one for one in run.turn.waits_over if one.at is WaitState.UNRECOGNISED]
    return [*unanswered(run), *(TellPerson("wait", told_of(one)) for one in unforeseen)]


def _tell_waits(run: Run) -> list[Tell]:
    return [Tell("wait_over", told_of(one)) for one in run.turn.waits_over]


def nudge_by(detector: Detector[TurnEnded]) -> Effect:
    """The model is told what this detector saw, once in this streak."""

    def effect(run: Run, event: TurnEnded) -> Done:
        told = Tell(detector.name, values_of(detector.read(run, event)))
        closed = close_turn(run, event)
        streaks = evolve(closed.streaks, nudged=(*closed.streaks.nudged, detector.name))
        return evolve(closed, streaks=streaks, told=True), [*unanswered(run), told, asks(run)]

    effect.__name__ = f"nudge_{detector.name}"
    return effect


def nudge(run: Run, event: TurnEnded) -> Done:
    """The model is told what the first detector saw that has something to say."""
    return nudge_by(BY_NAME[str(nudge_due(run, event).seen["detector"])])(run, event)


def stop_by(detector: Detector[TurnEnded]) -> Effect:
    """This detector stops the run: one last reply, without tools."""

    def effect(run: Run, event: TurnEnded) -> Done:
        reason = Reason(detector.name, values_of(detector.read(run, event)))
        return conclude(close_turn(run, event), _left_over(run), reason, Fact.STUCK)

    effect.__name__ = f"stop_{detector.name}"
    return effect


def rescue_by(detector: Detector[TurnEnded]) -> Effect:
    """Instead of a stop the model is told what it still has to write, and the counts of standing still begin afresh."""

    def effect(run: Run, event: TurnEnded) -> Done:
        values = (
            ("instead_of", detector.name),
            ("unwritten", ", ".join(run.unwritten)),
            *values_of(detector.read(run, event)),
        )
        closed = close_turn(run, event)
        streaks = evolve(
            closed.streaks, barren=0, barren_ok=0, barren_failed=0, stalled=0, stalled_ok=0, stalled_failed=0, silent=0
        )
        # A rescue is a new beginning: no nudge of before it makes the next one a third.
        told = [*_tell_waits(run), Tell("rescue", values)]
        return evolve(closed, streaks=streaks, ladder=Ladder()), [*_left_over(run), *told, asks(run)]

    effect.__name__ = f"rescue_{detector.name}"
    return effect


def stop_before(detector: Detector[TurnEnded]) -> Callable[[Run, Reply], Done]:
    """No answer could change what this detector sees: the reply's calls are not run."""

    def effect(run: Run, event: Reply) -> Done:
        assert detector.before is not None
        reason = Reason(detector.name, values_of(detector.before(run, event)))
        calls = answered(event, "not run: it could not have come to anything else than before")
        return conclude(charge(run, event), calls, reason, Fact.STUCK)

    effect.__name__ = f"stop_before_{detector.name}"
    return effect


def stop_chanting(run: Run, event: Chunk) -> Done:
    """The reply under way says the same again and again: it is cut, and the last one is asked for."""
    reason = Reason(CHANTING.name, values_of(CHANTING.read(run, event)))
    return conclude(at_time(run, event), [Withdraw()], reason, Fact.STUCK)


def listen(run: Run, event: Chunk) -> Done:
    """A piece of a reply that is judged when it is whole."""
    return at_time(run, event), ()


def third(run: Run, detector: Scalar) -> Reason:
    """Two nudges stand, and this detector would give the third."""
    ladder = run.ladder
    values = (("detector", detector), ("older", ladder.older), ("newer", ladder.newer), ("turn", run.turn.number))
    return Reason("escalation", values)


def stop_escalated(run: Run, event: TurnEnded) -> Done:
    """A third nudge within the window: whichever detector gives it, it is a stop."""
    reason = third(run, nudge_due(run, event).seen["detector"])
    return conclude(close_turn(run, event), _left_over(run), reason, Fact.STUCK)


def stop_at_limit(run: Run, event: Event) -> Done:
    """A budget is used up, less what is held back for the last reply."""
    found = limit_reached(run, event)
    reason = Reason("limit") if found is None else Reason(found.name, _values(found))
    run = charge_summary(run, event) if isinstance(event, Condensed) else run
    after = close_turn(run, event) if isinstance(event, TurnEnded) else at_time(run, event)
    return conclude(after, _left_over(run), reason, Fact.LIMIT_REACHED)


def kept(run: Run, event: Reply) -> Run:
    """The run with what was written of a reply that was cut off: it is no answer, and it is not thrown away."""
    begun = event.draft or event.text
    return evolve(run, unfinished=begun) if begun is not None and was_cut(event) else run


def stop_at_limit_in_reply(run: Run, event: Reply) -> Done:
    """As `stop_at_limit`, on a reply that leads to another request: its usage counts, and none of its calls is run."""
    charged = kept(charge(run, event), event)
    found = limit_reached(charged, event)
    reason = Reason("turns", (("left", 0),)) if found is None else Reason(found.name, _values(found))
    return conclude(charged, answered(event, "the run has reached its limit"), reason, Fact.LIMIT_REACHED)


def _next_turn(run: Run, calls: tuple[Call, ...]) -> Turn:
    """The turn that a reply opens. What the plan or the goal said since the last one is news of this one."""
    turn = run.turn
    return Turn(turn.number + 1, open=calls, signal=turn.signal, strong=turn.strong, grew=turn.grew)


def values_of(reading: Reading) -> Values:
    """What a detector saw, as a nudge and a stop tell it."""
    return (("now", reading.now), ("stop", reading.stop), *sorted(reading.seen.items()))


def _values(found: Evidence) -> Values:
    return tuple(sorted(found.seen.items()))


def _signalled(run: Run, signal: str) -> Run:
    return evolve(run, turn=evolve(run.turn, signal=signal, strong=True)) if signal else run


def _brought(turn: Turn, learned: Learned) -> Turn:
    """What an answer brought, in the turn."""
    moved = learned.signal == "state"
    return evolve(
        turn,
        signal=learned.signal or turn.signal,
        strong=turn.strong or moved,
        moved=turn.moved or moved,
        grew=turn.grew or learned.grew,
    )


def close_turn(run: Run, event: TurnEnded | Event) -> Run:
    """The turn goes into the streaks; a change in the world lets waits that are over begin again."""
    streaks = run.turned
    if streaks.nudged and streaks is not run.streaks:
        still = tuple(name for name in streaks.nudged if name not in BY_NAME or _sees(BY_NAME[name], run, event))
        streaks = streaks if still == streaks.nudged else evolve(streaks, nudged=still)
    if run.turn.moved and run.waits.over:
        run = evolve(run, waits=evolve(run.waits, over=HashTrieSet()))
    run = left_open(run)
    return evolve(run, spent=timed(run.spent, event), turn=Turn(run.turn.number), streaks=streaks)


def _sees(detector: Detector[TurnEnded], run: Run, event: Event) -> bool:
    """Whether the detector that spoke still sees its streak, with the turn in it."""
    return detector.read(run, TurnEnded(event.at)).level >= Level.NUDGE
