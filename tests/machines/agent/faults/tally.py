"""What many runs came to: outcomes, moves, rows of the tables, and how fast it went."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from time import perf_counter

import anyio
import attrs

from machines.agent.scripted import Move, Received, Refuse, ScriptedServer

from .checks import wrong_with
from .play import Play
from .record import Read, Record, read
from .scenario import scenario

AT_ONCE = 3
"""Runs side by side in one event loop: while one waits for its server, another goes on."""

SHOWN = (0, 1)
"""The seeds that are played alone where none is named: one of each event loop."""

PER_SERVER = 250
"""Runs that share a server, which holds the last requests of each."""


@attrs.define
class Tally:
    """What the runs of some seeds came to."""

    runs: int = 0
    seconds: float = 0.0
    wrong: dict[int, list[str]] = attrs.field(factory=dict[int, list[str]])
    counts: dict[str, Counter[str]] = attrs.field(factory=dict[str, "Counter[str]"])

    def add(self, record: Record, found: Read) -> None:
        """Count a run."""
        self.runs += 1
        outcome = found.outcome
        self._count("status", "none" if outcome is None else outcome.status.value)
        self._count("reason", "none" if outcome is None else outcome.reason.by)
        self._count("wire", record.scenario.wire + (" streamed" if record.scenario.stream else ""))
        for move in record.moves:
            self._count("move", move)
        for act in record.acts:
            self._count("act", act.split()[0])
        for took in found.steps:
            for inside in took.step.inside:
                name = f"{inside.row} {inside.source.value} -> {inside.run.at.value}"
                self._count(type(inside.run).__name__, name)
        if record.bursts > 1:
            self._count("act", "put down or ended, and taken up")

    def _count(self, what: str, name: str) -> None:
        self.counts.setdefault(what, Counter())[name] += 1

    def lines(self) -> Iterator[str]:
        """For people."""
        rate = self.runs / self.seconds if self.seconds else 0.0
        yield f"{self.runs} runs in {self.seconds:.1f} s, {rate:.0f} a second; {len(self.wrong)} went wrong"
        for what, counter in self.counts.items():
            yield f"{what}: " + ", ".join(f"{name} {count}" for name, count in counter.most_common())


def run_all(seeds: list[int], loop: str, *, deep: bool = False) -> Tally:
    """Play the scenarios of these seeds in an event loop."""
    tally, began = Tally(), perf_counter()
    for at in range(0, len(seeds), PER_SERVER):
        _run_some(seeds[at : at + PER_SERVER], loop, tally, deep=deep)
    tally.seconds = perf_counter() - began
    return tally


def play_one(seed: int) -> tuple[Record, Read]:
    """Play the scenario of one seed."""
    kept: list[tuple[Record, Read]] = []
    _run_some([seed], scenario(seed).loop, Tally(), kept)
    return kept[0]


def _run_some(
    seeds: list[int], loop: str, tally: Tally, kept: list[tuple[Record, Read]] | None = None, *, deep: bool = False
) -> None:
    plays: dict[str, Play] = {}

    def move(received: Received) -> Move:
        play = plays.get(received.run)
        return Refuse(404) if play is None else play.move(received)

    async def work(left: Iterator[int]) -> None:
        for seed in left:
            drawn = scenario(seed)
            play = plays[drawn.name] = Play(drawn, server)
            play.record.deep = deep
            try:
                record = await play.run()
            except Exception as error:  # it belongs to its seed
                tally.runs += 1
                tally.wrong[seed] = play.record.raised or [f"{type(error).__name__}: {error}"]
                if kept is not None:
                    raise
                continue
            found = read(record.store)
            tally.add(record, found)
            if wrong := list(wrong_with(record, found)):
                tally.wrong[seed] = wrong
            if kept is not None:
                kept.append((record, found))
            del plays[drawn.name]

    async def main() -> None:
        left = iter(seeds)
        async with anyio.create_task_group() as group:
            for _ in range(AT_ONCE):
                group.start_soon(work, left)

    with ScriptedServer(move, rules=False, keep=1) as server:
        anyio.run(main, backend=loop)
