"""The agent: a model, tools and a policy, and the runs made with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

from statecraft import Scalar, Step
from statecraft.journal import FileStore, MemoryStore, Store

from ..commands import Ask
from ..drive import Loop
from ..events import Begin, Cancel, Event, Refusal, Text
from ..journaled import RunJournal
from ..ledger.observe import both, text_of
from ..manifest import Work
from ..outcome import Outcome, account_lines, message_of
from ..policy import DEFAULT, Policy
from ..recent import Recent
from ..run import RUN
from ..state import RECOVERIES, SIZES, Purse, Run, new_run, shared
from ..supervisor import Fed, Moved
from ..verdicts import decided
from ..words import FINISH
from .host import CHARS_A_TOKEN, AgentHost, FactsOf, GoalOf, World
from .notices import (
    AttemptResetNotice,
    EndingNotice,
    Notice,
    Notices,
    RecoveryNotice,
    RepetitionNotice,
    StateNotice,
    VerdictNotice,
)
from .planning import PLAN_MANIFEST
from .result import LastRefusal, RunResult, refused_by
from .tools import AgentTool, check_tools
from .wire import CallPart, Message, Provider, ResultPart, TextPart, ThinkingPart

SYSTEM: Final = "You work on a task with the tools you are given."
"""What the model is told where the application says nothing else."""

HOW_TO_END: Final = f"When you are done, or cannot go on, call {FINISH}: words alone end nothing."
"""What the model is told whatever the application says: without it, few would ever end a run."""

GIVEN_UP: Final = (Purse.EMPTY, Purse.REFUSED)
"""Recoveries that ask again for the same reply: what came of the one before is not kept."""

REPEATING: Final = ("consecutive_duplicate", "cycle", "spread_duplicate")
"""Detectors whose evidence is a repetition of calls."""

NAME: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
"""What a run may be called: its journal is a file of that name."""

StoreFor = Callable[[str], Store]


class Agent:
    """A model with tools under a policy. Runs of one agent may go on side by side.

    `provider`: a provider, or the name of a model as `provider_for` takes it (`anthropic:NAME`, `openai:NAME`, a URL);
    one that was made from a name is closed by `aclose`, or by leaving `async with`. `system` says who the model is; how
    a run is ended is told beside it, always: a text without a call is shown as a note and ends nothing, `finish` does.

    `journal`: the folder for NAME.jsonl journals, or a function from a run's name to a store; without it the journal is
    kept in memory. `facts` is asked, after each reply without calls, what the host knows of that answer (`Facts`; None:
    nothing), and decides what a final answer counts as; `goal` is asked after each turn for the task's own count
    (reached, wanted), such as tests that pass. `work` and `requires` say what kind of work it is, and which targets
    must have been written before a final answer counts as one.

    How long a tool may take is in its manifest (`Tool`): `timeout_seconds` in all, `idle_seconds` without a sign of
    life, which `heartbeat` gives from inside a tool.

    ValueError for two tools of one name or a name that no provider takes, TypeError for a tool that is none.
    """

    def __init__(
        self,
        provider: Provider | str,
        tools: Iterable[AgentTool] = (),
        *,
        system: str = SYSTEM,
        policy: Policy = DEFAULT,
        journal: Path | str | StoreFor | None = None,
        facts: FactsOf | None = None,
        goal: GoalOf | None = None,
        work: Work = Work.OTHER,
        requires: tuple[str, ...] = (),
    ) -> None:
        given = tuple(tools)
        check_tools(given, policy.budget.seconds)
        held = {tool.name: tool for tool in given}
        self.policy, self.work, self.requires = policy, work, requires
        self.notices = Notices()
        planning = policy.planning.enabled
        declared = {name: tool.manifest for name, tool in held.items()}
        self._manifest = shared({**PLAN_MANIFEST, **declared} if planning else declared)
        self._store = _stores(journal)
        model = _named(provider) if isinstance(provider, str) else provider
        self._own = model if isinstance(provider, str) else None
        whole = "\n\n".join(part for part in (system.strip(), HOW_TO_END) if part)
        self._world = World(model, held, whole, policy.budget.reply_tokens or 4_096, facts, goal, planning)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Give up what the agent opened itself: the provider, if it was made from a model's name."""
        if self._own is not None:
            await self._own.aclose()

    def start(self, task: str, *, run: str | None = None) -> AgentRun:
        """A run that is ready; `await` its `result()`. `run` is its name; without one it gets a name of its own.

        ValueError for a task without words, a name that no file could have, or a policy that nothing can run by.
        """
        if not task.strip():
            raise ValueError("the task is empty: expected words, as a model is asked nothing without any")
        if run is not None and not NAME.fullmatch(run):
            raise ValueError(
                f"found the run's name {run!r}, expected at most 200 of A-Z a-z 0-9 _ - . and no dot first"
            )
        name = run or f"run-{uuid4().hex[:12]}"
        value = new_run(name, self.policy, tools=self._manifest, work=self.work, requires=self.requires)
        return AgentRun(task, value, self._world, self.notices.of(name), self._store(name))

    async def run(self, task: str, *, run: str | None = None) -> RunResult:
        """Run to the end. Raises what `start` raises, and `JournalError` where the journal cannot be written."""
        return await self.start(task, run=run).result()


