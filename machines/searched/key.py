"""What of a run still matters to what it may do: two runs with the same key are walked once.

Left out are times, money, the texts of messages, and whatever is kept for evidence or the account alone. A count
beyond every limit of its detector is as good as one at the highest; a turn counts by how many are left, and by how far
behind it a nudge lies. Signatures and digests are renamed by first appearance, each kind of its own, so that two runs
that differ in names alone are one. Of the seconds and the tokens a run has spent, only where a policy limits them is
anything kept: in steps of `UNIT` of the limit.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from ..events import Call
from ..state import ENDINGS, Phase, Run
from ..streaks import LAP
from ..turn import Answer
from ..window import CALL, FLAGS, OUTCOME, TOOL, entries

UNIT: Final = 0.125
"""The share of a limit of time, tokens or money that is told apart: finer than any hold-back in the small policies."""


class _Names(dict[bytes, int]):
    """Digests by first appearance. Slices of one digest are names of their own, wherever they are cut."""

    def __missing__(self, name: bytes) -> int:
        self[name] = number = len(self)
        return number


def key_of(run: Run) -> Hashable:
    """All of the run that the next steps may look at."""
    if run.at in ENDINGS:
        return run.id, run.at, run.leg, tuple(run.purse.values())
    names = _Names()
    turn, streaks, ledger = run.turn, run.streaks, run.ledger
    if run.at is Phase.CONCLUDING:  # whatever its last reply is, the run ends: only what it ends as is left
        return (
            run.id,
            run.at,
            run.leg,
            tuple(run.purse.values()),
            run.stop and run.stop.by,
            run.facts,
            run.unfinished is not None,
            tuple(_call(call, names) for call in run.unanswered),
            min(ledger.changes_in_all, 1),
            tuple(sorted(ledger.written)),
            bool(ledger.unconfirmed),
        )
    most = run.policy.detectors.highest + 1
    return (
        run.id,
        run.at,
        run.leg,
        tuple(run.purse.values()),
        run.reply.at,
        run.reply.case,
        tuple(run.reply.left.values()),
        run.request.at,
        run.request.case,
        tuple(run.request.left.values()),
        run.ladder.at,
        min(turn.number - run.ladder.older, run.policy.escalation.within),
        min(turn.number - run.ladder.newer, run.policy.escalation.within),
        run.told,
        run.cause,
        run.stop is not None,
        run.unfinished is not None,
        run.facts,
        run.reply_tokens,
        run.spent.replies > 0,
        _spent(run),
        tuple(_call(call, names) for call in turn.open),
        tuple(sorted(_answer(answer, names) for answer in turn.answers)),
        turn.signal,
        turn.strong,
        turn.grew,
        min(turn.polls, 1),
        turn.moved,
        tuple(wait.at for wait in turn.waits_over),
        tuple((_call(one.call, names), one.at, one.awaited, one.name, one.told) for one in turn.held),
        tuple(one.name for one in turn.came),
        tuple(_call(call, names) for call in run.unanswered),
        *(
            min(count, most)
            for count in (
                streaks.barren,
                streaks.barren_ok,
                streaks.barren_failed,
                streaks.stalled,
                streaks.stalled_ok,
                streaks.stalled_failed,
                streaks.same_count,
                streaks.same_ok,
                streaks.invalid_count,
                streaks.searches,
                streaks.thoughts,
                streaks.silent,
                streaks.vain,
            )
        ),
        streaks.same and names[streaks.same],
        streaks.invalid and names[streaks.invalid],
        streaks.told,
        streaks.looked,
        streaks.recovered,
        streaks.failing,
        streaks.nudged,
        streaks.work == ledger.work.size,
        min(turn.number - streaks.condensed, 4),
        tuple(
            (names[entry[OUTCOME]], names[entry[CALL]], entry[TOOL], entry[FLAGS]) for entry in entries(streaks.window)
        ),
        tuple(names[streaks.laps[at : at + LAP]] for at in range(0, len(streaks.laps), LAP)),
        tuple(
            (
                name,
                min(one.barren, most),
                min(one.ok, most),
                min(one.failures, most),
                one.failure and names[one.failure],
            )
            for name, one in sorted(streaks.tools.items())
        ),
        tuple((name, min(one.count, most), names[one.topic]) for name, one in sorted(streaks.families.items())),
        tuple((name, tuple(names[digest] for digest in last)) for name, last in sorted(ledger.recent.items())),
        len(ledger.seen),
        ledger.work.size,
        tuple(sorted(ledger.written)),
        tuple((item.content.digest, item.status) for item in ledger.plan),
        len(ledger.closed),
        ledger.best,
        min(ledger.changes_in_all, 1),
        bool(ledger.unconfirmed),
        tuple(sorted(names[call] for call in run.waits.open)),
        tuple(sorted(names[call] for call in run.waits.over)),
        len(run.outside.consents),
        len(run.outside.heard),
    )


def _call(call: Call, names: _Names) -> tuple[Hashable, ...]:
    return call.id, call.tool, names[call.signature], call.target, call.empty


def _answer(answer: Answer, names: _Names) -> tuple[Any, ...]:
    return (
        answer.tool,
        names[answer.call],
        names[answer.outcome],
        answer.error or "",
        answer.seen,
        answer.new,
        answer.sourced,
        answer.fruitless,
        answer.empty,
        answer.failure,
    )


def _spent(run: Run) -> tuple[int, int, int]:
    budget, spent = run.policy.budget, run.spent
    used = spent.usage.input + spent.usage.output
    parts: Iterable[tuple[float, float | None]] = (
        (spent.seconds(spent.now), budget.seconds),
        (used, budget.tokens),
        (spent.usage.usd, budget.usd),
    )
    seconds, tokens, usd = (0 if limit is None else round(now / (limit * UNIT)) for now, limit in parts)
    return seconds, tokens, usd
