"""What stands beside the journal of a run that is driven: how it stands, and now and then a snapshot.

A run is said to wait only while it does: whoever looks for the runs of dead processes goes by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import attrs

from statecraft.journal import MemoryStore, Store

from ..events import Begin, Event
from ..held import FOREVER
from ..journaled import RunJournal
from ..outcome import Outcome
from ..pending import Asked
from ..standing import ENDED, RUNNING, STANDING, TASK, WAITING, Question, Standing, Stands, stand, standing_of
from ..state import Phase, Run
from .host import AgentHost
from .snapshot import SNAPSHOT, Snapshot, keep_snapshot
from .taking_up import retell

SNAPSHOT_LINES = 750
"""Lines after which another snapshot is kept. At most so many are replayed when a run is taken up: 0.1 s."""


@attrs.define
class Beside:
    """The notes of one run. `holder` names this process; `started` is the wall clock when the run began."""

    store: Store
    holder: str
    started: float
    clock: Callable[[], float]
    _waits: bool = attrs.field(init=False, default=False)
    _shot: int = attrs.field(init=False, default=0)

    def running(self, run: Run, lines: int) -> None:
        """The run is driven from here on; where nobody ever had to know how it stands, nobody is told."""
        self._shot = lines
        if self.store.kept(STANDING) is not None:
            self._stand(run, RUNNING)

    def waits(self, run: Run, questions: Sequence[Question], until: float, signals: Sequence[str]) -> None:
        """The run waits, in this process or in none."""
        self._waits = True
        looks = tuple(sorted(one.tool for one in run.waits.open.values()))
        end = None if until >= FOREVER else self.started + until
        self._stand(run, WAITING, until=end, questions=tuple(questions), signals=tuple(signals), looks=looks)

    def stepped(self, event: Event, run: Run) -> None:
        """The run has made a step. One that waits no longer is said to run, before anything else is done.

        The task stands in the journal's content from the first step on, where it can be redacted.
        """
        if self._waits and run.at is not Phase.WAITING:
            self._waits = False
            self._stand(run, RUNNING)
        if isinstance(event, Begin) and self.store.kept(TASK) is not None:
            self.store.keep(TASK, None)

    def over(self, run: Run, outcome: Outcome) -> None:
        """The run has ended: its letters, and its snapshot with all that was said in it, are taken away."""
        if self.store.kept(STANDING) is not None:
            self._stand(run, ENDED, status=outcome.status.value)
        for id, _ in self.store.mail():
            self.store.unpost(id)
        if self.store.kept(SNAPSHOT) is not None:
            self.store.keep(SNAPSHOT, None)

    def at_rest(self, journal: RunJournal, run: Run, host: AgentHost, asked: Asked) -> None:
        """All that came in has been fed: a snapshot is kept where the last one is old."""
        if journal.lines - self._shot >= SNAPSHOT_LINES and not isinstance(self.store, MemoryStore):
            self.snapshot(journal, run, host, asked)

    def snapshot(self, journal: RunJournal, run: Run, host: AgentHost, asked: Asked) -> None:
        """Keep a snapshot of the run as it stands after the journal's last line."""
        self._shot = journal.lines
        taken = Snapshot(
            journal.lines - 1, journal.head, run, host.talk, host.plan.todos, asked.command, asked, host.now()
        )
        keep_snapshot(self.store, taken)

    def _stand(self, run: Run, state: Stands, **more: Any) -> None:
        stand(self.store, Standing(run.id, state, self.clock(), by=self.holder, **more))


def stand_ended(store: Store, run: str) -> Standing:
    """How a run stands that has ended: said anew where its process ended between its last line and the word of it."""
    stood = standing_of(store)
    if stood is not None and stood.state is ENDED:
        return stood
    taken = retell(store)
    outcome = taken.run.outcome
    status = None if outcome is None else outcome.status.value
    said = Standing(run, ENDED, taken.started + taken.run.spent.now, status=status)
    if stood is not None:
        stand(store, said)
        store.keep(SNAPSHOT, None)
    return said
