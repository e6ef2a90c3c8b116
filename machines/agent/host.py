"""A host on anyio: one run's model, tools, clock and inbox.

The rules: calls of one turn that stand side by side run at once, those declared `alone` by themselves, in their place;
one failing call ends no other. Texts go to the content store as they come. What the application gives (the provider,
`facts`, `goal`) may fail in any way: that is no reply, or nothing known, and is logged.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Final

import anyio

from statecraft.evolve import evolve

from ..commands import AnswerCalls, Ask, Command, Condense, RunCalls, Show, TellPerson
from ..events import (
    Awaits,
    Call,
    Clock,
    ErrorKind,
    Event,
    GoalMeasured,
    PlanChanged,
    PlanItem,
    Result,
    Text,
)
from ..host import Key
from ..ledger.observe import UNSEEN, Keep, result_of, text_of
from ..manifest import UNDECLARED, Kind, Tool
from ..pending import UNKNOWN
from ..state import Run
from .asking import Asking
from .attempts import first_leaf
from .calling import KEY, TIME_LEFT, Ran, run_call, unknown
from .conversation import Conversation
from .from_outside import WaitFor, awaits
from .given import is_count, known
from .inbox import Inbox
from .notices import CallsNotice, Notices, PersonNotice, ResultNotice, TextNotice
from .people import answer_of
from .planning import Plan, Todo, notice_of, plan_tools
from .spilling import spill_tools
from .transcript import Transcript
from .wire import CallPart
from .world import Place, World

_LOG: Final = logging.getLogger("machines.agent")

NO_ANSWER: Final = "no answer: the run has ended"
"""What answers a call that was open when the run ended."""

NOT_KNOWN: Final = ". Whether it took effect is not known."
"""What is added for a call that may have changed something and was broken off."""

FIRST_LOOK, LONGEST_GAP = 0.1, 2.0
"""Seconds between two looks into the mail while a run waits: at first, and at most."""

AWAITED = (Ask, RunCalls, Condense)
"""The commands that take time; the others are carried out at once."""


class AgentHost:
    """The world around one run. `talk`: what was said in it so far, where it is taken up."""

    def __init__(
        self,
        world: World,
        notices: Notices,
        keep: Keep,
        run: Callable[[], Run],
        *,
        place: Place | None = None,
        talk: Conversation | None = None,
    ) -> None:
        self._world, self._notices, self._keep, self._run_now = world, notices, keep, run
        self._place = place = place or Place()
        self.talk = talk or Conversation()
        self._began = anyio.current_time() - place.elapsed
        self._running: set[str] = set()
        self._key: Key | None = None
        self._arrived: deque[Event] = deque()
        self._inbox = Inbox(self.now, keep, self._said)
        self.plan = Plan(self._planned)
        built_in = (*(plan_tools(self.plan) if world.planning else ()), *spill_tools(lambda: self.transcript.spilled))
        self._tools = {**{made.name: made for made in built_in}, **world.tools}  # an application's own come first
        self.asking = Asking(world, notices, keep, run, self.now, self.talk, self.plan, self._tools)

    @property
    def transcript(self) -> Transcript:
        """What the model is sent."""
        return self.talk.transcript

    def now(self) -> float:
        """Seconds since the run began."""
        return anyio.current_time() - self._began

    async def effect(self, command: Command, key: Key) -> Sequence[Event]:
        """Carry a command out. A cancel in the inbox ends it; what had come in by then counts."""
        self._key = key
        if self._place.at_rest is not None and isinstance(command, Ask):
            self._place.at_rest(command, key)
        if not isinstance(command, AWAITED):
            self._do(command)
        elif not self._inbox.cancelled:
            with anyio.CancelScope() as scope:
                self._inbox.under_way = scope
                try:
                    await self._carry_out(command)
                finally:
                    self._inbox.under_way = None
        return self._collected()

    async def wait(self, until: float, signals: tuple[str, ...]) -> Event | None:
        """Sleep until the time has come, or something is delivered that ends the wait; None where that is too long."""
        gap, said = FIRST_LOOK, False
        while True:
            event = self._delivered(signals)
            if event is not None:
                return event
            left = until - self.now()
            if left <= 0:
                return Clock(max(until, self.now()))
            if self._place.patience is not None and left > self._place.patience:
                return None
            if not said and self._place.waits is not None:
                self._place.waits(until, signals)
            said = True
            look = signals and self._place.letters is not None
            await self._inbox.knock(min(left, gap) if look else left)
            gap = min(gap * 1.5, LONGEST_GAP)

    def _delivered(self, signals: tuple[str, ...]) -> Event | None:
        """What has come that a wait for these signals ends by: from this process, or as a letter."""
        event = self._inbox.ends_wait(signals)
        if event is not None:
            return event
        if not signals or self._place.letters is None:
            return None
        return next(iter(self._place.letters(signals, self.now())), None)

    async def deliver(self, run: str, event: Event) -> None:
        """Bring an event from outside. A cancel ends the command that is under way; a signal lies until a wait.

        Raises `ValueError` for words of a person, whose text an event does not hold: those come by `say`.
        """
        del run
        self.post(event)

    def say(self, text: str, *, synthetic: bool = False) -> None:
        """A person speaks, or (`synthetic`) a program in a person's name: the run and the model hear it.

        A request that is out is not changed by it: the words go into the next one.
        """
        self._inbox.say(text, synthetic=synthetic)

    def post(self, event: Event) -> None:
        """As `deliver`, for whoever cannot await."""
        self._inbox.post(event)

    def abandon(self) -> Sequence[Event]:
        """What came in and was not fed yet."""
        return self._collected()

    def settle(self, commands: Sequence[Command]) -> None:
        """Do what was still to be done at once, and give every open call its answer; nothing is awaited."""
        for command in commands:
            self._do(command)
        for call in self.transcript.open_calls:
            self.transcript.answer(call, NO_ANSWER + self._effect_of(call), error=True)

    def _effect_of(self, call: str) -> str:
        """What is not known of a call that was broken off."""
        writes = call in self._running and self._tool(self.talk.calls[call][1].tool).kind in (Kind.WRITE, Kind.COMMAND)
        return NOT_KNOWN if writes else ""

    def _collected(self) -> Sequence[Event]:
        """What has come in: from the command that was under way, and then from outside."""
        events = tuple(self._arrived)
        self._arrived.clear()
        return (*events, *self._inbox.take())

    def _said(self, text: str) -> None:
        self.talk.heard(text)

    async def _carry_out(self, command: Ask | RunCalls | Condense) -> None:
        """Carry out what takes time."""
        if isinstance(command, Ask):
            self._arrived.extend(await self.asking.ask(command))
        elif isinstance(command, RunCalls):
            await self._run(command)
        else:
            self._arrived.append(await self.asking.condense(command))

    def _do(self, command: Command) -> None:
        """Carry out what awaits nothing."""
        match command:
            case AnswerCalls():
                self._answer(command)
            case Show():  # a checkpoint is shown, and the model told how a run ends
                self._notices.tell(TextNotice(self.talk.told.text, checkpoint=True))
                self.talk.said(command)
            case TellPerson():
                self._notices.tell(PersonNotice(command.by, dict(command.values)))
            case _:
                self.talk.carry_out(command)  # an ending is told by whoever drives the run

    async def _run(self, command: RunCalls) -> None:
        calls = [self.talk.calls[call] for call in command.calls]
        self._notices.tell(CallsNotice(tuple((part.id, part.name, part.args) for part, _ in calls)))
        if len(calls) == 1:
            await self._call(*calls[0])  # a task group costs 30 us
        else:
            await self._run_many(calls)
        if self._world.goal is not None:
            count = await known("goal", self._world.goal, is_count)
            if count is not None:
                self._arrived.append(GoalMeasured(self.now(), *count))

    async def _run_many(self, calls: Sequence[tuple[CallPart, Call]]) -> None:
        try:
            for alone, some in groupby(calls, lambda made: self._is_alone(made[0])):
                if alone:
                    for made in some:
                        await self._call(*made)
                    continue
                async with anyio.create_task_group() as group:
                    for made in some:
                        group.start_soon(self._call, *made)
        except BaseExceptionGroup as error:
            raise first_leaf(error) from None  # as one call alone raises it
        answered = {event.call for event in self._arrived if isinstance(event, Result | Awaits)}
        for part, call in calls:
            if call.id not in answered:  # a task that cancelled itself is dropped by its group without a word
                said = f"the tool ended without an answer{self._effect_of(call.id)}"
                self._answered(call, part, Ran(said, said, ErrorKind.OTHER))

    async def _call(self, part: CallPart, call: Call) -> None:
        tool = self._tools.get(part.name)
        came = next((one for one in self._run_now().turn.came if one.call.id == call.id), None)
        if came is not None:
            self._answered(call, part, answer_of(came, self._place.started, self._kept))
            return
        if tool is None:
            ran = unknown(part, self._tools)
        else:
            self._running.add(call.id)
            TIME_LEFT.set(self._time_left)
            key = self._key
            KEY.set("" if key is None else f"{key.run}/{key.sequence}/{key.kind}/{call.id}")
            ran = await run_call(tool, part.args)
        if isinstance(ran.value, WaitFor):
            self._held(call, part, ran.value)
        else:
            self._answered(call, part, ran)
        self._running.discard(call.id)

    def _held(self, call: Call, part: CallPart, given: WaitFor) -> None:
        """A tool has asked for something outside: the run hears of it, once for each name."""
        name = given.name or call.id
        others = [one.name for one in self._run_now().turn.held]
        others += [event.name for event in self._arrived if isinstance(event, Awaits)]
        if name in others:
            said = f"another call of this turn waits for {name} already; expected one call for each answer"
            self._answered(call, part, Ran(said, said, ErrorKind.BUSINESS))
        else:
            self._arrived.append(awaits(call.id, name, given, self.now(), self._keep))

    def _time_left(self) -> float:
        return self._run_now().time_left(self.now())

    def unknown(self, events: Sequence[Event]) -> None:
        """Tell the model of calls whose outcome nobody knows, and whoever hears notices."""
        for event in events:
            if isinstance(event, Result):
                self.transcript.answer(event.call, UNKNOWN, error=True)
                tool = self.talk.calls[event.call][1].tool
                self._notices.tell(ResultNotice(event.call, tool, UNKNOWN, ErrorKind.OUTCOME_UNKNOWN.value))

    def _answered(self, call: Call, part: CallPart, ran: Ran) -> None:
        try:
            result = self._result(call, ran)
        except (
            TypeError,
            ValueError,
            RecursionError,
        ) as error:  # a value that JSON can say and the ledger cannot spell
            said = f"what {part.name} returned cannot be kept: {type(error).__name__}"
            ran = evolve(ran, content=said, value=said, error=ErrorKind.OTHER)
            result = self._result(call, ran)
        self.transcript.answer(call.id, ran.content, error=ran.error is not None)
        self._notices.tell(ResultNotice(call.id, call.tool, ran.content, ran.error.value if ran.error else None))
        self._arrived.append(result)

    def _result(self, call: Call, ran: Ran) -> Result:
        return result_of(
            call,
            self._tool(call.tool),
            at=self.now(),
            value=ran.value,
            error=ran.error,
            message=ran.content if ran.value is UNSEEN and ran.error is not None else None,
            state=ran.state,
            target=ran.target,
            wrote=ran.wrote,
            shown=ran.content,
            keep=self._keep,
        )

    def _answer(self, command: AnswerCalls) -> None:
        for call in command.calls:
            self.transcript.answer(call, command.why + self._effect_of(call), error=True)

    def _planned(self, todos: Sequence[Todo]) -> None:
        items = tuple(PlanItem(text_of(todo["content"], self._keep), todo["status"]) for todo in todos)
        self._arrived.append(PlanChanged(self.now(), items))
        self._notices.tell(notice_of(todos))

    def _kept(self, text: Text) -> str | None:
        return None if self._place.texts is None else self._place.texts(text)

    def _is_alone(self, call: CallPart) -> bool:
        tool = self._tools.get(call.name)
        return tool is not None and tool.alone

    def _tool(self, name: str) -> Tool:
        tool = self._tools.get(name)
        return UNDECLARED if tool is None else tool.manifest
