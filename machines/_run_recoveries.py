"""What the rows of a run do about a reply or a request that went wrong, and about a history that outgrows its window.

What is to be done was decided by the machines `reply` and `request`; here it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from statecraft.evolve import evolve

from ._run_effects import asks, close_turn, kept, third, values_of
from ._run_endings import Done, answered, conclude, unanswered
from ._run_spending import at_time, charge, charge_summary
from .commands import Ask, Command, Condense, Discard, Simplify, Tell, Withdraw
from .detectors.roster import CONDENSING
from .detectors.vain_condensing import vain
from .events import Condensed, Measured, Refusal, Reply, StopReason, Values
from .message import Candidate, Message
from .outcome import Fact, Reason
from .refusals.believed import believed
from .reply import FULL_AT, Mend, ReplyCase, chars_of
from .request import RequestCase, Retry, fitting
from .state import Cause, Phase, Run

FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 30.0
"""Seconds: the first wait before a refused request is sent again, doubled at each refusal, and the longest."""

CUT: Final = "the reply was cut off, so its calls may be incomplete"
"""What answers the calls of a reply that was cut off."""


def recover(run: Run, event: Reply) -> Done:
    """A reply that went wrong is continued, sent back, or asked for anew: what it was a candidate for is nothing."""
    run = run if run.candidate.at is Message.CANDIDATE else evolve(run, candidate=Candidate())
    return _RECOVERIES[run.reply.case](charge(run, event), event)


def _continue(run: Run, event: Reply) -> Done:
    run, told = _raised(kept(run, event), event)
    return run, [Tell("continued", told), asks(run)]


def _call_again(run: Run, event: Reply) -> Done:
    run, told = _raised(kept(run, event), event)
    told = (("declared", True), *told) if event.draft is not None else told
    return run, [*answered(event, CUT), Tell("cut_call", told), asks(run)]


def _think_less(run: Run, event: Reply) -> Done:
    run, told = _raised(run, event)
    return run, [Discard(), Tell("cut_thought", told), asks(run)]


def _resume(run: Run, event: Reply) -> Done:
    return run, [asks(run)]


def _ask_anew(run: Run, event: Reply) -> Done:
    return run, [Discard(), Tell("malformed"), asks(run)]


def _remind(run: Run, event: Reply) -> Done:
    told = Tell("unfinished_plan", (("open_items", run.open_items),))
    return run, [*([] if event.text else [Discard()]), told, asks(run)]


def _nudge(run: Run, event: Reply) -> Done:
    return run, [Discard(), Tell("empty"), asks(run)]


_RECOVERIES: Final[Mapping[ReplyCase, Callable[[Run, Reply], Done]]] = {
    ReplyCase.CONTINUED: _continue,
    ReplyCase.CUT_CALL: _call_again,
    ReplyCase.CUT_THOUGHT: _think_less,
    ReplyCase.RESUMED: _resume,
    ReplyCase.ASKED_AGAIN: _ask_anew,
    ReplyCase.REMINDED: _remind,
    ReplyCase.NUDGED: _nudge,
}


def _raised(run: Run, event: Reply) -> tuple[Run, Values]:
    """The run with twice the reply budget, up to the model's limit, and what the model is told of it.

    Where the window has no room for that much, the next request has less, and nothing is promised.
    """
    if event.budget is None:
        return run, ()
    # What the window left of it is no new budget.
    had = max(event.budget, run.reply_tokens or run.policy.budget.reply_tokens or 0)
    had = had if event.most is None else max(event.budget, min(had, event.most))
    twice = 2 * had if event.most is None else max(had, min(2 * had, event.most))
    run = evolve(run, reply_tokens=twice)
    if twice > had and event.window is not None:
        next_at_most = event.usage.input + event.usage.output + twice
        if next_at_most > FULL_AT * event.window:
            return run, (("budget", twice), ("next_at_most", next_at_most), ("window", event.window))
    return run, (("budget", twice), ("raised", twice > had))


def condense_full(run: Run, event: Reply) -> Done:
    """The reply was cut where the window was full: the history is made shorter, and the reply goes on."""
    run = evolve(kept(charge(run, event), event), cause=Cause.FULL)
    by = "cut_call" if event.calls else "continued" if chars_of(event) else "cut_thought"
    first = [Discard()] if by == "cut_thought" else answered(event, CUT)
    return run, [*first, Tell(by, (("full", True),)), Condense(run.cause.value)]


def stop_full(run: Run, event: Condensed) -> Done:
    """The window is full, and nothing of the history can be made shorter."""
    reason = Reason("recovery_exhausted", (("of", "full_window"), ("freed", event.freed)))
    return conclude(condensed(run, event), [], reason, Fact.TRUNCATED, Fact.RECOVERY_EXHAUSTED)


def stop_truncated(run: Run, event: Reply) -> Done:
    """Cut off once too often in one incident."""
    reason = _exhausted(run, Mend.TRUNCATED)
    run = kept(charge(run, event), event)
    return conclude(run, answered(event, CUT), reason, Fact.TRUNCATED, Fact.RECOVERY_EXHAUSTED)


def stop_malformed(run: Run, event: Reply) -> Done:
    """Calls that nobody can tell, once too often in one incident."""
    reason = Reason("malformed_tool_input", (("allowed", run.policy.recovery.malformed), ("stop", event.stop.value)))
    return conclude(charge(run, event), [Discard()], reason, Fact.RECOVERY_EXHAUSTED)


def stop_spent(run: Run, event: Reply) -> Done:
    """Paused or empty once too often in one incident."""
    paused = event.stop is StopReason.PAUSE
    reason = _exhausted(run, Mend.PAUSED if paused else Mend.EMPTY)
    if event.text is not None:
        run = evolve(run, unfinished=event.text)
    return conclude(charge(run, event), [] if paused else [Discard()], reason, Fact.RECOVERY_EXHAUSTED)


def retry(run: Run, event: Refusal) -> Done:
    """A refused request is sent again, as what it was refused for allows."""
    run = at_time(run, event)
    match run.request.case:
        case RequestCase.FITTED:
            return _fitted(run, event)
        case RequestCase.REPAIRED:
            return run, [Simplify(), asks(run)]
        case RequestCase.TOLD:
            return run, [Tell("bad_call"), asks(run)]
        case RequestCase.RETRIED:
            return run, [asks(run, _wait(run, event))]
        case _:
            return run, [asks(run)]


def _fitted(run: Run, event: Refusal) -> Done:
    """A smaller reply budget: for this request, since a limit that was named is known to the host from now on.

    One that was only guessed holds for the run, or it would be guessed anew at each request.
    """
    tokens = fitting(event)
    if event.limit is None:
        run = evolve(run, reply_tokens=tokens)
    return run, [Ask(reply_tokens=tokens)]


def _wait(run: Run, event: Refusal) -> float:
    """Seconds before the next try: what the provider says, else a wait that doubles with each refusal."""
    left = run.request.left[Retry.RETRIED]
    again = 0 if left is None else run.policy.recovery.refused - left - 1
    return min(FIRST_WAIT * 2**again, LONGEST_WAIT) if event.after is None else event.after


def condense(run: Run, event: Refusal) -> Done:
    """The history has to be shorter before the request can be sent again."""
    sizes = (None, None) if event.size is None else (event.size, believed(event.limit))
    return evolve(at_time(run, event), cause=Cause.REFUSED), [Condense(Cause.REFUSED.value, *sizes)]


def condense_ahead(run: Run, event: Measured) -> Done:
    """The request is not sent: it would hardly fit. The history is made shorter first."""
    return evolve(at_time(run, event), cause=Cause.AHEAD), [
        Withdraw(),
        Condense(Cause.AHEAD.value, event.estimate, event.room),
    ]


def note_measure(run: Run, event: Measured) -> Done:
    """It fits, or nothing is to be done about it any more."""
    return at_time(run, event), ()


def note_condensing(run: Run, event: Condensed) -> Done:
    """The history was condensed by the host's own rule."""
    return condensed(run, event), ()


