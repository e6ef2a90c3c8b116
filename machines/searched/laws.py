"""What an agent's run never does, whatever model, tools, provider, person and clock do.

Each law is a predicate on one step; what it has to remember of the steps before is said beside it. The calls of one
reply have different ids: whoever reads a provider's reply sees to that, before it is an event.
"""

from __future__ import annotations

from typing import Any, Final

from statecraft import Step
from statecraft.proofs import Law, Taken

from .._run_endings import account_of
from ..commands import AnswerCalls, Ask, Discard, End, RunCalls, Tell, WaitUntil
from ..detectors.roster import CONDENSING, ROSTER
from ..events import Awaits, Cancel, Event, Reply, Result, Text, TurnEnded
from ..message import Message, artifacts, blocked, grounded, was_cut, words
from ..outcome import TerminalStatus, message_of
from ..reply import mending
from ..request import Retry, sending
from ..state import ENDINGS, Phase, Purse, Run, condensings_full
from ..turn import asked_by
from ..wait import OneWait

Taking = Taken[Run, Event]
Stepped = Step[Run, Any]

NUDGING: Final = frozenset((*(detector.name for detector in ROSTER), CONDENSING.name))


def _ended(step: Taking) -> Stepped | None:
    """The step, if it is the one that ended the run."""
    taken = step.stepped
    return taken if taken is not None and taken.target in ENDINGS else None


def checkpoint_ends(step: Taking, _: object) -> str:
    """A reply that the message machine finds to be a checkpoint leaves the run open."""
    taken = _ended(step)
    if taken is None or not any(one.run.at is Message.CHECKPOINT for one in taken.inside):
        return ""
    return f"a checkpoint ended the run as {taken.run.at.value}"


def forced_completes(step: Taking, _: object) -> str:
    """A run that a rule stops is not completed, whatever its last reply says."""
    taken = _ended(step)
    stop = None if taken is None else taken.run.stop
    if taken is None or stop is None or taken.run.at is not Phase.COMPLETED:
        return ""
    return f"stopped by {stop.by}, and yet completed"


def ends_with_nothing(step: Taking, _: object) -> str:
    """Every ending has an outcome, of the same name, whose message is not empty, even where every text is gone."""
    taken = _ended(step)
    if taken is None:
        return ""
    outcome = taken.run.outcome
    if outcome is None or not taken.commands or taken.commands[-1] != End(outcome):
        return "the run has ended, and its last command is not the end with its outcome"
    if outcome.status.value != taken.run.at.value:
        return f"ended in {taken.run.at.value}, with the outcome {outcome.status.value}"
    if outcome.account != account_of(taken.run, step.event.at):
        return "the account is not that of the run"
    shown = (message_of(outcome, _gone), message_of(outcome, _blank))
    return "" if all(one.strip() for one in shown) else "the message of the outcome is empty"


def _gone(text: Text) -> str | None:
    """The content of a text that is no longer kept."""
    return None


def _blank(text: Text) -> str | None:
    """The content of a text that says nothing."""
    return " "


def last_reply(step: Taking, _: object) -> str:
    """A stop asks for one reply without tools, and nothing is asked for afterwards."""
    taken = step.stepped
    if taken is None:
        return ""
    asks = [one for one in taken.commands if isinstance(one, Ask)]
    if step.before.stop is not None:
        return "a request after the stop was decided" if asks else ""
    if taken.run.stop is None:
        return "a last reply without a stop" if any(one.final for one in asks) else ""
    finals = sum(one.final for one in asks)
    return "" if len(asks) == finals == 1 else f"a stop with {len(asks)} requests, of which {finals} are last ones"


def runs_after_stop(step: Taking, _: object) -> str:
    """Once the stop is decided no call is run."""
    taken = step.stepped
    if taken is None or taken.run.stop is None:
        return ""
    return "calls are run after the stop was decided" if any(isinstance(c, RunCalls) for c in taken.commands) else ""


def runs_broken_call(step: Taking, _: object) -> str:
    """No call is run of a reply that was cut off; of any other none whose arguments are no object, or of no tool."""
    taken = step.stepped
    if taken is None:
        return ""
    event = step.event
    sound = (
        event.calls if isinstance(event, Reply) else (*step.before.turn.open, *(h.call for h in step.before.turn.held))
    )
    by_id = {call.id: call for call in sound if call.parsed and not call.cut and call.tool}
    cut = isinstance(event, Reply) and was_cut(event)
    for command in taken.commands:
        for call in command.calls if isinstance(command, RunCalls) else ():
            if cut or call not in by_id:
                return f"the call {call} is run, which was cut off, cannot be read, or was not made"
    return ""


Owed = tuple[tuple[str, ...], tuple[str, ...]]
"""Calls of the turn that have no answer, and those that were run."""

NOTHING_OWED: Final[Owed] = ((), ())


def _less(calls: tuple[str, ...], call: str) -> tuple[str, ...]:
    at = calls.index(call)
    return calls[:at] + calls[at + 1 :]


