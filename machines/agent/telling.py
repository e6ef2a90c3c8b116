"""What a step tells whoever subscribed: recoveries, repetitions, and what is spent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from statecraft import Scalar, Step

from ..commands import Ask
from ..events import Refusal
from ..run import RUN
from ..state import RECOVERIES, SIZES, Purse, Run
from ..supervisor import Moved
from .notices import (
    AttemptResetNotice,
    Notice,
    RecoveryNotice,
    RepetitionNotice,
)
from .result import LastRefusal
from .wire import CallPart, Message, ResultPart, TextPart, ThinkingPart

GIVEN_UP: Final = (Purse.EMPTY, Purse.REFUSED)
"""Recoveries that ask again for the same reply: what came of the one before is not kept."""

REPEATING: Final = ("consecutive_duplicate", "cycle", "spread_duplicate")
"""Detectors whose evidence is a repetition of calls."""


def recovered(move: Moved, reply_budget: int, refused: LastRefusal | None = None) -> tuple[Notice, ...]:
    """What a step tells of a recovery: nothing, if it was none. `refused` is the last refusal, if the event is one."""
    if not isinstance(move.answer, Step):
        return ()
    budget, run = RUN.rows[move.answer.row].spends, move.answer.run
    if not (isinstance(budget, Purse) and budget in RECOVERIES):
        return ()
    attempt = (SIZES[budget](run) or 0) - (run.purse[budget] or 0)
    after = next((command.after for command in move.answer.commands if isinstance(command, Ask)), 0.0)
    said = refused if isinstance(move.event, Refusal) else None
    status, words = (None, "") if said is None else (max(0, said.status), said.words)
    notice = RecoveryNotice(budget.value, attempt, reply_budget, status, words, after)
    return (notice, AttemptResetNotice(budget.value)) if budget in GIVEN_UP else (notice,)


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


def chars_of(messages: Sequence[Message]) -> int:
    """The characters of all words, arguments and results in a transcript."""
    texts = {TextPart: "text", ThinkingPart: "text", CallPart: "args", ResultPart: "content"}
    return sum(len(getattr(part, texts[type(part)])) for message in messages for part in message.parts)
