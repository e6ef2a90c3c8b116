"""A host on anyio: one run's model, tools, clock and inbox.

The rules: calls of one turn run at once, except those declared `alone`; one failing call ends no other. A cancel that
is delivered ends what is under way and is fed after what had come in. Texts go to the content store as they come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence

import anyio
import attrs

from ..commands import AnswerCalls, Ask, Command, Condense, RunCalls, Show, Tell, TellPerson
from ..events import (
    Call,
    Cancel,
    Clock,
    Condensed,
    Declared,
    ErrorKind,
    Event,
    Facts,
    GoalMeasured,
    PlanChanged,
    PlanItem,
    Refusal,
    Reply,
    Signal,
    StopReason,
)
from ..host import Key
from ..ledger.canonical import loads
from ..ledger.observe import UNSEEN, Keep, call_of, result_of, text_of
from ..manifest import UNDECLARED, Tool
from ..outcome import Reason
from ..words import GO_ON, HOW_TO_FINISH, last_words, words_of
from .calling import Ran, run_call
from .finish import FINISH_SCHEMA, declared
from .notices import CallsNotice, CondensedNotice, Notices, PersonNotice, ResultNotice, TextNotice
from .planning import Plan, Todo, notice_of, plan_tools
from .tools import AgentTool
from .transcript import Transcript
from .wire import CallPart, Completion, Provider, Refused, Request

FactsOf = Callable[[Completion], Awaitable[Facts | None]]
GoalOf = Callable[[], Awaitable[tuple[float, float] | None]]

KEPT_RESULTS = 8_000
"""Characters of the newest results that condensing leaves alone."""

MAY_BE_CUT = (StopReason.END_TURN, StopReason.TOOL_USE, StopReason.STOP_SEQUENCE, StopReason.OTHER)
"""Stop reasons that are not believed of a reply which used up its whole budget."""

CHARS_A_TOKEN = 4
"""A rough size, for what condensing freed; providers count exactly."""


@attrs.frozen
class World:
    """What a host is made of, the same for all runs of an agent."""

    provider: Provider
    tools: Mapping[str, AgentTool]
    system: str
    reply_tokens: int
    facts: FactsOf | None = None
    goal: GoalOf | None = None
    planning: bool = True


class AgentHost:
    """The world around one run."""

    def __init__(self, world: World, notices: Notices, keep: Keep, stop: Callable[[], Reason | None]) -> None:
        self._world, self._notices, self._keep, self._stop = world, notices, keep, stop
        self.transcript = Transcript()
        self._began = anyio.current_time()
        self._calls: dict[str, tuple[CallPart, Call]] = {}
        self._arrived: deque[Event] = deque()
        self._inbox: deque[Event] = deque()
        self._knock = anyio.Event()
        self._scope: anyio.CancelScope | None = None
        self.plan = Plan(self._planned)
        built_in = plan_tools(self.plan) if world.planning else ()
        self._tools = {**{made.name: made for made in built_in}, **world.tools}  # an application's own come first
        self._schemas = (*(made.schema for made in self._tools.values()), FINISH_SCHEMA)

    def now(self) -> float:
        """Seconds since the run began."""
        return anyio.current_time() - self._began

    async def effect(self, command: Command, key: Key) -> Sequence[Event]:
        """Carry a command out. A cancel in the inbox ends it; what had come in by then counts."""
        del key  # nothing here is sent twice: a run of this host ends with its process
        if not self._cancelled():
            with anyio.CancelScope() as scope:
                self._scope = scope
                try:
                    await self._carry_out(command)
                finally:
                    self._scope = None
        return self._collected()

    async def wait(self, until: float, signals: tuple[str, ...]) -> Event:
        """Sleep until the time has come, or something is delivered that ends the wait."""
        with anyio.move_on_after(max(0.0, until - self.now())):
            while True:
                for event in tuple(self._inbox):
                    if not (isinstance(event, Signal) and signals and event.name not in signals):
                        self._inbox.remove(event)
                        return event
                self._knock = anyio.Event()
                await self._knock.wait()
        return Clock(self.now())

    async def deliver(self, run: str, event: Event) -> None:
        """Bring an event from outside. A cancel ends the command that is under way."""
        del run
        self.post(event)

    def post(self, event: Event) -> None:
        """As `deliver`, for whoever cannot await."""
        self._inbox.append(event)
        self._knock.set()
        if isinstance(event, Cancel) and self._scope is not None:
            self._scope.cancel()

    def abandon(self) -> Sequence[Event]:
        """What came in and was not fed yet."""
        return self._collected()

    def settle(self, commands: Sequence[Command]) -> None:
        """Give every open call its answer, without awaiting."""
        for command in commands:
            if isinstance(command, AnswerCalls):
                self._answer(command)
        for call in self.transcript.open_calls:
            self.transcript.answer(call, "the run was cancelled", error=True)

    def _cancelled(self) -> bool:
        return any(isinstance(event, Cancel) for event in self._inbox)

    def _collected(self) -> Sequence[Event]:
        events = (*self._arrived, *self._inbox)
        self._arrived.clear()
        self._inbox.clear()
        return events

    async def _carry_out(self, command: Command) -> None:
        match command:
            case Ask():
                await self._ask(command)
            case RunCalls():
                await self._run(command)
            case AnswerCalls():
                self._answer(command)
            case Tell():
                self.transcript.say(words_of(command))
            case Show():
                self.transcript.say(HOW_TO_FINISH)
            case Condense():
                self._condense()
            case TellPerson():
                self._notices.tell(PersonNotice(command.by, dict(command.values)))
            case _:
                pass  # an ending is told by whoever drives the run

    async def _ask(self, command: Ask) -> None:
        if command.after:
            await anyio.sleep(command.after)
        if command.final:
            self.transcript.say(last_words(self._stop()))
        request = Request(
            self._world.system,
            self.transcript.outbound(),
            self._schemas,
            self._world.reply_tokens,
            no_tools=command.final,
        )
        answer = await self._world.provider.complete(request)
        if isinstance(answer, Completion) and answer.stop in MAY_BE_CUT and answer.usage.output >= request.max_tokens:
            answer = attrs.evolve(answer, stop=StopReason.LENGTH)  # some servers call a reply whole that is not
        self._arrived.append(self._refused(answer) if isinstance(answer, Refused) else await self._replied(answer))

    def _refused(self, answer: Refused) -> Refusal:
        return Refusal(self.now(), answer.status, text_of(answer.body, self._keep), answer.after, answer.too_long)

    async def _replied(self, answer: Completion) -> Reply:
        told = declared(answer)
        calls = told.calls
        cut = answer.stop in (StopReason.LENGTH, StopReason.CONTEXT_WINDOW)
        self.transcript.reply(told.parts)
        for call, why in told.answered:
            self.transcript.answer(call, why, error=True)
        made = tuple(
            call_of(c.id, c.name, c.args, self._tool(c.name), parsed=_is_object(c), keep=self._keep) for c in calls
        )
        self._calls = {part.id: (part, call) for part, call in zip(calls, made, strict=True)}
        if cut and not calls:
            self.transcript.say(GO_ON)
        if told.text and not cut:
            self._notices.tell(TextNotice(told.text, checkpoint=told.kind is None))
        return Reply(
            self.now(),
            answer.stop,
            made,
            text=text_of(told.text, self._keep) if told.text.strip() else None,
            thinking=text_of(answer.thinking, self._keep) if answer.thinking else None,
            usage=answer.usage,
            kind=None if told.kind is None else Declared(told.kind),
            facts=None if self._world.facts is None or calls else await self._world.facts(answer),
        )

    async def _run(self, command: RunCalls) -> None:
        calls = [self._calls[call] for call in command.calls]
        self._notices.tell(CallsNotice(tuple((part.id, part.name, part.args) for part, _ in calls)))
        together = [made for made in calls if len(calls) > 1 and not self._is_alone(made[0])]  # a task costs 30 us
        if together:
            async with anyio.create_task_group() as group:
                for made in together:
                    group.start_soon(self._call, *made)
        for made in calls:
            if len(calls) == 1 or self._is_alone(made[0]):
                await self._call(*made)
        if self._world.goal is not None and (count := await self._world.goal()) is not None:
            self._arrived.append(GoalMeasured(self.now(), *count))

    async def _call(self, part: CallPart, call: Call) -> None:
        tool = self._tools.get(part.name)
        ran = _unknown(part, self._tools) if tool is None else await run_call(tool, part.args)
        error = ran.error is not None
        self.transcript.answer(call.id, ran.content, error=error)
        self._notices.tell(ResultNotice(call.id, call.tool, ran.content, ran.error.value if ran.error else None))
        self._arrived.append(
            result_of(
                call,
                self._tool(call.tool),
                at=self.now(),
                value=ran.value,
                error=ran.error,
                message=ran.content if ran.value is UNSEEN and error else None,
                state=ran.state,
                target=ran.target,
                wrote=ran.wrote,
                keep=self._keep,
            )
        )

    def _answer(self, command: AnswerCalls) -> None:
        for call in command.calls:
            self.transcript.answer(call, command.why, error=True)

    def _condense(self) -> None:
        freed = self.transcript.prune(KEPT_RESULTS)
        self._notices.tell(CondensedNotice(0, 0, summarized=False))
        self._arrived.append(Condensed(self.now(), freed // CHARS_A_TOKEN))

    def _planned(self, todos: Sequence[Todo]) -> None:
        items = tuple(PlanItem(text_of(todo["content"], self._keep), todo["status"]) for todo in todos)
        self._arrived.append(PlanChanged(self.now(), items))
        self._notices.tell(notice_of(todos))

    def _is_alone(self, call: CallPart) -> bool:
        tool = self._tools.get(call.name)
        return tool is not None and tool.alone

    def _tool(self, name: str) -> Tool:
        tool = self._tools.get(name)
        return UNDECLARED if tool is None else tool.manifest


def _unknown(call: CallPart, tools: Mapping[str, AgentTool]) -> Ran:
    known = ", ".join(sorted(tools)) or "none"
    said = f"there is no tool {call.name}; there are: {known}"
    return Ran(said, said, ErrorKind.UNKNOWN_TOOL)


def _is_object(call: CallPart) -> bool:
    try:
        return isinstance(loads(call.args or "{}"), dict)
    except ValueError:
        return False
