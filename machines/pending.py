"""What a run that was put down, or broke off, is to go on with: read off its state, and what it had asked for.

The rules: a command whose answer is in the journal is done, and never carried out again. One that was asked for and has
no answer may have been sent, or not: nobody knows. A request is sent again, since it changes nothing. A call is sent
again, under its key, where its tool declares that this does no harm; any other is answered as one whose outcome is
unknown, which the model is told and the account names. No call is sent a third time: what ended its process twice might
end it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import attrs

from .commands import Ask, Command, Condense, RunCalls, WaitUntil
from .events import NO_LAST_REPLY, Begin, Call, ErrorKind, Event, NoReply, Result, TurnEnded
from .held import consent_key
from .host import Key
from .state import Phase, Run

MOST_SENT: Final = 2
"""How often a call is sent at most, under one key."""

MOST_ASKED: Final = 5
"""How often a request is: it changes nothing, and a process may be stopped for good reasons while one is out."""

UNKNOWN: Final = (
    "outcome unknown: the process ended while this call was under way. Whether it took effect is not known."
)
"""What answers a call that is not sent again."""


@attrs.frozen
class Asked:
    """A command that takes time, the number of the line that asked for it, and how often it may have been sent."""

    command: Command
    line: int
    sent: int = 1


@attrs.frozen
class Pending:
    """What is to be fed, and then carried out, under the keys of before; `in_flight` as the journal tells it."""

    events: tuple[Event, ...] = ()
    commands: tuple[tuple[Command, Key], ...] = ()
    in_flight: tuple[dict[str, object], ...] = ()


def pending(run: Run, asked: Mapping[str, Asked], at: float) -> Pending:
    """What goes on with a run that has not ended. `asked`: by its kind, the last command of each that takes time.

    Raises `ValueError` for a run that never began: nothing was asked for yet, its task is not known.
    """
    if run.at is Phase.READY and run.leg > 1:  # its process ended between a leg's line and the words that began it
        return Pending((Begin(at),))
    if run.at is Phase.READY:
        raise ValueError("the run never began, and its task is not in the journal; start it again under another name")
    if run.at is Phase.ACTING:
        return _of_calls(run, asked.get(RunCalls.__name__), at) if run.turn.open else Pending((TurnEnded(at),))
    if run.at is Phase.WAITING:
        wait = asked.get(WaitUntil.__name__, Asked(WaitUntil(at), 0))
        return Pending(commands=((wait.command, Key(run.id, wait.line, WaitUntil.__name__)),))
    if run.at is Phase.CONCLUDING and not run.policy.budget.final_reply:
        return Pending((NoReply(at, NO_LAST_REPLY),))  # its process ended before the line that says so
    kind = _KINDS[run.at]
    found = asked.get(kind.__name__)
    command = kind() if found is None else found.command  # a journal that another program wrote may not say
    line = 0 if found is None else found.line
    key = Key(run.id, line, kind.__name__)
    if kind is not Ask or found is None:
        return Pending(commands=((command, key),))
    again = found.sent < MOST_ASKED
    flight = (_in_flight(kind.__name__, line, again=again),)
    if again:
        return Pending(commands=((command, key),), in_flight=flight)
    why = f"the request was sent {found.sent} times, and the process ended each time before a reply came"
    return Pending((NoReply(at, why),), in_flight=flight)


_KINDS: Final[Mapping[Phase, type[Ask | Condense]]] = {
    Phase.ASKING: Ask,
    Phase.RECOVERING: Ask,
    Phase.CONCLUDING: Ask,
    Phase.CONDENSING: Condense,
}


def _of_calls(run: Run, found: Asked | None, at: float) -> Pending:
    line, sent = (0, MOST_SENT) if found is None else (found.line, found.sent)
    came = {one.call.id for one in run.turn.came}  # its answer is there already, and nothing is sent for it
    again = [
        call
        for call in run.turn.open
        if call.id in came or (run.tool(call.tool).repeatable and sent < MOST_SENT and _consented(run, call, at))
    ]
    unknown = [call for call in run.turn.open if call not in again]
    events = tuple(Result(at, call.id, error=ErrorKind.OUTCOME_UNKNOWN) for call in unknown)
    key = Key(run.id, line, RunCalls.__name__)
    flight = [_in_flight(f"call {call.id}", line, again=call in again) for call in run.turn.open]
    commands = ((RunCalls(tuple(call.id for call in again)), key),) if again else ()
    return Pending(events, commands, tuple(flight))


def _consented(run: Run, call: Call, at: float) -> bool:
    """Whether the consent that the call was sent under, if it needs one that ends, has not ended."""
    rule = run.tool(call.tool).consent
    return rule is None or rule.lasts_seconds is None or run.outside.consents.get(consent_key(call), 0.0) > at


def _in_flight(kind: str, line: int, *, again: bool) -> dict[str, object]:
    return {"kind": kind, "seq": line, "again": again}