def owed_after(owed: Owed, step: Taking) -> Owed:
    """What is owed after the step; an answer that nobody is owed changes nothing."""
    taken = step.stepped
    if taken is None:
        return owed
    unanswered, ran = owed
    event = step.event
    if step.before.at is Phase.READY:
        unanswered, ran = NOTHING_OWED
    if isinstance(event, Reply):
        unanswered, ran = tuple(call.id for call in event.calls), ()
    if _of_turn(step) and isinstance(event, Result) and event.call in unanswered:
        unanswered = _less(unanswered, event.call)
    if isinstance(event, Awaits):
        ran = tuple(call for call in ran if call != event.call)
    for command in taken.commands:
        if isinstance(command, Discard):
            unanswered = ()
        if isinstance(command, RunCalls):
            ran += command.calls
        if isinstance(command, AnswerCalls):
            for call in command.calls:
                if call in unanswered:
                    unanswered = _less(unanswered, call)
    return unanswered, ran


def _of_turn(step: Taking) -> bool:
    """An answer to a call that is open: one that comes later is news, and no answer any more."""
    return isinstance(step.event, Result) and asked_by(step.before.turn.open, step.event) is not None


def answers(step: Taking, owed: Owed) -> str:
    """Every call of a reply has one answer by the end of its turn: its tool's, or one that says why it was not run."""
    taken = step.stepped
    if taken is None or step.before.at is Phase.READY:
        return ""
    unanswered, _ = owed
    event = step.event
    if isinstance(event, Reply):
        if unanswered:
            return f"the calls {', '.join(unanswered)} have no answer, and the next reply is here"
        unanswered = tuple(call.id for call in event.calls)
    if isinstance(event, Result) and _of_turn(step):
        if event.call not in unanswered:
            return f"the call {event.call} has an answer already"
        unanswered = _less(unanswered, event.call)
    for command in taken.commands:
        for call in command.calls if isinstance(command, AnswerCalls) else ():
            if call not in unanswered:
                return f"the call {call} is answered, which has an answer already or was not made"
            unanswered = _less(unanswered, call)
    if any(isinstance(command, Discard) for command in taken.commands):
        return ""  # the reply is not kept, and its calls with it
    if unanswered and taken.target not in (Phase.ACTING, Phase.WAITING):
        return f"the calls {', '.join(unanswered)} have no answer at the end of their turn"
    return ""


def runs_twice(step: Taking, owed: Owed) -> str:
    """A call is run once under one key; one that asked for something outside is run again with what came, and no more.

    What a process that was killed does again, under the same key, is decided outside the table (`pending`).
    """
    taken = step.stepped
    if taken is None:
        return ""
    ran = () if isinstance(step.event, Reply) else owed[1]
    run = [call for command in taken.commands if isinstance(command, RunCalls) for call in command.calls]
    again = [call for n, call in enumerate(run) if call in ran or call in run[:n]]
    return f"the call {again[0]} is run a second time" if again else ""


def waits_too_long(step: Taking, _: object) -> str:
    """Whatever is waited for, the run's own time is not over before it."""
    taken = step.stepped
    if taken is None or taken.run.policy.budget.seconds is None:
        return ""
    run, limit = taken.run, taken.run.policy.budget.seconds
    until = [command.at for command in taken.commands if isinstance(command, WaitUntil)]
    until += [one.run.until for one in taken.inside if isinstance(one.run, OneWait)]
    until += [one.until for one in run.turn.held]
    # A run whose time is over, or that was told so late, waits no longer; it only hears that it is over.
    last = max(until, default=0.0)
    if last <= run.spent.now or run.spent.seconds(last) <= limit:
        return ""
    return f"waits until {last:g}, when {run.spent.seconds(last):g} of its {limit:g} seconds are spent"


def recoveries_kept(step: Taking, _: object) -> str:
    """A turn that brought something new ends the incident: the next one has every recovery again."""
    taken = step.stepped
    if taken is not None and isinstance(step.event, Reply) and taken.target is Phase.ACTING:
        whole = sending(taken.run.policy.recovery).left  # the request went through: its own incident is over
        kept = [b.value for b, left in taken.run.request.left.items() if b is not Retry.INSISTED and left != whole[b]]
        return f"a request went through, and recoveries are still spent: {', '.join(kept)}" if kept else ""
    if taken is None or not _goes_on_after_progress(step, taken):
        return ""
    run, fresh = taken.run, mending(taken.run.policy.recovery)
    spent: list[str] = [budget.value for budget, left in run.reply.left.items() if left != fresh.left[budget]]
    if run.purse[Purse.CONDENSED] != condensings_full(run):
        spent.append(Purse.CONDENSED.value)
    return f"after progress, recoveries are still spent: {', '.join(spent)}" if spent else ""


