"""The agent: a model, tools and a policy, and the runs made with them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from time import time
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

import anyio

from statecraft.journal import FileStore, MemoryStore, Store

from ..manifest import Work
from ..policy import DEFAULT, Policy
from ..standing import TASK
from ..state import new_run, shared
from ..words import FINISH
from .agent_run import AgentRun
from .beside import stand_ended
from .notices import (
    Notices,
)
from .planning import PLAN_LINE, PLAN_MANIFEST, WRITE_TODOS
from .result import RunResult
from .spilling import SPILL_MANIFEST
from .taking_up import RunOver, take_up
from .tools import AgentTool, check_tools
from .wire import Provider
from .world import FactsOf, GoalOf, World

SYSTEM: Final = "You work on a task with the tools you are given."
"""What the model is told where the application says nothing else."""

HOW_TO_END: Final = f"When you are done, or cannot go on, call {FINISH}: words alone end nothing."
"""What the model is told whatever the application says: without it, few would ever end a run."""

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
    must have been written before a final answer counts as one. `clock` is the wall clock, in seconds since 1970.
    `stream`: replies are told as they come (`PieceNotice`), where the provider can do that, and one that says the same
    again and again is given up. `sleep` is how a run waits before it sends a refused request again, in seconds.

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
        clock: Callable[[], float] = time,
        stream: bool = False,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._clock = clock
        given = tuple(tools)
        check_tools(given, policy.budget.seconds)
        held = {tool.name: tool for tool in given}
        self.policy, self.work, self.requires = policy, work, requires
        self.notices = Notices()
        planning = policy.planning.enabled
        declared = {name: tool.manifest for name, tool in held.items()}
        built_in = {**(PLAN_MANIFEST if planning else {}), **SPILL_MANIFEST}
        self._manifest = shared({**built_in, **declared})
        self._store = _stores(journal)
        model = _named(provider) if isinstance(provider, str) else provider
        self._own = model if isinstance(provider, str) else None
        plans = planning and WRITE_TODOS not in held
        whole = "\n\n".join(part for part in (system.strip(), PLAN_LINE if plans else "", HOW_TO_END) if part)
        self._world = World(model, held, whole, policy.budget.reply_tokens, facts, goal, planning, stream, sleep)

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

    def start(self, task: str, *, run: str | None = None, notes: Mapping[str, bytes] | None = None) -> AgentRun:
        """A run that is ready; `await` its `result()`. `run` is its name; without one it gets a name of its own.

        `notes` are kept beside its journal once the run has claimed its place.
        ValueError for a task without words, a name that no file could have, or a policy that nothing can run by.
        """
        check_run(task, run)
        name = run or f"run-{uuid4().hex[:12]}"
        value = new_run(name, self.policy, tools=self._manifest, work=self.work, requires=self.requires)
        store = self._store(name)
        return AgentRun(task, value, self._world, self.notices.of(name), store, clock=self._clock, notes=notes or {})

    def store(self, run: str) -> Store:
        """Where the journal of a run lies, or would lie."""
        return self._store(run)

    def resume(self, run: str) -> AgentRun:
        """A run that was put down, or left open when its process ended; `await` its `result()`.

        It goes on by the policy and the manifests that it began with. What had finished is not done again. Raises
        `JournalError` where it has ended, is not there, is broken, or was made by other rules, and where a text is gone
        that the model has to be sent.
        """
        store = self._store(run)
        try:
            taken, kept = take_up(store), store.kept(TASK) or b""
        except RunOver:
            stand_ended(store, run)
            store.close()
            raise
        except BaseException:
            store.close()
            raise
        task = kept.decode("utf-8", "surrogatepass")
        return AgentRun(task, taken.run, self._world, self.notices.of(run), store, taken=taken, clock=self._clock)

    async def run(self, task: str, *, run: str | None = None) -> RunResult:
        """Run to the end. Raises what `start` raises, and `JournalError` where the journal cannot be written."""
        return await self.start(task, run=run).result()


def check_run(task: str, run: str | None) -> None:
    """Raises `ValueError` for a task without words, or a name that no run can have."""
    if not task.strip():
        raise ValueError("the task is empty: expected words, as a model is asked nothing without any")
    if run is not None and not NAME.fullmatch(run):
        raise ValueError(f"found the run's name {run!r}, expected at most 200 of A-Z a-z 0-9 _ - . and no dot first")


def _named(model: str) -> Provider:
    from .providers import Retries, provider_for  # imports the HTTP library, which takes a quarter of a second

    return provider_for(model, retries=Retries(attempts=1))  # the run asks again by itself, and its journal says so


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
