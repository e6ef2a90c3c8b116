"""What is around an agent's run, for the proofs: what answers each command, and runs whose readings differ in limits.

What a host does with a command is in `drive` and `host`. A request is answered by a reply, by a refusal, or by nobody;
it may first be measured, and its reply may come in pieces. A call is answered by its result, or waits for something.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from statecraft import World
from statecraft.evolve import evolve

from .commands import (
    AnswerCalls,
    Ask,
    Condense,
    Discard,
    End,
    RunCalls,
    Show,
    Simplify,
    Tell,
    TellPerson,
    WaitUntil,
    Withdraw,
)
from .events import (
    Awaits,
    Cancel,
    Chunk,
    Clock,
    Condensed,
    ErrorKind,
    Measured,
    NoReply,
    Refusal,
    Reply,
    Result,
    Signal,
    StopReason,
    Text,
    TurnEnded,
)
from .state import Phase, Run
from .streaks import Streaks, closed
from .turn import Answer, Turn

LAPS: Final = 3
"""Laps of two calls in a run whose readings have all begun to count."""


def limited(run: Run) -> Iterator[Run]:
    """The run at rest, and with streaks of calls that came back, all of them failures or all of them successes.

    Most detectors have wider limits for failures alone; which of the two is in force only a streak says.
    """
    yield run
    for error in (ErrorKind.OTHER, None):
        streaks = Streaks()
        for number in range(2 * LAPS):
            call = (b"one call", b"other call")[number % 2]
            answer = Answer("tool", call, call, error=error)
            streaks = closed(streaks, Turn(number + 1, answers=(answer,)), run.policy, run.tool)
        yield evolve(run, streaks=streaks)


RUN_WORLD: Final = World(
    answers={
        Ask: (Reply, Refusal, NoReply, Measured, Chunk),
        RunCalls: (Result, Awaits),
        WaitUntil: (Clock, Signal),
        Condense: (Condensed,),
        AnswerCalls: (),
        Discard: (),
        End: (),
        Show: (),
        Simplify: (),
        Tell: (),
        TellPerson: (),
        Withdraw: (),
    },
    waits=(Phase.WAITING,),
    time=Clock,
    cancel=Cancel,
    request=Ask,
    examples={
        TurnEnded: TurnEnded(0.0),
        Reply: Reply(0.0, StopReason.TOOL_USE),
        Condensed: Condensed(0.0, 0),
        Chunk: Chunk(0.0, "text", Text("", 0)),
    },
    cases=limited,
)
