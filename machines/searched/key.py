"""What of a run still matters to what it may do: two runs with the same key are walked once.

The rule: runs of one key take the same rows, whatever comes next, and lead to runs of one key again; a test holds this
on the runs that a search merges. Left out are the texts of messages, and what is kept for evidence or the account
alone. A count beyond every limit of its detector is as good as one at the highest; a turn counts by how many are left,
and by how far behind it a nudge lies; of times only what is left until something counts. Digests keep their names: the
moves bring new ones in by order of first appearance. What a run has spent is kept where a policy limits it.
"""

from __future__ import annotations

import marshal
from typing import Any, Final

from ..detectors.vain_condensing import APART
from ..events import Call
from ..held import Held
from ..ledger.work import Ledger
from ..state import ENDINGS, OF_RUN, Phase, Run
from ..streaks import Streaks
from ..turn import Answer, Turn
from ..wait import OneWait
from .moves import LEGS

PLAIN: Final = 2
"""The last version of marshal in which equal values have the same bytes, whether they are one object or two."""

CENTS: Final = 100
"""Parts of a US dollar that are told apart."""


def key_of(run: Run) -> bytes:
    """All of the run that the next steps may look at, as bytes."""
    head = (run.id, run.at.value, run.leg)
    last_leg = run.leg >= LEGS
    if run.at in ENDINGS:
        return _bytes(head if last_leg else (*head, _handed_on(run)))
    if run.at is Phase.CONCLUDING:  # whatever its last reply is, the run ends: what is left is what it ends as
        ends = (
            run.stop is not None and run.stop.by,
            tuple(map(str, run.facts)),
            run.unfinished is not None,
            tuple(map(_call, run.unanswered)),
            min(run.ledger.changes_in_all, 1),
            len(run.unwritten),
            run.open_items,
        )
        return _bytes((*head, *ends, None if last_leg else _handed_on(run)))
    return _bytes((*head, _handed_on(run), _recoveries(run), _turn(run), _streaks(run), _outside(run)))


def _bytes(key: tuple[Any, ...]) -> bytes:
    return marshal.dumps(key, PLAIN)


def _handed_on(run: Run) -> tuple[Any, ...]:
    """What the next leg begins with."""
    budget, spent = run.policy.budget, run.spent
    used = spent.usage.input + spent.usage.output
    return (
        tuple(run.purse[one] for one in OF_RUN),
        None if budget.seconds is None else round(spent.seconds(spent.now)),
        None if budget.tokens is None else (used, spent.last.input + spent.last.output),
        None if budget.usd is None else _cents(spent.usage.usd, spent.dearest, spent.last.usd),
        _ledger(run.ledger),
        tuple(sorted((key, _left(until, run, 200)) for key, until in run.outside.consents.items())),
        tuple(sorted(run.outside.heard)),
        tuple(run.request.left.values()),
        run.reply_tokens,
        run.spent.replies > 0,
    )


def _cents(*usd: float) -> tuple[int, ...]:
    return tuple(round(n * CENTS) for n in usd)


def _ledger(ledger: Ledger) -> tuple[Any, ...]:
    work = ledger.work
    return (
        tuple(sorted(ledger.recent.items())),
        tuple(sorted(ledger.seen)),
        tuple(tuple(sorted(some)) for some in (work.files, work.commands, work.tools, work.sources, work.failures)),
        tuple(sorted(ledger.written)),
        tuple((item.content.digest, item.status) for item in ledger.plan),
        tuple(sorted(ledger.closed)),
        ledger.most_closed,
        ledger.best,
        min(ledger.changes_in_all, 1),
        tuple((one.tool, one.target) for one in ledger.unconfirmed),
    )


def _recoveries(run: Run) -> tuple[Any, ...]:
    within = run.policy.escalation.within
    return (
        tuple(run.purse.values()),
        run.reply.at.value,
        run.reply.case.value,
        tuple(run.reply.left.values()),
        run.request.at.value,
        run.request.case.value,
        run.ladder.at.value,
        min(run.turn.number - run.ladder.older, within),
        min(run.turn.number - run.ladder.newer, within),
        run.told,
        run.cause.value,
        run.unfinished is not None,
        tuple(map(str, run.facts)),
        run.candidate.at.value,
    )


def _turn(run: Run) -> tuple[Any, ...]:
    turn: Turn = run.turn
    return (
        tuple(map(_call, turn.open)),
        tuple(sorted(map(_answer, turn.answers))),
        turn.signal,
        turn.strong,
        turn.grew,
        min(turn.polls, 1),
        turn.moved,
        tuple(wait.at.value for wait in turn.waits_over),
        tuple(_held(one, run) for one in turn.held),
        tuple((one.call.id, one.name, one.answer) for one in turn.came),
        tuple(map(_call, run.unanswered)),
    )


def _call(call: Call) -> tuple[Any, ...]:
    return call.id, call.tool, call.signature, call.target, call.empty, call.source, call.topic, call.figures


def _answer(answer: Answer) -> tuple[Any, ...]:
    return (
        answer.tool,
        answer.call,
        answer.outcome,
        "" if answer.error is None else answer.error.value,
        answer.seen,
        answer.new,
        answer.idle,
        answer.sourced,
        answer.wordless,
        answer.fruitless,
        answer.empty,
        answer.failure,
        answer.topic,
        answer.figures,
    )


def _held(one: Held, run: Run) -> tuple[Any, ...]:
    until = _left(one.until, run, 100)
    return _call(one.call), one.at.value, one.awaited.value, one.name, one.told, until, one.choices


def _left(until: float, run: Run, most: int) -> int:
    """Seconds until then; none where it is past, and no more than so many."""
    return round(min(max(until - run.spent.now, -1), most))


def _streaks(run: Run) -> tuple[Any, ...]:
    streaks: Streaks = run.streaks
    most = run.policy.detectors.highest + 1
    counts = (
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
    return (
        tuple(min(count, most) for count in counts),
        streaks.same,
        streaks.same_tool,
        streaks.window,
        streaks.laps,
        tuple(
            (name, min(one.barren, most), min(one.ok, most), one.failure, min(one.failures, most))
            for name, one in sorted(streaks.tools.items())
        ),
        tuple((name, one.topic, one.figures, min(one.count, most)) for name, one in sorted(streaks.families.items())),
        streaks.invalid,
        streaks.told,
        streaks.looked,
        streaks.recovered,
        streaks.failing,
        streaks.nudged,
        streaks.work == run.ledger.work.size,
        min(run.turn.number - streaks.condensed, APART + 1),
    )


def _outside(run: Run) -> tuple[Any, ...]:
    """The declared waits: those that go on, by how long they have, and those that are over."""
    waits, now = run.waits, run.spent.now
    return (
        tuple(sorted((call, round(min(now - one.since, _longest(run, one)))) for call, one in waits.open.items())),
        tuple(sorted(waits.over)),
        _left(waits.next_at, run, 100),
    )


def _longest(run: Run, wait: OneWait) -> float:
    """Seconds after which the wait is over, whatever comes."""
    rule = run.tool(wait.tool).wait
    return 0.0 if rule is None or rule.max_wait_seconds is None else rule.max_wait_seconds + 1
