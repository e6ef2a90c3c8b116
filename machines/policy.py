"""Every threshold, in one typed value. Read from TOML; what a file leaves out has the default given here.

Each field says what it counts. `None` means: no limit. A live run needs turns or tokens, unless `unbounded` says that
somebody wants a run that nothing is proved to end.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import attrs

from statecraft.guards import UNLIMITED

UNBOUNDED: Final = UNLIMITED
"""The most that a count can reach in a run that has no limit of turns; a limit that is off is as far away."""


@attrs.frozen
class Budget:
    """What a run may spend: turns, wall clock (seconds), tokens (input and output), US dollars.

    `hold_back` is the share of seconds, tokens and dollars kept for the final reply, so that the last request is never
    pre-empted by the limit that caused it; never more than the three `hold_back_*` amounts. `reply_tokens` is the
    budget of one reply, or the model's own limit where that is lower; a reply that was cut raises it, up to the model's
    limit (None: what one may cost is not known, then only what is known counts). `final_reply`: whether a run that is
    stopped is asked for one last reply.
    """

    turns: int | None = 60
    seconds: float | None = 2_700.0
    tokens: int | None = 2_000_000
    usd: float | None = 5.0
    calls_per_turn: int = 64
    reply_tokens: int | None = 32_000
    hold_back: float = 0.1
    hold_back_seconds: float = 60.0
    hold_back_tokens: int = 40_000
    hold_back_usd: float = 0.25
    unbounded: bool = False
    final_reply: bool = True

    @cached_property
    def most_turns(self) -> int:
        """The most that a count of turns can reach: the run's turns, or those that its tokens allow."""
        if self.turns is not None:
            return self.turns
        return UNBOUNDED if self.tokens is None else self.tokens

    @cached_property
    def most_calls(self) -> int:
        """The most that a count of calls can reach."""
        return min(UNBOUNDED, self.most_turns * self.calls_per_turn)

    @cached_property
    def most_answers(self) -> int:
        """The most that a count of answers can reach: of calls that ran, and of as many that were refused unrun."""
        return min(UNBOUNDED, 2 * self.most_calls)


@attrs.frozen
class Recovery:
    """How often one incident may be recovered from; 0 switches a recovery off.

    Of replies, which progress makes start afresh: cut off (`truncated`), `empty`, `paused`, not to be read
    (`malformed`), an answer that leaves the plan open (`unfinished_plan`). Of requests, which one that goes through
    makes start afresh: what passes by itself (`refused`), too long (`condensed`), about to be (`condensed_ahead`), a
    reply budget too large (`reply_budget`), a transcript that is not taken (`transcript`), a call that a server could
    not read (`bad_call`). `short_prompt`, a short one refused as too long, counts once for the whole run.
    """

    truncated: int = 3
    empty: int = 2
    paused: int = 5
    malformed: int = 1
    unfinished_plan: int = 1
    refused: int = 8
    condensed: int = 2
    condensed_ahead: int = 3
    reply_budget: int = 2
    short_prompt: int = 1
    transcript: int = 1
    bad_call: int = 2


@attrs.frozen
class Calls:
    """Whether a tool is known by a name that is wrong in form alone."""

    names: bool = True


@attrs.frozen
class Escalation:
    """Nudges: whether the model is told at all, and whether a third one within so many turns is a stop.

    `rescues`: how often a run whose required targets are not all written is told so instead of being stopped for
    standing still.
    """

    nudges: bool = True
    within: int = 10
    stops: bool = True
    rescues: int = 2


@attrs.frozen
class Plain:
    """Where a detector nudges and stops; None: it never does."""

    enabled: bool = True
    nudge: int | None = 3
    stop: int | None = 4


@attrs.frozen
class Limits(Plain):
    """The same; `failing_*` hold while every call of the streak failed or went unseen."""

    failing_nudge: int | None = 4
    failing_stop: int | None = 7


@attrs.frozen
class Windowed(Limits):
    """The same for what is counted among the last `window` answers; `failing_window` of them for failures."""

    window: int = 20
    failing_window: int = 40


@attrs.frozen
class Often(Plain):
    """The same for what is counted among the last `window` answers, failed or not."""

    window: int = 30