def go_on_condensed(run: Run, event: Condensed) -> Done:
    """The history was condensed so that the request can be sent again."""
    run = condensed(run, event)
    return run, [asks(run)]


def tell_condensing(run: Run, event: Condensed) -> Done:
    """Condensing did not help: the model is told with the next request."""
    told = Tell(CONDENSING.name, values_of(CONDENSING.read(run, event)))
    after = condensed(run, event)
    streaks = evolve(after.streaks, nudged=(*after.streaks.nudged, CONDENSING.name))
    commands: list[Command] = [told, asks(run)] if run.at is Phase.CONDENSING else [told]
    return evolve(after, streaks=streaks, told=True), commands


def stop_third_vain(run: Run, event: Condensed) -> Done:
    """The nudge about condensing would be the third within the window."""
    return _give_up(run, event, third(run, CONDENSING.name))


def stop_condensing(run: Run, event: Condensed) -> Done:
    """Condensing helps no longer."""
    return _give_up(run, event, Reason(CONDENSING.name, values_of(CONDENSING.read(run, event))))


def _give_up(run: Run, event: Condensed, reason: Reason) -> Done:
    if run.at in (Phase.ASKING, Phase.RECOVERING):
        return conclude(condensed(run, event), [Withdraw()], reason, Fact.STUCK)
    return conclude(close_turn(condensed(run, event), event), unanswered(run), reason, Fact.STUCK)


def condensed(run: Run, event: Condensed) -> Run:
    """The run after a condensing: how many were in vain so far, how much work there was at this one, what it cost."""
    count = vain(run, event)
    streaks = run.streaks
    spoken = streaks.nudged if count else tuple(name for name in streaks.nudged if name != CONDENSING.name)
    changed = evolve(streaks, vain=count, work=run.ledger.work.size, condensed=run.turn.number, nudged=spoken)
    return at_time(charge_summary(evolve(run, streaks=changed), event), event)


def _exhausted(run: Run, of: Mend) -> Reason:
    allowed = int(getattr(run.policy.recovery, of.value))
    return Reason("recovery_exhausted", (("of", of.value), ("allowed", allowed)))
