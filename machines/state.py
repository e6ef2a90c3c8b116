"""A run: one frozen value, the whole state of it. What it has learned is its ledger, in `ledger/`.

Handed on from leg to leg are the ledger with the plan, what is left of the budgets, and what was spent. A leg's own are
the windows, streaks and counters: `turn`, `streaks`, `ladder`, and the recoveries, `reply` and `request`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, StrEnum
from functools import cached_property
from math import inf

import attrs
from rpds import HashTrieMap, HashTrieSet

from statecraft.evolve import evolve

from .escalation import Ladder
from .events import Call, Text, Usage
from .ledger.work import Ledger, next_leg
from .manifest import UNDECLARED, Tool, Tools, Work
from .message import Candidate
from .outcome import Fact, Outcome, Reason
from .policy import DEFAULT, Policy, problems_of
from .reply import Mending, mending
from .request import Sending, passed, sending
from .streaks import Streaks, closed, steps_of
from .turn import Turn
from .wait import OneWait


class Phase(Enum):
    """The states of a run; the last five are its endings."""

    READY = "ready"
    ASKING = "asking"
    ACTING = "acting"
    WAITING = "waiting"
    RECOVERING = "recovering"
    CONDENSING = "condensing"
    CONCLUDING = "concluding"
    COMPLETED = "completed"
    PARTIAL = "partial"
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"

    __hash__ = object.__hash__  # an Enum hashes its name in Python, a dozen times a step


OPEN = (Phase.ASKING, Phase.ACTING, Phase.WAITING, Phase.RECOVERING, Phase.CONDENSING, Phase.CONCLUDING)
ENDINGS = (Phase.COMPLETED, Phase.PARTIAL, Phase.BLOCKED, Phase.FAILED, Phase.CANCELLED)


class Purse(Enum):
    """What rows spend: turns and rescues of the run, what is told of condensings, and held calls of a turn."""

    TURN = "turns"
    CONDENSED = "condensings"
    RESCUE = "rescues"
    HELD = "held_calls"

    __hash__ = object.__hash__


OF_RUN = (Purse.TURN, Purse.RESCUE)
"""Budgets of a whole run: what is left of them is handed on from leg to leg."""


class Cause(StrEnum):
    """Why the history is being condensed."""

    NONE = "none"
    AHEAD = "ahead"
    REFUSED = "refused"
    FULL = "full"


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Waits:
    """The declared waits of a run, by call signature: those that go on, and which are over.

    A wait that is over is not begun again by asking again, only by a change in the world: then all of them may be.
    `next_at`: when the newest may be looked at again.
    """

    open: HashTrieMap[bytes, OneWait] = HashTrieMap()
    over: HashTrieSet[bytes] = HashTrieSet()
    next_at: float = 0.0


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Outside:
    """What came from outside: the consents that hold, by the very call (`consent_key`) and until when; what was heard.

    `heard` holds eight bytes for the id of each signal, so that one that is sent again is none.
    """

    consents: HashTrieMap[bytes, float] = HashTrieMap()
    heard: HashTrieSet[bytes] = HashTrieSet()


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Spent:
    """What the run has spent: the usage of all its replies, and its time in seconds.

    `replies` counts this leg's; `dearest` is the highest price of a token so far, in US dollars.
    `began` and `now`: when this leg began and the last known time; `before`: what earlier legs took. The time in which
    a person thinks, between two legs, is nobody's.
    """

    before: float = 0.0
    began: float = 0.0
    now: float = 0.0
    usage: Usage = Usage()
    replies: int = 0
    last: Usage = Usage()
    dearest: float = 0.0

    def seconds(self, at: float) -> float:
        """The time spent until `at`."""
        return self.before + max(at, self.now) - self.began


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Run:
    """The whole state of one run.

    `agent`: whose run it is, where several speak in it; a reply of another one ends nothing. `told`: the next request
    carries a nudge. `unanswered`: the newest calls whose turn ended without their answer. `reply` and `request` are the
    recoveries of the incident under way, `reply_tokens` the reply budget where the run has one of its own, `cause` why
    the history is being condensed, `unfinished` what the agent had written when it was stopped.
    """

    id: str
    at: Phase = Phase.READY
    policy: Policy = DEFAULT
    tools: Tools = attrs.field(factory=dict[str, Tool])
    work: Work = Work.OTHER
    requires: tuple[str, ...] = ()
    agent: str | None = None
    leg: int = 1
    purse: Mapping[Purse, int | None] = attrs.field(factory=dict[Purse, int | None])
    spent: Spent = Spent()
    ledger: Ledger = Ledger()
    turn: Turn = Turn()
    streaks: Streaks = Streaks()
    ladder: Ladder = Ladder()
    candidate: Candidate = Candidate()
    told: bool = False
    waits: Waits = Waits()
    outside: Outside = Outside()
    unanswered: tuple[Call, ...] = ()
    reply: Mending = Mending()
    request: Sending = Sending()
    reply_tokens: int | None = None
    cause: Cause = Cause.NONE
    unfinished: Text | None = None
    stop: Reason | None = None
    facts: tuple[Fact, ...] = ()
    outcome: Outcome | None = None

    @cached_property
    def turned(self) -> Streaks:
        """The streaks with the turn so far in them: what the detectors read, and what is kept when the turn ends."""
        return closed(self.streaks, self.turn, self.policy, self.tool)

    @property
    def only_polled(self) -> bool:
        """The turn looked at declared waits that go on, and did nothing else; a thought beside them is nothing."""
        turn = self.turn
        return turn.polls > 0 and not turn.open and not steps_of(turn.answers, self.tool)

    @property
    def open_items(self) -> int:
        """Items of the plan that are not done; 0 where the policy reminds of none."""
        if not self.ledger.plan or not self.policy.recovery.unfinished_plan:
            return 0
        return sum(item.status != "completed" for item in self.ledger.plan)

    @property
    def unwritten(self) -> tuple[str, ...]:
        """The targets that the run has to write and has not written."""
        return tuple(target for target in self.requires if target not in self.ledger.written)

    def time_left(self, at: float) -> float:
        """Seconds left for waiting at this time: the run's own less what is kept for the work after; 0 at least."""
        whole = self.policy.budget.seconds
        if whole is None:
            return inf
        return max(0.0, whole - self.spent.seconds(at) - self.policy.waiting.hold_back_seconds)

    def tool(self, name: str) -> Tool:
        """The manifest of a tool; one that declares nothing where there is none."""
        return self.tools.get(name, UNDECLARED)