@attrs.frozen
class Cycle(Limits):
    """The same for laps of at most `max_period` turns."""

    max_period: int = 6

    @property
    def most_laps(self) -> int:
        """Laps that have to be held for every limit to be reached."""
        return max(n for n in (self.nudge, self.stop, self.failing_nudge, self.failing_stop, 1) if n is not None)


@attrs.frozen
class Condensings(Plain):
    """The same for condensings that freed less than `share` of the model's window, or of `window_tokens`, if less."""

    share: float = 0.05
    window_tokens: int = 128_000


@attrs.frozen(kw_only=True)
class Detectors:
    """The roster's limits, detector by detector."""

    consecutive_duplicate: Limits = Limits(nudge=3, stop=4, failing_nudge=4, failing_stop=7)
    spread_duplicate: Windowed = Windowed(nudge=5, stop=10, failing_nudge=10, failing_stop=20)
    cycle: Cycle = Cycle(nudge=3, stop=4, failing_nudge=3, failing_stop=4)
    no_progress: Limits = Limits(nudge=3, stop=4, failing_nudge=6, failing_stop=8)
    stalled_work: Limits = Limits(nudge=4, stop=4, failing_nudge=8, failing_stop=8)
    fruitless_tool: Limits = Limits(nudge=4, stop=7, failing_nudge=8, failing_stop=14)
    same_error: Plain = Plain(nudge=6, stop=12)
    validation_error: Plain = Plain(nudge=3, stop=3)
    search_escalation: Plain = Plain(nudge=7, stop=12)
    family: Plain = Plain(nudge=5, stop=12)
    same_tool: Often = Often(nudge=12, stop=24)
    redundant_check: Plain = Plain(nudge=1, stop=None)
    empty_thought: Plain = Plain(nudge=2, stop=2)
    monologue: Plain = Plain(nudge=3, stop=4)
    chanting: Plain = Plain(nudge=10, stop=10)
    vain_condensing: Condensings = Condensings(nudge=2, stop=3)

    @cached_property
    def highest(self) -> int:
        """The highest limit of any detector that is on: whatever counts beyond it counts the same."""
        on = [one for one in attrs.astuple(self, recurse=False) if one.enabled]
        names = ("nudge", "stop", "failing_nudge", "failing_stop")
        return max((getattr(one, name, None) or 0 for one in on for name in names), default=0)


def only(detectors: Detectors, *names: str) -> Detectors:
    """The same limits with every other detector switched off. Raises `AttributeError` for a name that is none."""
    on = {name: getattr(detectors, name) for name in names}
    off = {f.name: attrs.evolve(getattr(detectors, f.name), enabled=False) for f in attrs.fields(Detectors)}
    return Detectors(**{**off, **on})


@attrs.frozen
class Progress:
    """What counts as new: a tool's result that is not among its last `recent_results`.

    `results`: whether a result is part of what repeats; without it a call repeats whatever it brings, and nothing that
    it brings clears what is counted of its repetitions (a call back to back, spread over a window, in laps).
    """

    recent_results: int = 8
    results: bool = True


@attrs.frozen
class Waiting:
    """Whether declared waits are exempt from the detectors, and the time kept for the work after one (seconds)."""

    enabled: bool = True
    hold_back_seconds: float = 120.0


@attrs.frozen
class Messages:
    """Whether a declared final answer completes where the host gives no facts at all."""

    require_facts: bool = False


@attrs.frozen
class History:
    """How a history that outgrows its window is made shorter, each step with a switch of its own.

    `window_tokens`: it is condensed as if the model's window were that, where that is less (None: the model's own).
    Old results are cleared (`prune`) beyond the newest `kept_results` tokens of them, if that frees `least_pruned`. The
    oldest part is summed up (`condense`), by the model (`summaries`) or mechanically; `kept_tokens` of the newest
    messages stay, or a quarter of the window where that is less. Results of more than `spilled_chars` characters are
    set aside (`spill`) where nothing else is left.
    """

    window_tokens: int | None = None
    prune: bool = True
    kept_results: int = 40_000
    least_pruned: int = 20_000
    condense: bool = True
    summaries: bool = True
    kept_tokens: int = 20_000
    spill: bool = True
    spilled_chars: int = 2_000


@attrs.frozen
class Planning:
    """Whether the model is given the tools to keep a plan."""

    enabled: bool = True


