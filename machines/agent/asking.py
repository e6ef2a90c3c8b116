"""The requests of one run: how large they are, what reply budget they have, and what comes of them as events.

The rules: what may not fit is measured, and the run decides whether it is sent; a provider's own count is asked for
where the estimate comes near. A reply that streams is heard piece by piece, and given up where the run says so.
Whatever a provider answers or raises is an event.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Final

import anyio
import attrs

from statecraft.evolve import evolve

from .._run_endings import account_of
from .._run_guards import affords
from ..commands import Ask, Condense
from ..events import (
    Call,
    Chunk,
    Condensed,
    Declared,
    Event,
    Facts,
    Measured,
    NoReply,
    Refusal,
    Reply,
    StopReason,
)
from ..ledger.chant import Chant
from ..ledger.observe import Keep, call_of, forget, text_of
from ..manifest import UNDECLARED
from ..message import CUT
from ..outcome import told_of
from ..state import Run
from ..words import FINISH
from .attempts import attempt, caught, first_leaf
from .calling import problem_of
from .conversation import Conversation
from .finish import Told, begun
from .given import is_facts, is_sound, is_sound_refusal, known, no_reply
from .limit_lookup import can_look_up, limits_for, look_up
from .limits import KnownLimits, LimitSource, chain_of, learn_from, limits_now
from .naming import renamed
from .notices import CondensedNotice, Notices, PieceNotice, TextNotice
from .parts import CHARS_A_TOKEN, parts_written
from .planning import WRITE_TODOS, Plan, plan_note
from .reply_budget import reply_budget
from .shrinking import Shrinking, at_once
from .spilling import READ_RESULT, read_result
from .tools import AgentTool
from .wire import CallPart, Completion, Counting, Refused, Request, Streaming, TextPart
from .world import FactsOf, World

_LOG: Final = logging.getLogger("machines.agent")

ENDS_ELSEWHERE = (StopReason.PAUSE, StopReason.REFUSAL, StopReason.CONTENT_FILTER)
"""Stop reasons of a reply that was ended for another reason than its length, even if it used up its budget."""

COUNTED_FROM: Final = 0.6
"""The share of the room from which on an estimate is not enough, and the provider's own count is asked for."""

KEPT_FOR_REPLY: Final = 0.25
"""The share of a window that is kept for the reply at most: a small window would else have no room for a prompt."""

PIECE_CHARS: Final = 2_048
"""Characters of a stream that are one event: fewer would be a line in the journal for each word."""

MOST_AT_ONCE: Final = 65_536
"""Characters of one piece of a stream that are looked at: to look at megabytes would keep every other run waiting."""

COUNT_SECONDS: Final = 10.0
"""The time that a provider may take to count a prompt; an estimate must do after it."""

_WITHDRAWN: Final = object()


def _soon() -> float:
    return anyio.current_time() + COUNT_SECONDS


@attrs.define(eq=False)
class _Wanted:
    """A step of condensing that the application asked for, and what it freed once it is done."""

    step: str
    done: anyio.Event = attrs.field(factory=anyio.Event)
    freed: int = 0


