"""Policies drawn at random: small budgets, recoveries that are often none, switches, windows that are soon full.

What a run's bound depends on comes from a few shapes: a proof takes a tenth of a second, a run some milliseconds.
"""

from __future__ import annotations

from random import Random
from typing import Final

import attrs

from machines.policy import (
    Budget,
    Calls,
    Detectors,
    Escalation,
    History,
    Limits,
    Messages,
    Plain,
    Planning,
    Policy,
    Progress,
    Recovery,
    Waiting,
)


@attrs.frozen
class Shape:
    """All of a policy that the bound of its runs depends on."""

    turns: int | None
    tokens: int | None
    calls_per_turn: int
    recovery: Recovery
    rescues: int


def _recovery(rng: Random) -> Recovery:
    return Recovery(**{field.name: rng.choice((0, 1, 1, 2, 3)) for field in attrs.fields(Recovery)})


def _shapes() -> tuple[Shape, ...]:
    rng = Random("shapes")
    off = Recovery(**{field.name: 0 for field in attrs.fields(Recovery)})
    drawn = [Shape(rng.choice((3, 8, 14, 25)), None, rng.choice((1, 2, 4)), _recovery(rng), n % 3) for n in range(5)]
    return (
        Shape(20, None, 64, Recovery(), 2),
        Shape(9, None, 4, Recovery(), 2),
        Shape(1, None, 1, off, 0),
        Shape(8, None, 3, off, 1),
        Shape(None, 60_000, 4, Recovery(), 1),
        *drawn,
    )


SHAPES: Final = _shapes()


def bounded_by(policy: Policy) -> Shape:
    """What the bound of a policy's runs depends on."""
    budget = policy.budget
    tokens = budget.tokens if budget.turns is None else None
    return Shape(budget.turns, tokens, budget.calls_per_turn, policy.recovery, policy.escalation.rescues)


def policy_drawn(rng: Random) -> Policy:
    """A policy."""
    shape = rng.choice(SHAPES)
    return Policy(
        budget=_budget(rng, shape),
        recovery=shape.recovery,
        escalation=Escalation(rng.random() < 0.8, rng.choice((1, 3, 10)), rng.random() < 0.7, shape.rescues),
        detectors=_detectors(rng),
        progress=Progress(rng.choice((1, 8)), rng.random() < 0.8),
        waiting=Waiting(rng.random() < 0.8, rng.choice((0.0, 30.0, 120.0))),
        messages=Messages(rng.random() < 0.2),
        planning=Planning(rng.random() < 0.7),
        history=_history(rng),
        calls=Calls(rng.random() < 0.8),
    )


def _budget(rng: Random, shape: Shape) -> Budget:
    return Budget(
        turns=shape.turns,
        seconds=rng.choice((None, 600.0, 600.0, 50_000.0)),
        tokens=shape.tokens or rng.choice((None, None, None, 30_000, 100_000, 400_000)),
        usd=rng.choice((None, None, None, 0.2, 2.0)),
        calls_per_turn=shape.calls_per_turn,
        reply_tokens=rng.choice((64, 1_000, 1_000, 4_000, 4_000, 32_000, None)),
        hold_back=rng.choice((0.0, 0.1, 0.5)),
        final_reply=rng.random() < 0.85,
    )


def _detectors(rng: Random) -> Detectors:
    roll = rng.random()
    if roll < 0.35:
        return Detectors()
    if roll < 0.85:  # nothing but budgets and recoveries ends these
        names = [field.name for field in attrs.fields(Detectors)]
        return Detectors(**{name: attrs.evolve(getattr(Detectors(), name), enabled=False) for name in names})
    early = Limits(nudge=1, stop=2, failing_nudge=1, failing_stop=2)
    return Detectors(no_progress=early, stalled_work=early, validation_error=Plain(nudge=1, stop=2))


def _history(rng: Random) -> History:
    return History(
        window_tokens=rng.choice((None, None, 2_000, 3_000, 5_000, 12_000)),
        prune=rng.random() < 0.7,
        kept_results=rng.choice((50, 500, 40_000)),
        least_pruned=rng.choice((0, 100, 20_000)),
        condense=rng.random() < 0.8,
        summaries=rng.random() < 0.7,
        kept_tokens=rng.choice((0, 300, 2_000, 20_000)),
        spill=rng.random() < 0.7,
        spilled_chars=rng.choice((100, 2_000)),
    )
