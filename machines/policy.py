"""Every threshold, in one typed value. Read from TOML; what a file leaves out has the default given here.

Numbers come from the issues of the four designs that this project implements and from the recordings it was measured on;
each field says what it counts. `None` means: no limit. A live run needs turns or tokens, unless `unbounded` says that
somebody wants a run that nothing is proved to end.
"""

from __future__ import annotations

import attrs


@attrs.frozen
class Budget:
    """What a run may spend: turns, wall clock (seconds), tokens (input and output), US dollars.

    `hold_back` is the share of seconds, tokens and dollars kept for the final reply, so that the last request is never
    pre-empted by the limit that caused it; never more than the three `hold_back_*` amounts. `reply_tokens` is what one
    reply may cost at most (None: not known, then only what is known counts).
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
    """Nudges: whether the model is told at all, and how many within how many turns are followed by a stop."""

    nudges: bool = True
    stop_at: int = 3
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
class Policy:
    """All thresholds of a run."""

    budget: Budget = Budget()
    recovery: Recovery = Recovery()
    escalation: Escalation = Escalation()
    detectors: Detectors = Detectors()
    progress: Progress = Progress()
    waiting: Waiting = Waiting()
    messages: Messages = Messages()


DEFAULT = Policy()
