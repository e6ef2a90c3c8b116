"""What a host is made of, the same for all runs of an agent; and where in time one of them stands."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property

import anyio
import attrs

from statecraft.codec import dump

from ..commands import Ask
from ..events import Facts, Signal, Text
from ..host import Key
from .finish import FINISH_SCHEMA
from .parts import CHARS_A_TOKEN
from .planning import read_todos, write_todos
from .tools import AgentTool
from .wire import Completion, Provider, ToolSchema

FactsOf = Callable[[Completion], Awaitable[Facts | None]]
"""What the application knows about an answer.

It is given the reply as it was told: `text` is the whole message, wherever the model put it; where it was declared, the
declaration stands among the `calls`, with its kind in the arguments. Asked of replies without other calls, for 30
seconds at most; one that raises, or answers anything else than `Facts`, is logged, and nothing is known.
"""

GoalOf = Callable[[], Awaitable[tuple[float, float] | None]]
"""The task's own count, so many done of so many. Asked after each turn's calls; bounded and logged as `FactsOf`."""


@attrs.frozen
class World:
    """What a host is made of, the same for all runs of an agent."""

    provider: Provider
    tools: Mapping[str, AgentTool]
    system: str
    reply_tokens: int | None
    facts: FactsOf | None = None
    goal: GoalOf | None = None
    planning: bool = True
    stream: bool = False
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep

    @cached_property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """What the model is told of all tools, an application's own before the built-in one of its name."""
        built_in = (write_todos, read_todos) if self.planning else ()
        tools = {**{made.name: made for made in built_in}, **self.tools}
        return (*(made.schema for made in tools.values()), FINISH_SCHEMA)

    @cached_property
    def overhead_tokens(self) -> int:
        """The rough size of what every request carries beside its messages."""
        tools = sum(len(dump([tool.name, tool.description, dict(tool.schema)])) for tool in self.schemas)
        return (len(self.system) + tools) // CHARS_A_TOKEN


@attrs.frozen
class Place:
    """Where in time a host stands, and what is left for it from outside.

    `started`: the wall clock when the run began; `elapsed`: the seconds since then. `patience`: how many seconds a wait
    may last here before the run is put down (None: any). `letters` gives what has been answered to these names, at this
    time. `at_rest` is told before a request is sent, when all that came in has been fed; `waits` before a wait, until
    when and for which signals. `texts` looks up what was kept.
    """

    started: float = 0.0
    elapsed: float = 0.0
    patience: float | None = None
    letters: Callable[[Sequence[str], float], Sequence[Signal]] | None = None
    at_rest: Callable[[Ask, Key], None] | None = None
    waits: Callable[[float, Sequence[str]], None] | None = None
    texts: Callable[[Text], str | None] | None = None