def _goes_on_after_progress(step: Taking, taken: Stepped) -> bool:
    """A turn with something new in it is over, and the run is not; calls that are held keep their turn open."""
    if not isinstance(step.event, TurnEnded) or not step.before.turn.signal or step.before.turn.held:
        return False
    return taken.target in (Phase.ASKING, Phase.WAITING)


Nudged = tuple[int, ...]
"""The nudges that stand, by how many turns ago each was given. What one request tells of several is one nudge."""


def _nudge_of(step: Taking) -> bool:
    taken = step.stepped
    told = () if taken is None else taken.commands
    return any(isinstance(command, Tell) and command.by in NUDGING for command in told)


def nudged_after(turns: Nudged, step: Taking) -> Nudged:
    """The nudges that stand after the step: one counts from the reply to the request that told it."""
    taken = step.stepped
    if taken is None:
        return turns
    run = taken.run
    if taken.target in ENDINGS or step.before.at is Phase.READY:
        return ()
    ended = isinstance(step.event, TurnEnded)
    if (ended and step.before.turn.signal) or any(isinstance(c, Tell) and c.by == "rescue" for c in taken.commands):
        turns = ()
    heard = isinstance(step.event, Reply) and step.before.told
    turns = (*turns, 0) if heard else turns
    moved = run.turn.number - step.before.turn.number
    return tuple(ago + moved for ago in turns if ago + moved < run.policy.escalation.within)


def nudges_on(step: Taking, turns: Nudged) -> str:
    """The third nudge within the ladder's turns is a stop, unless something new came in between."""
    run = step.before
    if not run.policy.escalation.stops or not _nudge_of(step) or run.turn.signal:
        return ""
    stand = sum(ago < run.policy.escalation.within for ago in turns)
    return f"a third nudge within {run.policy.escalation.within} turns, without a stop" if stand > 1 else ""


def cancel_fails(step: Taking, _: object) -> str:
    """To cancel a run that has not ended ends it, in that step."""
    if not isinstance(step.event, Cancel) or step.before.at in ENDINGS:
        return ""
    return "" if step.after.at is Phase.CANCELLED else f"cancelled, and the run is {step.after.at.value}"


def overspends(step: Taking, _: object) -> str:
    """Once the budget is spent only the last reply is asked for: what goes beyond it is one request, and that."""
    taken = step.stepped
    if taken is None or not any(isinstance(c, Ask) and not c.final for c in taken.commands):
        return ""
    budget, usage = taken.run.policy.budget, taken.run.spent.usage
    used = usage.input + usage.output
    if budget.tokens is not None and used >= budget.tokens:
        return f"asks on, with {used} of {budget.tokens} tokens spent"
    if budget.usd is not None and usage.usd >= budget.usd:
        return f"asks on, with {usage.usd:g} of {budget.usd:g} US dollars spent"
    return ""


def grounded_fails(step: Taking, _: object) -> str:
    """An answer that is grounded, and not blocked, is no failure. Builds and edits go by what they leave behind."""
    taken, event = _ended(step), step.event
    if taken is None or not isinstance(event, Reply) or taken.run.outcome is None:
        return ""
    candidate = taken.run.candidate
    own = event.agent in (None, taken.run.agent)
    answer = own and words(candidate, event).holds and grounded(candidate, event).holds
    if not answer or blocked(candidate, event).holds or artifacts(candidate, event).holds:
        return ""
    status = taken.run.outcome.status
    if status in (TerminalStatus.COMPLETED, TerminalStatus.PARTIAL):
        return ""
    return f"a grounded answer without a blocker ended as {status.value}"


LAWS: Final[tuple[Law[Taking], ...]] = (
    Law("a checkpoint never ends a run", "what is only under way is no answer", checkpoint_ends),
    Law("a forced stop is never completed", "a limit that was reached is no success", forced_completes),
    Law("an ending has a message and an account", "nobody can act on an empty ending", ends_with_nothing),
    Law("a stop spends one reply without tools", "a stop has to explain itself, and to end", last_reply),
    Law("no tool runs after a stop", "a run that is over changes nothing more", runs_after_stop),
    Law("a cut, garbled or invalid call never runs", "nobody knows what it was to do", runs_broken_call),
    Law(
        "a call is answered exactly once",
        "providers refuse a history with a call that has no answer, or two",
        answers,
        NOTHING_OWED,
        owed_after,
    ),
    Law("a wait is never longer than the run", "a run that waits beyond its end never ends", waits_too_long),
    Law("recoveries are full after progress", "an incident that is over says nothing of the next", recoveries_kept),
    Law(
        "two nudges lead to progress or a stop",
        "a nudge that nobody heeds costs as much as none",
        nudges_on,
        (),
        nudged_after,
    ),
    Law("a call never runs twice", "an effect that happens twice may harm", runs_twice, NOTHING_OWED, owed_after),
    Law("cancel ends a run", "whoever starts a run can end it", cancel_fails),
    Law("a spent budget pays for the last reply alone", "a limit that does not hold is none", overspends),
    Law("a grounded answer is no failure", "what was found out is handed over", grounded_fails),
)