def purse_of(run: Run) -> Mapping[Purse, int | None]:
    """What is left of the run's budgets."""
    return run.purse


def turns_full(run: Run) -> int | None:
    """How many turns a run of this policy has; None = without limit.

    Tokens alone bound turns too: every reply costs at least one, so a run has at most as many turns as tokens.
    """
    budget = run.policy.budget
    return budget.turns if budget.turns is not None else budget.tokens


def condensings_full(run: Run) -> int:
    """How often a run is told, in one incident, that condensings were in vain."""
    return run.policy.recovery.condensed


def rescues_full(run: Run) -> int:
    """How often a run that is stuck with something required still unwritten is told so instead of stopped."""
    return run.policy.escalation.rescues


def held_full(run: Run) -> int:
    """How often calls of one turn may wait for something outside: each for a consent, and once more for an answer."""
    return 2 * run.policy.budget.calls_per_turn


SIZES: Mapping[Purse, Callable[[Run], int | None]] = {
    Purse.TURN: turns_full,
    Purse.CONDENSED: condensings_full,
    Purse.RESCUE: rescues_full,
    Purse.HELD: held_full,
}
"""How full each budget is at the start, by the policy of the run."""


def new_run(
    id: str,  # the field's own name
    policy: Policy = DEFAULT,
    *,
    tools: Tools | None = None,
    work: Work = Work.OTHER,
    requires: tuple[str, ...] = (),
    agent: str | None = None,
) -> Run:
    """A run that is ready to begin, with full budgets. Raises `ValueError` for a policy that nothing can run by."""
    if problems := problems_of(policy):
        raise ValueError("; ".join(problems))
    run = Run(id, policy=policy, tools=shared(tools), work=work, requires=requires, agent=agent)
    run = evolve(run, reply=mending(policy.recovery), request=sending(policy.recovery))
    return evolve(run, purse={budget: size(run) for budget, size in SIZES.items()})


class _Shared(dict[str, Tool]):
    """Manifests that nobody else holds, as only `shared` makes them."""


def shared(tools: Tools | None) -> Tools:
    """The manifests as the runs of one agent share them: a copy, made once."""
    return tools if isinstance(tools, _Shared) else _Shared(tools or {})


def under(run: Run, policy: Policy) -> Run:
    """A run that has not begun, under another policy: its budgets are full by that."""
    changed = evolve(run, policy=policy, reply=mending(policy.recovery), request=sending(policy.recovery))
    return evolve(changed, purse={budget: size(changed) for budget, size in SIZES.items()})


def hand_on(run: Run) -> Run:
    """The next leg of a run: ledger, plan, spending and what is left of the budgets go on, everything else begins."""
    fresh = Run(
        run.id,
        policy=run.policy,
        tools=run.tools,
        work=run.work,
        requires=run.requires,
        agent=run.agent,
        leg=run.leg + 1,
        spent=evolve(run.spent, before=run.spent.seconds(run.spent.now), began=run.spent.now, replies=0),
        ledger=next_leg(run.ledger),
        turn=Turn(number=run.turn.number),
        outside=run.outside,
        reply=mending(run.policy.recovery),
        request=passed(run.request),
        reply_tokens=run.reply_tokens,
    )
    kept = {budget: run.purse[budget] for budget in OF_RUN}
    purse = {budget: size(run) for budget, size in SIZES.items()} | kept
    return evolve(fresh, purse=purse)