class Asking:
    """The requests of one run. `hear` feeds an event while a request is out, and says whether that is still wanted."""

    def __init__(
        self,
        world: World,
        notices: Notices,
        keep: Keep,
        run: Callable[[], Run],
        now: Callable[[], float],
        talk: Conversation,
        plan: Plan,
        tools: Mapping[str, AgentTool],
    ) -> None:
        self._world, self._notices, self._keep, self._run_now, self._now = world, notices, keep, run, now
        self._talk, self._plan, self._tools = talk, plan, tools
        self._wanted: list[_Wanted] = []
        self._over = False
        self.hear: Callable[[Event], bool] = lambda event: True

    def _estimate(self) -> int:
        """The size of the next prompt: the last one as it was counted, and what is new since; tokens."""
        counted, tokens = self._talk.counted, self._talk.transcript.tokens()
        if counted is not None:
            return max(0, counted[0] + tokens - counted[1])
        return self._world.overhead_tokens + tokens + len(self._note()) // CHARS_A_TOKEN

    async def shorter(self, step: str) -> int:
        """Have a step of condensing done before the next request; the characters freed. 0 where none follows."""
        if self._over:
            return 0
        wanted = _Wanted(step)
        self._wanted.append(wanted)
        await wanted.done.wait()
        return wanted.freed

    def over(self) -> None:
        """No request follows any more."""
        self._over = True
        self._release()

    def _release(self) -> None:
        for wanted in self._wanted:
            wanted.done.set()
        self._wanted.clear()

    def _shortened(self) -> bool:
        """Do what the application asked for, while all that was said is in the journal; whether to ask all the same."""
        go_on, history = True, self._run_now().policy.history
        for wanted in self._wanted:
            if not (history.prune if wanted.step == "pruned" else history.spill):
                continue
            event, wanted.freed = at_once(self._talk.transcript, wanted.step, history, self._now())
            if wanted.freed:
                self._notices.tell(CondensedNotice(0, 0, summarized=False, freed=event.freed, steps=event.steps))
            go_on = (not wanted.freed or self.hear(event)) and go_on
        self._release()
        return go_on

    def _note(self) -> str:
        """The plan as it stands, for the end of the request; an application's own plan is its own matter."""
        return "" if WRITE_TODOS in self._world.tools else plan_note(self._plan.todos)

    async def ask(self, command: Ask) -> tuple[Event, ...]:
        """Ask for one reply. Nothing comes of a request that the run has withdrawn."""
        if command.after:
            await self._world.sleep(command.after)
        if command.final:
            self._talk.conclude(self._run_now().stop)
        elif not self._shortened():
            return ()
        limits = await limits_for(self._world.provider)
        estimate = self._estimate()
        request = self._request(limits, command, estimate)
        if not command.final:
            measured = await self._measured(request, limits, estimate)
            if measured is not None and not self.hear(measured):
                return ()
        answer = await self._answer(request)
        if answer is _WITHDRAWN:
            return ()
        if isinstance(answer, Completion) and is_sound(answer):
            return (await self._replied(answer, request, limits),)
        if isinstance(answer, Refused) and is_sound_refusal(answer):
            return (self._refused(answer, request, limits, estimate),)
        _LOG.error("%s", why := no_reply(answer))
        return (NoReply(self._now(), why),)

    def _request(self, limits: KnownLimits, command: Ask, estimate: int) -> Request:
        wanted = command.reply_tokens or self._world.reply_tokens
        budget = reply_budget(limits, wanted=wanted, prompt=estimate)
        sent = self._talk.transcript.outbound(self._note())
        # A tool that reads on is of use only where something was set aside.
        read_on = (
            (read_result.schema,) if self._talk.transcript.spilled and READ_RESULT not in self._world.tools else ()
        )
        return Request(self._world.system, sent, (*self._world.schemas, *read_on), budget, no_tools=command.final)

    async def condense(self, command: Condense) -> Condensed:
        """Make the history shorter, as far as the policy lets it."""
        run, limits = self._run_now(), limits_now(self._world.provider)
        window, room = self._sizes(limits, command.window)
        account = account_of(run, self._now())
        pinned = "" if not account.turns else "\n".join(told_of(account, lambda text: None))
        one = Shrinking(
            self._talk.transcript,
            window,
            self._estimate(),
            run.policy.history,
            pinned=pinned,
            affords=lambda tokens, usage: affords(run, tokens, usage),
            sleep=self._world.sleep,
        )
        await one.shrink(command, room, self._world.provider.complete)
        event = one.event(self._now(), self._keep)
        if event.steps:
            chars = 0 if event.summary is None else event.summary.chars
            told = CondensedNotice(event.dropped, chars, event.summarised, event.freed, event.steps)
            self._notices.tell(told)
        return event

    def _sizes(self, limits: KnownLimits, named: int | None = None) -> tuple[int, int]:
        """The window that counts, and the room that a prompt has in it beside its reply; tokens."""
        whole = self._run_now().policy.history.window_tokens
        window = min(size for size in (limits.context_window, whole, named) if size is not None)
        wanted = self._run_now().reply_tokens or self._world.reply_tokens
        reply = reply_budget(limits, wanted=wanted, prompt=None)
        return window, window - min(reply, int(KEPT_FOR_REPLY * window))

    async def _measured(self, request: Request, limits: KnownLimits, estimate: int) -> Measured | None:
        """The prompt, where it takes so much of its room that the run has to decide; None for any other."""
        window, room = self._sizes(limits)
        if estimate < COUNTED_FROM * room:
            return None
        provider = self._world.provider
        counted: object = None
        if isinstance(provider, Counting):
            counted = await attempt(lambda: provider.count(request), anyio.CancelScope(deadline=_soon()))
        if isinstance(counted, int) and not isinstance(counted, bool) and counted > 0:
            return Measured(self._now(), counted, room, window, exact=True)
        return Measured(self._now(), estimate, room, window)

    async def _answer(self, request: Request) -> object:
        """What the provider answers, `_WITHDRAWN` where the request was withdrawn meanwhile."""
        provider = self._world.provider
        if not can_look_up(provider):
            return await self._exchange(request)
        answer: object = _WITHDRAWN
        try:
            async with anyio.create_task_group() as group:  # what is known will do until the provider has answered
                group.start_soon(look_up, provider)
                answer = await self._exchange(request)
                group.cancel_scope.cancel()
        except BaseExceptionGroup as error:
            raise first_leaf(error) from None  # as the request alone raises it
        return answer

    async def _exchange(self, request: Request) -> object:
        provider = self._world.provider
        if not (self._world.stream and isinstance(provider, Streaming)):
            return await caught(lambda: provider.complete(request))
        answer: object = _WITHDRAWN
        scope = anyio.CancelScope()
        stream = _Stream(self._notices, lambda piece: self._piece(piece, scope))
        with scope:
            answer = await caught(lambda: provider.stream(request, stream.heard))
        stream.over = True
        return answer

    def _piece(self, piece: tuple[str, str, int, int], scope: anyio.CancelScope) -> None:
        channel, text, laps, period = piece
        if not self.hear(Chunk(self._now(), channel, text_of(text, forget), laps, period)):
            scope.cancel()

    def _refused(self, answer: Refused, request: Request, limits: KnownLimits, estimate: int) -> Refusal:
        """The refusal; a limit that it names is known from now on, of this endpoint and model."""
        if not chain_of(self._world.provider):  # a chain learns of the one that refused
            learn_from(self._world.provider, answer)
        return Refusal(
            self._now(),
            answer.status,
            text_of(answer.body, self._keep),
            answer.after,
            answer.too_long,
            answer.kind,
            answer.limit,
            answer.size,
            request.max_tokens,
            estimate,
            _window(limits),
        )

    async def _replied(self, answer: Completion, request: Request, limits: KnownLimits) -> Reply:
        capped = answer.usage.output >= request.max_tokens and answer.stop not in ENDS_ELSEWHERE
        parts = self._talk.transcript.told_apart(answer.parts)
        written: dict[str, str] = {}
        if self._run_now().policy.calls.names:
            parts, written = renamed(parts, (*self._tools, FINISH))
        answer = answer if parts is answer.parts else evolve(answer, parts=parts)
        told = self._talk.took(answer, lambda part: evolve(self._call_of(part), named=written.get(part.id)))
        made = tuple(call for _, call in self._talk.calls.values())
        whole = not capped and answer.stop not in CUT and all(call.tool and not call.cut for call in made)
        if made and told.text and whole:
            self._notices.tell(TextNotice(told.text))  # words alone are a checkpoint, which is shown, or an ending
        own = self._talk.own
        draft = "" if whole else begun(answer.calls)
        thinking, keep, ask = answer.thinking, self._keep, self._world.facts
        return Reply(
            self._now(),
            answer.stop,
            made,
            text=text_of(told.text, keep) if told.text.strip() else None,
            thinking=text_of(thinking, keep) if thinking else None,
            usage=answer.usage,
            kind=None if told.kind is None else Declared(told.kind),
            facts=None if ask is None or made else await self._facts(ask, answer, told),
            parts=None if told.is_plain(parts) else text_of(parts_written(parts), keep),
            capped=capped,
            draft=text_of(draft, self._keep) if draft.strip() else None,
            added=None if own == told.text else len(own.strip()),
            budget=request.max_tokens,
            most=limits.max_output,
            window=_window(limits),
        )

    def _call_of(self, part: CallPart) -> Call:
        tool = self._tools.get(part.name)
        manifest = UNDECLARED if tool is None else tool.manifest
        return call_of(part.id, part.name, part.args, manifest, problem=problem_of(part.args), keep=self._keep)

    async def _facts(self, ask: FactsOf, answer: Completion, told: Told) -> Facts:
        others = (part for part in answer.parts if not isinstance(part, TextPart))
        as_told = evolve(answer, parts=(TextPart(told.text), *others))
        # A host that gives facts and has none of this answer does not know; that is not the same as giving none.
        return await known("facts", lambda: ask(as_told), is_facts) or Facts()


def _window(limits: KnownLimits) -> int | None:
    """The model's window, where it is more than a guess."""
    return None if limits.window_from is LimitSource.DEFAULT else limits.context_window


class _Stream:
    """A reply while it comes: told as it comes, and handed on in pieces of some length with what they say again."""

    def __init__(self, notices: Notices, piece: Callable[[tuple[str, str, int, int]], None]) -> None:
        self._notices, self._hand_on = notices, piece
        self._held: dict[str, str] = {}
        self._chants: dict[str, Chant] = {}
        self.over = False  # what comes now is of no request any more

    def heard(self, channel: str, text: str) -> None:
        """A piece of any length. Of one that is far too long for a piece only the end is looked at."""
        if self.over:
            return
        self._notices.tell(PieceNotice(text, channel))
        held = self._held.get(channel, "") + text[-MOST_AT_ONCE:]
        whole = len(held) - len(held) % PIECE_CHARS
        for at in range(0, whole, PIECE_CHARS):
            piece = held[at : at + PIECE_CHARS]
            chant = self._chants.setdefault(channel, Chant())
            laps = chant.feed(piece)
            self._hand_on((channel, piece, laps, chant.period))
        self._held[channel] = held[whole:]
