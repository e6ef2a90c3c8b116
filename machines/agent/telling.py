"""What a step tells whoever subscribed: recoveries, repetitions, and what is spent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from statecraft import Answer, Scalar, Step, Table

from .. import reply, request
from ..commands import Ask, Discard
from ..events import Refusal, Reply
from ..reply import Mend
from ..request import Retry
from ..run import MENDS, RUN, SENDS
from ..state import Run
from ..supervisor import Moved
from .notices import (
    AttemptResetNotice,
    Notice,
    RecoveryNotice,
    RepetitionNotice,
)
from .result import LastRefusal

REPEATING: Final = ("consecutive_duplicate", "cycle", "spread_duplicate")
"""Detectors whose evidence is a repetition of calls."""


def recovered(move: Moved, refused: LastRefusal | None = None) -> tuple[Notice, ...]:
    """What a step tells of a recovery: nothing, if it was none. `refused` is the last refusal, if the event is one."""
    if not isinstance(move.answer, Step):
        return ()
    if RUN.rows[move.answer.row].spends not in (MENDS, SENDS):
        return ()  # the run does not go on by it
    found = next((spent for inside in move.answer.inside if (spent := _spent(inside)) is not None), None)
    if found is None:
        return ()
    budget, attempt = found
    asked = next((command for command in move.answer.commands if isinstance(command, Ask)), Ask())
    said = refused if isinstance(move.event, Refusal) else None
    status, words = (None, "") if said is None else (max(0, said.status), said.words)
    before = move.event.budget if isinstance(move.event, Reply | Refusal) else None
    tokens = before if asked.reply_tokens is None else asked.reply_tokens
    notice = RecoveryNotice(budget.value, attempt, tokens, status, words, asked.after)
    gone = budget is Retry.RETRIED or any(isinstance(command, Discard) for command in move.answer.commands)
    return (notice, AttemptResetNotice(budget.value)) if gone else (notice,)


def _spent(inside: Answer[Any, Any]) -> tuple[Mend | Retry, int] | None:
    """The recovery that a step of the reply's or the request's machine paid for, and the how manieth it is."""
    made = _MACHINES.get(inside.machine) if isinstance(inside, Step) else None
    if made is None or not isinstance(inside, Step):
        return None
    table, sizes = made
    budget = table.rows[inside.row].spends
    if not isinstance(budget, Mend | Retry):
        return None
    return budget, sizes[budget](inside.run) - (inside.run.left[budget] or 0)


_MACHINES: Final[Mapping[str, tuple[Table[Any, Any, Any, Any], Mapping[Any, Callable[[Any], int]]]]] = {
    reply.REPLY.name: (reply.REPLY, reply.SIZES),
    request.REQUEST.name: (request.REQUEST, request.SIZES),
}


def repetition(evidence: Mapping[str, Scalar]) -> RepetitionNotice:
    """The repetition that a detector saw; one that names no period saw the same call again."""
    number = {name: found for name in ("period", "now") if isinstance(found := evidence.get(name), int)}
    return RepetitionNotice(number.get("period", 1), number.get("now", 0), str(evidence.get("tool") or ""))


def spent(run: Run, at: float) -> Mapping[str, tuple[float | None, float | None]]:
    """What is spent of each budget, and its limit (None: no limit). Seconds, tokens, US dollars.

    Dollars are None, not known, as long as nothing had a price.
    """
    budget, usage = run.policy.budget, run.spent.usage
    return {
        "turns": (run.turn.number, budget.turns),
        "seconds": (run.spent.seconds(at), budget.seconds),
        "tokens": (usage.input + usage.output, budget.tokens),
        "usd": (usage.usd or None, budget.usd),
    }
