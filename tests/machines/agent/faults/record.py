"""What is known of one run when it is over: what was asked, what ran, what its journal says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from machines.agent.result import RunResult
from machines.commands import Command
from machines.events import Event, Text
from machines.journaled import AGENT_RUN
from machines.outcome import Outcome
from machines.state import Run
from statecraft import Answer, Fault, Step
from statecraft.journal import MemoryStore, Verified, link, verify
from statecraft.replay import replay, walk

from .scenario import Scenario


@attrs.frozen
class Took:
    """One line of the journal that holds a step: the run before it, the event, and the step."""

    before: Run
    event: Event
    step: Step[Run, Command]


@attrs.define
class Record:
    """One run from outside. `ran`: the id and the tool of each call that ran, in a process that was alive.

    `moves` the names of the server's moves; `rules` what a provider would have refused in a request; `parted` where
    what the model would be sent from the journal is not what it is sent; `changed` where a request does not begin as
    the one before it; `raised` what a burst raised; `acts` what came from outside, of what was to come. `deep`: every
    bound is proved and compared. `open_calls` and `message` as the last process has them.
    """

    scenario: Scenario
    store: MemoryStore
    moves: list[str] = attrs.field(factory=list[str])
    rules: list[str] = attrs.field(factory=list[str])
    ran: list[tuple[str, str]] = attrs.field(factory=list[tuple[str, str]])
    parted: list[str] = attrs.field(factory=list[str])
    changed: list[str] = attrs.field(factory=list[str])
    raised: list[str] = attrs.field(factory=list[str])
    acts: list[str] = attrs.field(factory=list[str])
    deep: bool = False
    open_calls: tuple[str, ...] = ()
    message: str = ""
    bursts: int = 0
    result: RunResult | None = None


@attrs.frozen
class Read:
    """The journal of a run, read: whether it is whole, its legs of steps, and how the run stands at its end."""

    verified: Verified
    difference: str | None
    legs: tuple[tuple[Run, tuple[Took, ...]], ...]
    faults: tuple[str, ...]
    run: Run

    @property
    def steps(self) -> Sequence[Took]:
        """The steps of all legs."""
        return [took for _, leg in self.legs for took in leg]

    @property
    def outcome(self) -> Outcome | None:
        """How the run ended."""
        return self.run.outcome


def read(store: MemoryStore) -> Read:
    """The journal of a run."""
    found = replay(store, AGENT_RUN)
    head = link(next(iter(store.lines())))
    run: Run = AGENT_RUN.codec.from_plain((head.record or {})["initial"], Run)
    legs: list[tuple[Run, list[Took]]] = [(run, [])]
    faults: list[str] = []
    for walked in walk(store, AGENT_RUN, run, 0, head.hash):
        if walked.line.kind == "leg":
            legs.append((walked.after, []))
        answer: Answer[Run, Any] | Fault | None = None if walked.stepped is None else walked.stepped.answer
        if isinstance(answer, Fault):
            faults.append(f"line {walked.line.seq}: {answer}")
        elif isinstance(answer, Step):
            legs[-1][1].append(Took(walked.before, walked.line.event, answer))
    difference = None if found.difference is None else str(found.difference)
    return Read(verify(store), difference, tuple((one, tuple(took)) for one, took in legs), tuple(faults), found.run)


def text_of(store: MemoryStore, text: Text) -> str | None:
    """A text of the journal."""
    content = store.get(text.digest)
    return None if content is None else content.decode("utf-8", "surrogatepass")
