"""A scenario: all that one run meets, drawn from its seed alone."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

import attrs

from machines.manifest import Work
from machines.policy import Policy

from .moves import FATAL, GOOD, STALLING, STREAMED, WRONG
from .policies import policy_drawn

WIRES: Final = ("anthropic", "openai", "openai-responses", "gemini")
LOOPS: Final = ("asyncio", "trio")


FAR: Final = {"line": 50, "request": 12, "tool": 10}
"""When something may come from outside, and at how manieth line, request or running tool at most."""


@attrs.frozen
class Act:
    """Something from outside: in the midst of a request or a tool, or right after a line was written; `at` says which.

    `kill` ends the process with nothing more written, `torn` just before that line is; `leave` ends it and leaves the
    run to another one, if the run is one that outlives its process; any other run is cancelled by it.
    """

    what: str
    during: str
    at: int


@attrs.frozen
class Scenario:
    """What one run meets. `weights`: how often each move is made; `last`: the same of the last reply and summaries.

    `limits`: window and longest reply of the model, where the application has said so. `patience`: seconds of a wait
    that the process sits out. `brisk`: what is polled may be asked again at once.
    """

    seed: int
    loop: str
    wire: str
    stream: bool
    stalls: bool
    policy: Policy
    work: Work
    requires: tuple[str, ...]
    facts: bool
    goal: bool
    priced: bool
    limits: tuple[int, int] | None
    weights: Mapping[str, int]
    last: Mapping[str, int]
    acts: tuple[Act, ...]
    outlives: bool
    brisk: bool

    @property
    def name(self) -> str:
        """The run's name, and its model's."""
        return f"seed-{self.seed}"


def scenario(seed: int) -> Scenario:
    """The scenario of a seed. Even seeds are for asyncio, odd ones for trio."""
    rng = Random(seed)
    stalls, stream = rng.random() < 0.04, rng.random() < 0.5
    wrong = [*WRONG, *(STREAMED if stream else ()), *(STALLING if stalls else ())]
    weights = _weights(rng, wrong)
    return Scenario(
        seed=seed,
        loop=LOOPS[seed % 2],
        wire=rng.choice(WIRES),
        stream=stream,
        stalls=stalls,
        policy=policy_drawn(rng),
        work=rng.choice([*Work]),
        requires=rng.choice(((), (), (), ("a.txt",))),
        facts=rng.random() < 0.3,
        goal=rng.random() < 0.2,
        priced=rng.random() < 0.5,
        limits=rng.choice((None, None, (3_000, 1_200), (9_000, 4_000), (200_000, 64_000))),
        weights=weights,
        last={"text": 20, "thought_and_text": 5, **{name: rng.choice((0, 1)) for name in wrong}},
        acts=_acts(rng),
        outlives=rng.random() < 0.7,
        brisk=rng.random() < 0.1,
    )


def _weights(rng: Random, wrong: list[str]) -> dict[str, int]:
    """Good moves always; of what goes wrong some, and often one of them again and again, so that budgets are spent."""
    much = rng.choice((0.1, 0.3, 0.6))
    found = {name: rng.choice((1, 4, 12)) for name in GOOD}
    found |= {name: rng.choice((1, 2, 4)) for name in wrong if rng.random() < much}
    if rng.random() < 0.6:
        found[rng.choice(wrong)] = rng.choice((20, 60))
    if rng.random() < 0.9:  # what ends a run at once is met by few
        found |= dict.fromkeys(FATAL, 0)
    if rng.random() < 0.7:  # a run that goes on for long
        found |= {"calls": 40, "finish_final": 1, "finish_failure": 0, "finish_partial": 0}
    return found


def _acts(rng: Random) -> tuple[Act, ...]:
    if rng.random() < 0.4:
        return ()
    often = ("say", "say", "say_synthetic", "kill", "kill", "torn", "leave", "leave", "cancel")
    made: list[Act] = []
    for _ in range(rng.choice((1, 1, 2, 4))):
        what = rng.choice(often)
        during = "line" if what == "torn" else rng.choice((*FAR,))
        made.append(Act(what, during, rng.randrange(FAR[during])))
    return tuple(made)
