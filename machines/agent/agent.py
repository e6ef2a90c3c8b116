"""The agent: a model, tools and a policy, and the runs made with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from uuid import uuid4

from statecraft import Step
from statecraft.journal import FileStore, MemoryStore, Store

from ..drive import Loop
from ..events import Begin, Cancel, Event
from ..journaled import RunJournal
from ..ledger.observe import both, text_of
from ..manifest import Work
from ..outcome import message_of
from ..policy import DEFAULT, Policy
from ..recent import Recent
from ..run import RUN
from ..state import RECOVERIES, SIZES, Purse, Run, new_run
from ..supervisor import Fed, Moved
from ..verdicts import decided
from .host import AgentHost, FactsOf, GoalOf, World
from .notices import (
    AttemptResetNotice,
    EndingNotice,
    Notices,
    RecoveryNotice,
    RepetitionNotice,
    StateNotice,
    VerdictNotice,
)
from .planning import PLAN_MANIFEST
from .result import RunResult
from .tools import AgentTool
from .wire import Provider

SYSTEM = "You work on a task with the tools you are given. When you are done, or cannot go on, call finish."
"""What the model is told where the application says nothing else."""

GIVEN_UP = (Purse.EMPTY, Purse.REFUSED)
"""Recoveries that ask again for the same reply: what came of the one before is not kept."""

StoreFor = Callable[[str], Store]


class Agent:
    """A model with tools under a policy. Runs of one agent may go on side by side.

    `journal`: a folder for NAME.jsonl journals, or a function from a run's name to a store; without it the journal is
    kept in memory. `facts` and `goal` tell what the host knows of an answer, and the task's own count.
    """

    def __init__(
        self,
        provider: Provider,
        tools: Iterable[AgentTool] = (),
        *,
        system: str = SYSTEM,
        policy: Policy = DEFAULT,
        journal: Path | StoreFor | None = None,
        facts: FactsOf | None = None,
        goal: GoalOf | None = None,
        work: Work = Work.OTHER,
        requires: tuple[str, ...] = (),
    ) -> None:
        held = {tool.name: tool for tool in tools}
        self.policy, self.work, self.requires = policy, work, requires
        self.notices = Notices()
        planning = policy.planning.enabled
        self._manifest = {**(PLAN_MANIFEST if planning else {}), **{name: tool.manifest for name, tool in held.items()}}
        self._world = World(provider, held, system, policy.budget.reply_tokens or 4_096, facts, goal, planning)
        self._store = _stores(journal)

    def start(self, task: str, *, run: str | None = None) -> AgentRun:
        """A run that is ready; `await` its `result()`. Raises `ValueError` for a policy that nothing can run by."""
        name = run or f"run-{uuid4().hex[:12]}"
        value = new_run(name, self.policy, tools=self._manifest, work=self.work, requires=self.requires)
        return AgentRun(task, value, self._world, self.notices, self._store(name))

    async def run(self, task: str, *, run: str | None = None) -> RunResult:
        """Run to the end."""
        return await self.start(task, run=run).result()


class AgentRun:
    """One run under way."""

    def __init__(self, task: str, run: Run, world: World, notices: Notices, store: Store) -> None:
        self._task, self._world, self._notices, self._store = task, world, notices, store
        self.run = run
        self._host: AgentHost | None = None
        self._cancel: Cancel | None = None

    def cancel(self, reason: str = "") -> None:
        """Cancel from outside: what is under way is given up, and the run ends as cancelled."""
        if self._host is None:
            self._cancel = Cancel(0.0, reason)
        else:
            self._host.post(Cancel(self._host.now(), reason))

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the last reply's calls that have no answer yet."""
        return () if self._host is None else self._host.transcript.open_calls

    async def result(self) -> RunResult:
        """Drive the run to its ending. Its journal is closed whatever happens."""
        recent = Recent()
        journal = RunJournal(self._store, self.run, host="agent")
        keep = both(recent.keep, journal.keep)
        host = self._host = AgentHost(self._world, self._notices, keep, lambda: self.run.stop)
        if self._cancel is not None:
            host.post(self._cancel)
        host.transcript.say(self._task)
        loop = Loop(self.run, host, journal, self._watch)
        await loop.drive(Begin(host.now(), text_of(self._task, keep)))
        outcome = self.run.outcome
        if outcome is None:
            raise AssertionError("a run that was driven to its end has an outcome")
        message = message_of(outcome, recent.text_of)
        self._notices.tell(EndingNotice(outcome, message))
        return RunResult(self.run.id, message, outcome, host.plan.todos, journal.name)

    def _watch(self, event: Event, fed: Fed) -> None:
        """Each step as notices."""
        self.run = fed.run
        for move in fed.moves:
            if not isinstance(move, Moved):
                continue
            for found in decided(move):
                self._notices.tell(VerdictNotice(fed.run.turn.number, found.verdict, found.by, found.evidence))
                if found.by == "consecutive_duplicate":
                    seen = found.evidence
                    self._notices.tell(RepetitionNotice(1, int(seen.get("now") or 0), str(seen.get("tool"))))
            if isinstance(move.answer, Step):
                self._recovered(move.answer.row, fed.run)
        self._notices.tell(StateNotice(fed.run.at.value, fed.run.turn.number, spent(fed.run, event.at)))

    def _recovered(self, row: int, run: Run) -> None:
        budget = RUN.rows[row].spends
        if isinstance(budget, Purse) and budget in RECOVERIES:
            attempt = (SIZES[budget](run) or 0) - (run.purse[budget] or 0)
            self._notices.tell(RecoveryNotice(budget.value, attempt, self._world.reply_tokens))
            if budget in GIVEN_UP:
                self._notices.tell(AttemptResetNotice(budget.value))


def spent(run: Run, at: float) -> Mapping[str, tuple[float, float | None]]:
    """What is spent of each budget, and its limit (None: no limit). Seconds, tokens, US dollars."""
    budget, usage = run.policy.budget, run.spent.usage
    return {
        "turns": (run.turn.number, budget.turns),
        "seconds": (run.spent.seconds(at), budget.seconds),
        "tokens": (usage.input + usage.output, budget.tokens),
        "usd": (usage.usd, budget.usd),
    }


def _stores(journal: Path | StoreFor | None) -> StoreFor:
    if journal is None:
        return lambda run: MemoryStore()
    if isinstance(journal, Path):
        folder = journal

        def store(run: str) -> Store:
            folder.mkdir(parents=True, exist_ok=True)
            return FileStore(folder / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', run)}.jsonl")

        return store
    return journal
