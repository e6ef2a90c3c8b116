"""The dearest run of the real machine, found by search: a world that does its worst, event by event, guards and all.

A world answers what is out, with anything from a menu of one event of each kind that a row or a recovery tells apart.
Runs that stand alike are gone on from once. So what is found is no proof that nothing dearer happens, but it does
happen: the script is fed to a new run, and what is counted is what that does.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any

import attrs

from machines.events import (
    Awaited,
    Awaits,
    Begin,
    Call,
    Clock,
    Condensed,
    Declared,
    Event,
    Measured,
    NoReply,
    PlanChanged,
    PlanItem,
    Refusal,
    RefusalKind,
    Reply,
    Result,
    Signal,
    StopReason,
    Text,
)
from machines.request import Retry
from machines.run import RUN
from machines.state import Phase, Run
from machines.supervisor import Moved, feed
from statecraft import Step

WORDS, BODY = Text("words", 5), Text("body", 4)
BEGINNING = (Begin(0.0), PlanChanged(0.0, (PlanItem(Text("item", 4), "pending"),)))
"""A plan that stays open: an answer that leaves it so is one more reply to recover from."""


@attrs.frozen
class Counted:
    """What a script does to a run: the steps that the proof counts, the rows that ask, and the run it leaves."""

    steps: int
    asked: int
    run: Run


def play(run: Run, script: Iterable[Event], asking: type[Any]) -> Counted:
    """The script, fed from the run on."""
    steps = asked = 0
    for event in script:
        more_steps, more_asked, run = _fed(run, event, asking)
        steps, asked = steps + more_steps, asked + more_asked
    return Counted(steps, asked, run)


def worst_script(begun: Run, asking: type[Any]) -> list[Event]:
    """The dearest script that is found, by the rows that ask `asking`."""
    best: dict[Hashable, tuple[int, Event | None, Hashable]] = {}
    first = play(begun, BEGINNING, asking).run

    def value(run: Run) -> int:
        key = _alike(run)
        if key not in best:
            best[key] = (0, None, None)
            found: tuple[int, Event | None, Hashable] = (0, None, None)
            for event in _menu(run):
                _, asked, after = _fed(run, event, asking)
                other = _alike(after)
                if other != key:
                    worth = asked + value(after)
                    if worth > found[0]:
                        found = (worth, event, other)
            best[key] = found
        return best[key][0]

    value(first)
    script: list[Event] = [*BEGINNING]
    key: Hashable = _alike(first)
    while (step := best[key])[1] is not None:
        script.append(step[1])
        key = step[2]
    return script


def _fed(run: Run, event: Event, asking: type[Any]) -> tuple[int, int, Run]:
    fed = feed(run, event)
    steps = asked = 0
    for move in fed.moves:
        if isinstance(move, Moved) and isinstance(move.answer, Step):
            row = RUN.rows[move.answer.row]
            quiet = row.target is move.answer.source and row.spends is None and not row.refills and not row.asks
            steps += int(not quiet)
            asked += any(isinstance(command, asking) for command in move.answer.commands)
    return steps, asked, fed.run


def _alike(run: Run) -> Hashable:
    """Equal where what follows is the same: no times, no account, and what repeats only as far as it may stop."""
    reply, request, streaks = run.reply, run.request, run.streaks
    return (
        run.at,
        tuple(run.purse.values()),
        (reply.at, reply.case, tuple(reply.left.values())),
        (request.at, request.case, request.size, tuple(request.left.values())),
        run.cause,
        tuple(one.name for one in run.turn.held),
        len(run.turn.open),
        run.turn.signal,
        min(streaks.vain, (run.policy.detectors.vain_condensing.stop or 0)),
        streaks.nudged,
        run.ladder.at,
        run.unfinished is None,
    )


def _menu(run: Run) -> Iterator[Event]:
    match run.at:
        case Phase.ASKING | Phase.RECOVERING:
            yield from _answers(run)
        case Phase.ACTING:
            # A result of its own each time, so that every turn is one of progress.
            yield Result(1.0, "1", b"result %d" % run.turn.number)
            yield Awaits(1.0, "1", Awaited.SIGNAL, f"signal {run.purse}")
        case Phase.WAITING:
            yield from (Signal(1.0, one.name, id=str(run.turn.number)) for one in run.turn.held)
            yield Clock(1.0)
        case Phase.CONDENSING:
            yield Condensed(1.0, 100_000)
        case Phase.CONCLUDING:
            yield NoReply(1.0, "gone")
        case _:
            return
    if run.policy.detectors.vain_condensing.enabled:
        yield Condensed(1.0, 0)


def _answers(run: Run) -> Iterator[Event]:
    yield Reply(1.0, StopReason.TOOL_USE, (Call("1", "read", b"call %d" % run.turn.number, Text("args", 4)),))
    yield Reply(1.0, StopReason.END_TURN, text=WORDS, kind=Declared.FINAL)
    yield Reply(1.0, StopReason.END_TURN, text=WORDS, kind=Declared.CHECKPOINT)
    yield Reply(1.0, StopReason.END_TURN)
    yield Reply(1.0, StopReason.LENGTH, text=WORDS)
    yield Reply(1.0, StopReason.CONTEXT_WINDOW, text=WORDS)
    yield Reply(1.0, StopReason.PAUSE)
    yield Reply(1.0, StopReason.MALFORMED_CALL)
    yield Refusal(1.0, 529, BODY)
    yield Refusal(1.0, 413, BODY)
    yield Refusal(1.0, 413, BODY, too_long=True, estimate=10)
    yield Refusal(1.0, 400, BODY, kind=RefusalKind.TRANSCRIPT)
    yield Refusal(1.0, 400, BODY, kind=RefusalKind.BAD_CALL)
    yield Refusal(1.0, 400, BODY, kind=RefusalKind.REPLY_BUDGET, budget=32_000)
    left = run.request.left[Retry.AHEAD] or 0
    yield Measured(1.0, 9_000 + left, 8_000)
