"""What the rows of a run do with calls that wait for something outside: hold them, run them, or answer them."""

from __future__ import annotations

from statecraft.evolve import evolve

from ._run_endings import Done, conclude, left_open, unanswered
from ._run_guards import NOT_RUN, mark_of
from ._run_spending import at_time
from .commands import AnswerCalls, RunCalls, TellPerson, WaitUntil
from .events import Awaited, Awaits, Call, Clock, ErrorKind, Signal, TurnEnded
from .held import APPROVE, DENY, FOREVER, HELD_CALL, Held, HeldState, consent_key
from .held import told_of as told_of_held
from .outcome import Fact, Reason
from .state import Run, held_full
from .turn import refused


def needs_consent(run: Run, call: Call) -> Held | None:
    """The call as it is held, where its tool wants a consent to each and none holds for this one."""
    rule, now = run.tool(call.tool).consent, run.spent.now
    if rule is None or run.outside.consents.get(consent_key(call), 0.0) > now:
        return None
    until = min(now + min(FOREVER if rule.wait_seconds is None else rule.wait_seconds, run.time_left(now)), FOREVER)
    return Held(call, Awaited.CONSENT, call.id, now, until, choices=(APPROVE, DENY), lasts=rule.lasts_seconds)


def hold(run: Run, event: Awaits) -> Done:
    """A call asked for something outside: until that comes it is open no longer, and not answered either."""
    run = at_time(run, event)
    now, turn = run.spent.now, run.turn
    call = next(call for call in turn.open if call.id == event.call)
    until = min(FOREVER if event.until is None else event.until, now + run.time_left(now))
    one = Held(call, event.awaited, event.name, now, until, question=event.question, choices=event.choices)
    left = tuple(other for other in turn.open if other is not call)
    return evolve(run, turn=evolve(turn, open=left, held=(*turn.held, one))), ()


def wait_outside(run: Run, event: TurnEnded) -> Done:
    """The turn has calls that wait for something outside: nothing is judged before they are answered."""
    run = at_time(run, event)
    tell = [TellPerson(HELD_CALL, told_of_held(one)) for one in run.turn.held if not one.told]
    held = tuple(one if one.told else evolve(one, told=True) for one in run.turn.held)
    names = tuple(sorted({one.name for one in held}))
    until = min(one.until for one in held)
    return evolve(run, turn=evolve(run.turn, held=held)), [*tell, WaitUntil(until, names)]


def release(run: Run, event: Signal) -> Done:
    """What a call waited for has come: it is run. An approval that lasts is kept for calls like it."""
    run = marked(run, event)
    turn, outside = run.turn, run.outside
    one = next(one for one in turn.held if one.at is HeldState.ANSWERED)
    if one.awaited is Awaited.CONSENT and one.consented_until > run.spent.now:
        outside = evolve(outside, consents=outside.consents.insert(consent_key(one.call), one.consented_until))
    # An answer stays with its call until that is answered: whoever runs it looks there.
    answers = () if one.awaited is Awaited.CONSENT else (one,)
    left = tuple(other for other in turn.held if other is not one)
    turn = evolve(turn, held=left, open=(*turn.open, one.call), came=(*turn.came, *answers))
    return evolve(run, turn=turn, outside=outside), [RunCalls((one.call.id,))]


COUNTED = {
    HeldState.DENIED: ErrorKind.PERMISSION,
    HeldState.EXPIRED: ErrorKind.TIMEOUT,
    HeldState.WITHDRAWN: ErrorKind.BUSINESS,
}
"""How a held call counts that was not run."""


def answer_held(run: Run, event: Signal | Clock) -> Done:
    """A held call is answered without being run, with what became of its question."""
    run = marked(run, event)
    turn = run.turn
    one = next(one for one in turn.held if one.at in NOT_RUN)
    left = tuple(other for other in turn.held if other is not one)
    answer = refused(one.call, COUNTED[one.at])
    return evolve(run, turn=evolve(turn, held=left, answers=(*turn.answers, answer))), [
        AnswerCalls((one.call.id,), _in_vain(one))
    ]


def _in_vain(one: Held) -> str:
    who = f" by {one.by}" if one.by else ""
    waited = f"after {max(0.0, one.when - one.since):.0f} s"
    match one.at:
        case HeldState.DENIED:
            return f"not run: a person was asked, and it was denied{who}"
        case HeldState.EXPIRED if one.answer is not None or one.value is not None:
            kept = "" if one.lasts is None else f", and was to hold for {one.lasts:.0f} s"
            return f"not run: an answer was given{who} {waited}{kept}; that time was over, so it counts for nothing"
        case HeldState.WITHDRAWN:
            return f"the question was withdrawn{who} {waited}: nobody has answered it, and nobody will"
        case _:
            what = "this call was not approved" if one.awaited is Awaited.CONSENT else "no answer came"
            return f"{what} in time ({waited}); that is no denial, and no approval either"


def stop_held(run: Run, event: Signal | Clock) -> Done:
    """The calls of one turn waited for something outside again and again."""
    run, answers = marked(run, event), unanswered(run)
    return conclude(left_open(run), answers, Reason("held", (("allowed", held_full(run)),)), Fact.STUCK)


def hear_signal(run: Run, event: Signal | Clock) -> Done:
    """Nothing that is waited for came of it: the wait goes on. What is for something else may be so at another time."""
    named = isinstance(event, Signal) and any(one.name == event.name for one in run.turn.held)
    return marked(run, event) if named else at_time(run, event), ()


def marked(run: Run, event: Signal | Clock) -> Run:
    """The run at the event's time, with the signal marked as heard."""
    run = at_time(run, event)
    if not isinstance(event, Signal) or not event.id:
        return run
    return evolve(run, outside=evolve(run.outside, heard=run.outside.heard.insert(mark_of(event))))
