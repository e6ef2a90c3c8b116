"""Every threshold, in one typed value. Read from TOML; what a file leaves out has the default given here.

Each field says what it counts. `None` means: no limit. A live run needs turns or tokens, unless `unbounded` says that
somebody wants a run that nothing is proved to end.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Budget:
    """What a run may spend: turns, wall clock (seconds), tokens (input and output), US dollars.

    `hold_back` is the share of seconds, tokens and dollars kept for the final reply, so that the last request is never
    pre-empted by the limit that caused it; never more than the three `hold_back_*` amounts. `reply_tokens` is what one
    reply may cost at most (None: not known, then only what is known counts). `final_reply`: whether a run that is
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


@attrs.frozen
class Recovery:
    """How often one incident may be recovered from. Progress makes every count start afresh; 0 switches one off."""

    truncated: int = 3
    empty: int = 2
    paused: int = 5
    refused: int = 8
    condensed: int = 2


@attrs.frozen
class Escalation:
    """Nudges: whether the model is told at all, and within how many turns a third one is a stop."""

    nudges: bool = True
    within: int = 10


@attrs.frozen
class Limits:
    """Where a detector nudges and stops. `failing_*` hold while every call of the streak failed or went unseen."""

    enabled: bool = True
    nudge: int = 3
    stop: int = 4
    failing_nudge: int = 4
    failing_stop: int = 7


@attrs.frozen
class Detectors:
    """The roster's limits, detector by detector."""

    consecutive_duplicate: Limits = Limits(nudge=3, stop=4, failing_nudge=4, failing_stop=7)
    no_progress: Limits = Limits(nudge=3, stop=4, failing_nudge=6, failing_stop=8)


@attrs.frozen
class Progress:
    """What counts as new: a tool's result that is not among its last `recent_results`."""

    recent_results: int = 8


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
    if policy.escalation.within < 1:
        found.append(f"escalation.within: found {policy.escalation.within}, expected 1 or more turns")
    if policy.progress.recent_results < 1:
        found.append(f"progress.recent_results: found {policy.progress.recent_results}, expected 1 or more")
    for field in attrs.fields(Detectors):
        found += _limits(f"detectors.{field.name}", getattr(policy.detectors, field.name))
    return found


def _limits(path: str, limits: Limits) -> list[str]:
    pairs = [(limits.nudge, limits.stop, "nudge", "stop")]
    pairs.append((limits.failing_nudge, limits.failing_stop, "failing_nudge", "failing_stop"))
    found = [f"{path}.{low}: found {nudge}, expected 1 or more" for nudge, _, low, _ in pairs if nudge < 1]
    return found + [
        f"{path}.{high}: found {stop}, expected at least {low}, which is {nudge}"
        for nudge, stop, low, high in pairs
        if stop < nudge
    ]