class AgentRun:
    """One run under way. `notices` are those of this run alone."""

    def __init__(self, task: str, run: Run, world: World, notices: Notices, store: Store) -> None:
        self._task, self._world, self._store = task, world, store
        self.run, self.notices = run, notices
        self._host: AgentHost | None = None
        self._cancel: Cancel | None = None
        self._driven = False
        self._text_of: Callable[[Text], str | None] = lambda text: None
        self._refused: LastRefusal | None = None
        self._message = ""
        self._summary: tuple[str, ...] = ()

    def cancel(self, reason: str = "") -> None:
        """Cancel from outside: what is under way is given up, and the run ends as cancelled.

        From the run's own event loop only; a tool's worker thread takes `anyio.from_thread.run_sync(under_way.cancel)`.
        """
        if self._host is None:
            self._cancel = Cancel(0.0, reason)
        else:
            self._host.post(Cancel(self._host.now(), reason))

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the last reply's calls that have no answer yet."""
        return () if self._host is None else self._host.transcript.open_calls

    async def result(self) -> RunResult:
        """Drive the run to its ending. Its journal is closed whatever happens. RuntimeError the second time."""
        if self._driven:
            raise RuntimeError(f"run {self.run.id}: a run is driven once; start another one")
        self._driven = True
        try:
            return await self._drive(RunJournal(self._store, self.run, host="agent"))
        finally:
            self.notices.over()

    async def _drive(self, journal: RunJournal) -> RunResult:
        try:
            recent = Recent()
            task = text_of(self._task, journal.keep)
            # A store that keeps no content is the application's choice; what ends the run is shown all the same.
            kept = journal.text_of(task) is not None
            keep = journal.keep if kept else both(recent.keep, journal.keep)
            self._text_of = journal.text_of if kept else recent.text_of
            host = self._host = AgentHost(self._world, self.notices, keep, lambda: self.run)
            if self._cancel is not None:
                host.post(self._cancel)
            host.transcript.say(self._task)
            loop = Loop(self.run, host, journal, self._watch)
        except BaseException:
            journal.close(None)
            raise
        await loop.drive(Begin(host.now(), task))
        outcome = self.run.outcome
        if outcome is None:
            raise AssertionError("a run that was driven to its end has an outcome")
        return RunResult(
            self.run.id,
            self._message,
            outcome,
            host.plan.todos,
            journal.name,
            self._summary,
            self._last_refusal(outcome),
        )

    def _watch(self, event: Event, fed: Fed) -> None:
        """Each step as notices."""
        before, self.run = self.run, fed.run
        for move in fed.moves:
            if not isinstance(move, Moved):
                continue
            if isinstance(move.event, Refusal):
                self._refused = refused_by(move.event.status, self._text_of(move.event.body) or "")
            run = move.answer.run if isinstance(move.answer, Step) else fed.run
            for found in decided(move):
                self.notices.tell(VerdictNotice(run.turn.number, found.verdict, found.by, found.evidence))
                if found.by in REPEATING:
                    self.notices.tell(repetition(found.evidence))
            for notice in recovered(move, self._world.reply_tokens, self._refused):
                self.notices.tell(notice)
        self.notices.tell(StateNotice(fed.run.at.value, fed.run.turn.number, spent(fed.run, event.at)))
        if before.outcome is None and fed.run.outcome is not None:
            self._message = self._shown(fed.run.outcome)
            self._summary = tuple(account_lines(fed.run.outcome, self._text_of))
            self.notices.tell(EndingNotice(fed.run.outcome, self._message))

    def _shown(self, outcome: Outcome) -> str:
        """What a person is shown: where a refusal ended the run, with what was said."""
        message, refused = message_of(outcome, self._text_of), self._last_refusal(outcome)
        return message if refused is None else f"{message}\nThe last request: {refused.words}"

    def _last_refusal(self, outcome: Outcome) -> LastRefusal | None:
        """The refusal that the run ended by."""
        if self._refused is None or outcome.reason.by not in ("refused", "context_overflow"):
            return None
        tokens = None
        if self._host is not None and outcome.reason.by == "context_overflow":
            tokens = chars_of(self._host.transcript.outbound()) // CHARS_A_TOKEN
        return self._refused.with_tokens(tokens)


