"""A loop of one's own around a supervised run: it carries commands out, and feeds what comes of them.

The model of this one asks for the same invoice again and again, and its tool always fails: the run is told of it, then
stopped.
"""

from __future__ import annotations

from machines.commands import Ask, Command, RunCalls, Tell
from machines.events import Begin, Call, ErrorKind, Event, NoReply, Reply, StopReason
from machines.ledger.observe import call_of, result_of
from machines.manifest import UNDECLARED
from machines.state import Run, new_run
from machines.supervisor import ended, feed


def model(at: float) -> Call:
    """A model that repeats itself."""
    return call_of(f"call-{at:.0f}", "fetch", '{"invoice": 17}', UNDECLARED)


def carry_out(command: Command, at: float, calls: list[Call]) -> list[Event]:
    """What comes of a command. Most bring nothing."""
    match command:
        case Ask(final=True):  # the run was stopped; the model may say one last thing
            return [NoReply(at, "this model has nothing more to say")]
        case Ask():
            calls[:] = [model(at)]
            return [Reply(at, StopReason.TOOL_USE, tuple(calls))]
        case RunCalls():
            return [
                result_of(call, UNDECLARED, at=at, value="no such invoice", error=ErrorKind.BUSINESS) for call in calls
            ]
        case _:  # a nudge for the next request, an ending
            return []


def supervised() -> tuple[Run, list[Tell]]:
    """The run at its end, and the nudges on the way."""
    run, at, told = new_run("invoice-17"), 0.0, list[Tell]()
    calls: list[Call] = []
    pending: list[Event] = [Begin(at)]
    while not ended(run):
        fed = feed(run, pending.pop(0))
        run, at = fed.run, at + 1.0
        told += [command for command in fed.commands if isinstance(command, Tell)]
        for command in fed.commands:
            pending += carry_out(command, at, calls)
    return run, told