@attrs.frozen
class Policy:
    """All thresholds of a run."""

    budget: Budget = Budget()
    recovery: Recovery = Recovery()
    escalation: Escalation = Escalation()
    detectors: Detectors = Detectors()
    progress: Progress = Progress()
    waiting: Waiting = Waiting()
    messages: Messages = Messages()
    planning: Planning = Planning()
    history: History = History()
    calls: Calls = Calls()


DEFAULT = Policy()


def problems_of(policy: Policy) -> list[str]:
    """What is wrong with the numbers of a policy, one line each; empty where nothing is."""
    budget = policy.budget
    found: list[str] = []
    for name in ("turns", "tokens", "reply_tokens"):
        value = getattr(budget, name)
        if value is not None and value < 1:
            found.append(f"budget.{name}: found {value}, expected 1 or more, or no limit")
    for name in ("seconds", "usd"):
        value = getattr(budget, name)
        if value is not None and not 0 < value < float("inf"):
            found.append(f"budget.{name}: found {value}, expected a number above 0, or no limit")
    if not 0 <= budget.hold_back < 1:
        found.append(f"budget.hold_back: found {budget.hold_back}, expected a share from 0 up to 1, 1 not included")
    for name in ("hold_back_seconds", "hold_back_tokens", "hold_back_usd"):
        value = getattr(budget, name)
        if not 0 <= value < float("inf"):
            found.append(f"budget.{name}: found {value}, expected 0 or more")
    if not 0 <= policy.waiting.hold_back_seconds < float("inf"):
        found.append(f"waiting.hold_back_seconds: found {policy.waiting.hold_back_seconds}, expected 0 or more")
    if budget.calls_per_turn < 1:
        found.append(f"budget.calls_per_turn: found {budget.calls_per_turn}, expected 1 or more")
    if budget.turns is None and budget.tokens is None and not budget.unbounded:
        found.append("budget: neither turns nor tokens end this run; set one, or say unbounded = true")
    counts = attrs.asdict(policy.recovery)
    found += [f"recovery.{name}: found {n}, expected 0 or more" for name, n in counts.items() if n < 0]
    history = policy.history
    if history.window_tokens is not None and history.window_tokens < 1:
        found.append(f"history.window_tokens: found {history.window_tokens}, expected 1 or more, or no limit")
    for name in ("kept_results", "least_pruned", "kept_tokens", "spilled_chars"):
        value = getattr(history, name)
        if value < 0:
            found.append(f"history.{name}: found {value}, expected 0 or more")
    if policy.escalation.rescues < 0:
        found.append(f"escalation.rescues: found {policy.escalation.rescues}, expected 0 or more")
    if policy.escalation.within < 1:
        found.append(f"escalation.within: found {policy.escalation.within}, expected 1 or more turns")
    if policy.progress.recent_results < 1:
        found.append(f"progress.recent_results: found {policy.progress.recent_results}, expected 1 or more")
    for field in attrs.fields(Detectors):
        found += _limits(f"detectors.{field.name}", getattr(policy.detectors, field.name))
    return found


def _limits(path: str, limits: Plain) -> list[str]:
    """What is wrong with one detector's numbers: an order that no count can follow, a limit beyond its window."""
    pairs = [("nudge", "stop", "window")]
    pairs += [("failing_nudge", "failing_stop", "failing_window")] if isinstance(limits, Limits) else []
    found: list[str] = []
    for low, high, window in pairs:
        nudge, stop, size = getattr(limits, low), getattr(limits, high), getattr(limits, window, None)
        found += [
            f"{path}.{name}: found {value}, expected 1 or more, or no limit"
            for name, value in ((low, nudge), (high, stop))
            if value is not None and value < 1
        ]
        if nudge is not None and stop is not None and 1 <= stop < nudge:
            found.append(f"{path}.{high}: found {stop}, expected at least {low}, which is {nudge}")
        most = max(stop or 1, nudge or 1)
        if size is not None and size < most:
            found.append(f"{path}.{window}: found {size}, expected at least {most}, or no count gets that far")
    if isinstance(limits, Cycle) and limits.max_period < 1:
        found.append(f"{path}.max_period: found {limits.max_period}, expected 1 or more")
    if isinstance(limits, Condensings) and not 0 <= limits.share <= 1:
        found.append(f"{path}.share: found {limits.share}, expected a share from 0 to 1")
    if isinstance(limits, Condensings) and limits.window_tokens < 1:
        found.append(f"{path}.window_tokens: found {limits.window_tokens}, expected 1 or more")
    return found
