"""One run of an agent under way: driven to its end, or to a wait that it is put down at; and taken up again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import time
from typing import Final
from uuid import uuid4

import attrs

from statecraft import Step
from statecraft.journal import JournalError, Store

from ..commands import Ask, Command, WaitUntil, Withdraw
from ..drive import Loop
from ..events import Begin, Cancel, Chunk, Event, Refusal, Signal, Text
from ..held import FOREVER
from ..host import Key
from ..journaled import RunJournal
from ..ledger.observe import Keep, both, text_of
from ..letters import Letter, fitting, letters_to, signal_of
from ..outcome import Outcome, account_lines, message_of
from ..pending import Asked, pending
from ..recent import Recent
from ..standing import Question, question_of
from ..state import ENDINGS, Phase, Run
from ..supervisor import Fed, Moved
from ..verdicts import decided
from .beside import Beside
from .host import AgentHost
from .lease import leased, new_holder
from .notices import (
    AttemptResetNotice,
    EndingNotice,
    Notices,
    StateNotice,
    VerdictNotice,
)
from .result import LastRefusal, RunResult, refused_by
from .taking_up import HOST, TakenUp
from .telling import REPEATING, recovered, repetition, spent
from .world import Place, World

STOPPED: Final = (Phase.CONCLUDING, *ENDINGS)
"""Where a run is stopped, or over."""


@attrs.frozen
class PutDown:
    """A run that waits, in no process: its name, until when (the wall clock; None = no end), and for what.

    `questions` are what is asked of a person, `signals` all that it may go on by. `journal` says where it lies;
    `Agent.resume` takes it up when the time has come, or an answer has.
    """

    run: str
    until: float | None
    questions: tuple[Question, ...]
    journal: str
    signals: tuple[str, ...] = ()


class AgentRun:
    """One run under way. `notices` are those of this run alone."""

    def __init__(
        self,
        task: str,
        run: Run,
        world: World,
        notices: Notices,
        store: Store,
        *,
        taken: TakenUp | None = None,
        clock: Callable[[], float] = time,
        notes: Mapping[str, bytes] | None = None,
    ) -> None:
        self._notes = notes or {}
        self._task, self._world, self._store, self._clock = task, world, store, clock
        self.run, self.notices = run, notices
        self._taken = taken
        self._started = clock() if taken is None else taken.started
        self._beside = Beside(store, new_holder(), self._started, clock)
        self._host: AgentHost | None = None
        self._journal: RunJournal | None = None
        self._loop: Loop | None = None
        self._wait: WaitUntil | None = None
        self._cancel: Cancel | None = None
        self._driven = False
        self._text_of: Callable[[Text], str | None] = lambda text: None
        self._refused: LastRefusal | None = None
        self._refused_last = False
        self._message = ""
        self._summary: tuple[str, ...] = ()

    def cancel(self, reason: str = "") -> None:
        """Cancel from outside: what is under way is given up, and the run ends as cancelled.

        From the run's own event loop only; a tool's worker thread takes `anyio.from_thread.run_sync(under_way.cancel)`.
        """
        if self._host is None:
            self._cancel = Cancel(self.run.spent.now, reason)
        else:
            self._host.post(Cancel(self._host.now(), reason))

    def answer(
        self, answer: str | None = None, *, to: str = "", by: str | None = None, text: str | None = None
    ) -> None:
        """Answer what the run waits for: `to` names it, where it waits for more than one thing.

        From the run's own event loop only. Another process takes `machines.letters`, or `statecraft answer`. Raises
        `BadAnswer` where the answer does not fit what is asked.
        """
        letter = fitting(self.questions, Letter(to, self._clock(), answer, by, text))
        if self._host is None:
            raise RuntimeError(f"run {self.run.id}: is not driven yet; expected an answer while it is, or a letter")
        now = self._host.now()
        signal = signal_of(letter, uuid4().hex, now, self._started, self._keep)
        self._host.post(attrs.evolve(signal, when=now))

    async def prune_tool_results(self) -> int:
        """Have old results of tools cleared before the next request; the characters freed, 0 where none follows.

        Beyond the newest that the policy keeps, and only if that frees as much as it says (`History`); 0 where the
        policy has it switched off. From the run's own event loop only; a tool or a callback that would wait for its own
        run starts a task for it.
        """
        return await self._shorter("pruned")

    async def spill_large_results(self) -> int:
        """As `prune_tool_results`, of all long results, the newest too, which are set aside for `read_result`."""
        return await self._shorter("spilled")

    async def _shorter(self, step: str) -> int:
        if self._host is None or self.run.outcome is not None:
            return 0
        return await self._host.asking.shorter(step)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What the run waits for outside."""
        return tuple(question_of(one, self._started, self._text_of) for one in self.run.turn.held)

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The ids of the last reply's calls that have no answer yet."""
        return () if self._host is None else self._host.transcript.open_calls

    async def result(self) -> RunResult:
        """Drive the run to its ending. Its journal is closed whatever happens. RuntimeError the second time."""
        found = await self._driven_once(None, outlives=False)
        assert isinstance(found, RunResult)
        return found

    async def burst(self, patience: float = 0.0, *, outlives: bool = True) -> RunResult | PutDown:
        """Drive the run until it ends, or would have to wait longer than `patience` seconds: then it is put down.

        `outlives`: where this process is ended from outside, the run is left as it stands, for another one to take it
        up; without it, it ends as cancelled.
        """
        return await self._driven_once(patience, outlives=outlives)

    async def _driven_once(self, patience: float | None, *, outlives: bool) -> RunResult | PutDown:
        if self._driven:
            raise RuntimeError(f"run {self.run.id}: a run is driven once; start another one")
        self._driven = True
        try:
            return await leased(
                self._store,
                self._beside.holder,
                self._clock,
                lambda: self._drive(patience, outlives=outlives),
                self._lost,
            )
        finally:
            self.notices.over()

    def _lost(self) -> None:
        """Somebody else drives the run now: here it is left as it stands."""
        if self._loop is not None:
            self._loop.outlives = True

    def _begin(self) -> RunJournal:
        if self._taken is not None:
            return RunJournal.resume(self._store, self._taken.head)
        journal = RunJournal.begin(self._store, self.run, host=HOST, started=self._started)
        for name, body in self._notes.items():
            self._store.keep(name, body)
        return journal

    def _keep(self, text: Text, content: str) -> None:
        assert self._journal is not None
        self._journal.keep(text, content)

    async def _drive(self, patience: float | None, *, outlives: bool) -> RunResult | PutDown:
        journal = self._journal = self._begin()
        try:
            recent = Recent()
            first = text_of(self._task, journal.keep)
            # A store that keeps no content is the application's choice; what ends the run is shown all the same.
            kept = journal.text_of(first) is not None
            self._text_of = journal.text_of if kept else recent.text_of
            host = self._host = self._made_host(journal.keep if kept else both(recent.keep, journal.keep), patience)
            if self._cancel is not None:
                host.post(self._cancel)
            events, left = self._first(host, journal, first)
            self._note_wait([command for command, _ in left])
            loop = self._loop = Loop(self.run, host, journal, self._watch, left=left, outlives=outlives)
            host.asking.hear = loop.hear
            self._beside.running(self.run, journal.lines)
        except BaseException:
            journal.close(None)
            raise
        if self.run.outcome is None:  # else its process ended between its last step and the journal's last line
            await self._to_rest(loop, events)
        else:
            journal.close(self.run)
            self._beside.over(self.run, self.run.outcome)
            self._store.close()
        if loop.put_down:
            return self._put_down(host, journal, *loop.left[0])
        outcome = self.run.outcome
        if outcome is None:
            raise AssertionError("a run that was driven to its end has an outcome")
        return RunResult(
            self.run.id,
            self._message or self._shown(outcome),
            outcome,
            host.plan.todos,
            journal.name,
            self._summary or tuple(account_lines(outcome, self._text_of)),
            self._last_refusal(outcome),
        )

    async def _to_rest(self, loop: Loop, events: Sequence[Event]) -> None:
        try:
            await loop.drive(*events)
        finally:
            if self._host is not None:
                self._host.asking.over()
            if self.run.outcome is not None:
                self._beside.over(self.run, self.run.outcome)
                self._store.close()
            elif self.run.at is Phase.WAITING and self._wait is not None and not loop.put_down:
                with suppress(JournalError):  # it was broken off in a wait, and still waits
                    self._beside.waits(self.run, self.questions, self._wait.at, self._wait.signals)
                    self._store.close()

    def _made_host(self, keep: Keep, patience: float | None) -> AgentHost:
        taken = self._taken
        # A clock that was put back makes no time run again.
        elapsed = 0.0 if taken is None else max(taken.at, self._clock() - taken.started)
        place = Place(
            self._started,
            elapsed,
            patience,
            letters=self._letters,
            at_rest=self._at_rest,
            waits=self._waits,
            texts=self._text_of,
        )
        host = AgentHost(
            self._world,
            self.notices,
            keep,
            lambda: self.run,
            place=place,
            talk=None if taken is None else taken.retold.talk,
        )
        if taken is not None:
            host.plan.todos = taken.retold.todos
        return host

    def _first(
        self, host: AgentHost, journal: RunJournal, task: Text
    ) -> tuple[tuple[Event, ...], tuple[tuple[Command, Key], ...]]:
        """What a run begins with, or goes on with."""
        taken = self._taken
        if taken is None:
            host.transcript.say(self._task)
            return (Begin(host.now(), task),), ()
        if taken.run.outcome is not None:
            return (), ()
        if taken.run.at is Phase.READY and self._task:  # its process ended between its first two lines
            journal.take_up(self._beside.holder, host.now(), ())
            host.transcript.say(self._task)
            return (Begin(host.now(), task),), ()
        try:
            left = pending(taken.run, taken.retold.asked, host.now())
        except ValueError as error:
            raise JournalError(f"{journal.name}: {error}") from error
        # Of two processes that take the run up, one alone can write this line.
        journal.take_up(self._beside.holder, host.now(), left.in_flight)
        host.unknown(left.events)
        return left.events, left.commands

    def _letters(self, names: Sequence[str], now: float) -> Sequence[Signal]:
        return [
            signal_of(letter, id, now, self._started, self._keep)
            for id, letter in letters_to(self._store.mail(), names)
        ]

    def _at_rest(self, command: Ask, key: Key) -> None:
        assert self._journal is not None
        assert self._host is not None
        self._beside.at_rest(self._journal, self.run, self._host, Asked(command, key.sequence))

    def _waits(self, until: float, names: Sequence[str]) -> None:
        if names:  # a wait for a time alone is nobody else's, unless the run is put down for it
            self._beside.waits(self.run, self.questions, until, names)

    def _put_down(self, host: AgentHost, journal: RunJournal, wait: Command, key: Key) -> PutDown:
        """What is left of a run that waits: its journal, and what stands beside it."""
        assert isinstance(wait, WaitUntil)
        try:
            self._beside.snapshot(journal, self.run, host, Asked(wait, key.sequence))
            self._beside.waits(self.run, self.questions, wait.at, wait.signals)
        finally:
            journal.close(None)
        until = None if wait.at >= FOREVER else self._started + wait.at
        return PutDown(self.run.id, until, self.questions, journal.name, wait.signals)

    def _note_wait(self, commands: Sequence[Command]) -> None:
        self._wait = next((one for one in commands if isinstance(one, WaitUntil)), self._wait)

    def _watch(self, event: Event, fed: Fed) -> None:
        """Each step as notices; a letter that was taken is in the journal now, and leaves the mail."""
        before, self.run = self.run, fed.run
        self._note_wait(fed.commands)
        self._beside.stepped(event, fed.run)
        if isinstance(event, Signal) and event.id:
            self._store.unpost(event.id)
        for move in fed.moves:
            if not isinstance(move, Moved):
                continue
            if isinstance(move.event, Refusal):
                self._refused = refused_by(move.event.status, self._text_of(move.event.body) or "")
            if isinstance(move.answer, Step) and move.answer.target in STOPPED and move.answer.source not in STOPPED:
                self._refused_last = isinstance(move.event, Refusal)  # the run was stopped by it, or ended
            run = move.answer.run if isinstance(move.answer, Step) else fed.run
            for found in decided(move):
                self.notices.tell(VerdictNotice(run.turn.number, found.verdict, found.by, found.evidence))
                if found.by in REPEATING:
                    self.notices.tell(repetition(found.evidence))
            if isinstance(move.event, Chunk) and Withdraw() in fed.commands:
                self.notices.tell(AttemptResetNotice("withdrawn"))
            for notice in recovered(move, self._refused):
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
        if self._refused is None or not (self._refused_last or outcome.reason.by in ("refused", "context_overflow")):
            return None
        sizes = dict(outcome.reason.values)
        tokens, window = sizes.get("estimated"), sizes.get("window")
        if outcome.reason.by == "context_overflow" and isinstance(tokens, int):
            return self._refused.with_sizes(tokens, window if isinstance(window, int) else None)
        return self._refused