def recovered(move: Moved, reply_budget: int, refused: LastRefusal | None = None) -> tuple[Notice, ...]:
    """What a step tells of a recovery: nothing, if it was none. `refused` is the last refusal, if the event is one."""
    if not isinstance(move.answer, Step):
        return ()
    budget, run = RUN.rows[move.answer.row].spends, move.answer.run
    if not (isinstance(budget, Purse) and budget in RECOVERIES):
        return ()
    attempt = (SIZES[budget](run) or 0) - (run.purse[budget] or 0)
    after = next((command.after for command in move.answer.commands if isinstance(command, Ask)), 0.0)
    said = refused if isinstance(move.event, Refusal) else None
    status, words = (None, "") if said is None else (max(0, said.status), said.words)
    notice = RecoveryNotice(budget.value, attempt, reply_budget, status, words, after)
    return (notice, AttemptResetNotice(budget.value)) if budget in GIVEN_UP else (notice,)


def repetition(evidence: Mapping[str, Scalar]) -> RepetitionNotice:
    """The repetition that a detector saw; one that names no period saw the same call again."""
    number = {name: found for name in ("period", "now") if isinstance(found := evidence.get(name), int)}
    return RepetitionNotice(number.get("period", 1), number.get("now", 0), str(evidence.get("tool") or ""))


def spent(run: Run, at: float) -> Mapping[str, tuple[float | None, float | None]]:
    """What is spent of each budget, and its limit (None: no limit). Seconds, tokens, US dollars.

    Dollars are None, not known, as long as nothing had a price.
    """
    budget, usage = run.policy.budget, run.spent.usage
    return {
        "turns": (run.turn.number, budget.turns),
        "seconds": (run.spent.seconds(at), budget.seconds),
        "tokens": (usage.input + usage.output, budget.tokens),
        "usd": (usage.usd or None, budget.usd),
    }


def chars_of(messages: Sequence[Message]) -> int:
    """The characters of all words, arguments and results in a transcript."""
    texts = {TextPart: "text", ThinkingPart: "text", CallPart: "args", ResultPart: "content"}
    return sum(len(getattr(part, texts[type(part)])) for message in messages for part in message.parts)


def _named(model: str) -> Provider:
    from .providers import provider_for  # imports the HTTP library, which takes a quarter of a second

    return provider_for(model)


def _stores(journal: Path | str | StoreFor | None) -> StoreFor:
    if journal is None:
        return lambda run: MemoryStore()
    if callable(journal):
        return journal
    folder = Path(journal)

    def store(run: str) -> Store:
        folder.mkdir(parents=True, exist_ok=True)
        return FileStore(folder / f"{run}.jsonl")

    return store
