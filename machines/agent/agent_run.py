"""One run of an agent under way: driven to its end, or to a wait that it is put down at; and taken up again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import time
from typing import Final
from uuid import uuid4

import attrs

from statecraft import Scalar, Step
from statecraft.journal import JournalError, MemoryStore, Store

from ..commands import Ask, Command, WaitUntil
from ..drive import Loop
from ..events import Begin, Cancel, Event, Refusal, Signal, Text
from ..held import FOREVER
from ..host import Key
from ..journaled import RunJournal
from ..ledger.observe import Keep, both, text_of
from ..letters import (
    ENDED,
    RUNNING,
    STANDING,
    WAITING,
    Letter,
    Question,
    Standing,
    fitting,
    question_of,
    signals_in,
    stand,
)
from ..outcome import Outcome, account_lines, message_of
from ..pending import Asked, pending
from ..recent import Recent
from ..run import RUN
from ..state import RECOVERIES, SIZES, Phase, Purse, Run
from ..supervisor import Fed, Moved
from ..verdicts import decided
from .host import CHARS_A_TOKEN, AgentHost, Place, World
from .lease import leased, new_holder
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
from .result import LastRefusal, RunResult, refused_by
from .snapshot import SNAPSHOT, Snapshot, keep_snapshot
from .taking_up import HOST, TakenUp
from .wire import CallPart, Message, ResultPart, TextPart, ThinkingPart

GIVEN_UP: Final = (Purse.EMPTY, Purse.REFUSED)
"""Recoveries that ask again for the same reply: what came of the one before is not kept."""

REPEATING: Final = ("consecutive_duplicate", "cycle", "spread_duplicate")
"""Detectors whose evidence is a repetition of calls."""

SNAPSHOT_LINES: Final = 750
"""Lines after which another snapshot is kept. At most so many are replayed when a run is taken up: 0.1 s."""


@attrs.frozen
class PutDown:
    """A run that waits, in no process: its name, until when (the wall clock; None = no end), and for what.

    `journal` says where it lies; `Agent.resume` takes it up when the time has come, or an answer has.
    """

    run: str
    until: float | None
    questions: tuple[Question, ...]
    journal: str


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
    ) -> None:
        self._task, self._world, self._store, self._clock = task, world, store, clock
        self.run, self.notices = run, notices
        self._taken = taken
        self._holder = new_holder()
        self._host: AgentHost | None = None
        self._journal: RunJournal | None = None
        self._started = clock() if taken is None else taken.started
        self._shot = 0
        self._stands_waiting = False
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
        assert self._host is not None  # else nothing is asked
        value = None if text is None else text_of(text, self._keep)
        self._host.post(Signal(self._host.now(), letter.name, value, letter.answer, by, id=uuid4().hex))

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
                self._store, self._holder, self._clock, lambda: self._drive(patience, outlives=outlives)
            )
        finally:
            self.notices.over()

    def _begin(self) -> RunJournal:
        if self._taken is not None:
            return RunJournal.resume(self._store)
        return RunJournal.begin(self._store, self.run, host=HOST, started=self._started)

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
            loop = Loop(self.run, host, journal, self._watch, left=left, outlives=outlives)
            if self._store.kept(STANDING) is not None:
                self._stand(RUNNING)
        except BaseException:
            journal.close(None)
            raise
        await loop.drive(*events)
        if loop.put_down:
            return self._put_down(journal, *loop.left[0])
        outcome = self.run.outcome
        if outcome is None:
            raise AssertionError("a run that was driven to its end has an outcome")
        self._over(outcome)
        return RunResult(
            self.run.id,
            self._message,
            outcome,
            host.plan.todos,
            journal.name,
            self._summary,
            self._last_refusal(outcome),
        )

    def _made_host(self, keep: Keep, patience: float | None) -> AgentHost:
        taken = self._taken
        # A clock that was put back makes no time run again.
        elapsed = 0.0 if taken is None else max(taken.run.spent.now, self._clock() - taken.started)
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
        if taken.run.at is Phase.READY and self._task:  # its process ended between its first two lines
            journal.take_up(self._holder, host.now(), ())
            host.transcript.say(self._task)
            return (Begin(host.now(), task),), ()
        try:
            left = pending(taken.run, taken.retold.asked, host.now())
        except ValueError as error:
            raise JournalError(f"{journal.name}: {error}") from error
        # Of two processes that take the run up, one alone can write this line.
        journal.take_up(self._holder, host.now(), left.in_flight)
        self._shot = journal.lines
        host.unknown(left.events)
        return left.events, left.commands

    def _letters(self, names: Sequence[str], now: float) -> Sequence[Signal]:
        return signals_in(self._store.mail(), names, now, self._started, self._keep)

    def _at_rest(self, command: Ask, key: Key) -> None:
        """Now and then keep a snapshot, so that taking the run up stays short."""
        assert self._journal is not None
        if self._journal.lines - self._shot >= SNAPSHOT_LINES and not isinstance(self._store, MemoryStore):
            self._keep_snapshot(Asked(command, key.sequence))

    def _keep_snapshot(self, asked: Asked) -> None:
        assert self._journal is not None
        assert self._host is not None
        journal, host = self._journal, self._host
        self._shot = journal.lines
        taken = Snapshot(journal.lines - 1, journal.head, self.run, host.talk, host.plan.todos, asked.command, asked)
        keep_snapshot(self._store, taken)

    def _waits(self, until: float, names: Sequence[str]) -> None:
        if names:
            self._stand(WAITING, self._started + until if until < FOREVER else None, names)
            self._stands_waiting = True

    def _over(self, outcome: Outcome) -> None:
        """What stands beside a journal that is closed: how the run ended, and no snapshot any longer."""
        if self._store.kept(STANDING) is not None:
            self._stand(ENDED, status=outcome.status.value)
        if self._shot:
            self._store.keep(SNAPSHOT, None)
        self._store.close()

    def _stand(
        self, state: str, until: float | None = None, names: Sequence[str] = (), status: str | None = None
    ) -> None:
        """Say, beside the journal, how the run stands."""
        questions = self.questions if names else ()
        at = self._clock()
        stand(self._store, Standing(self.run.id, state, at, until, questions, tuple(names), self._holder, status))

    def _put_down(self, journal: RunJournal, wait: Command, key: Key) -> PutDown:
        """What is left of a run that waits: its journal, and what stands beside it."""
        assert isinstance(wait, WaitUntil)
        until = None if wait.at >= FOREVER else self._started + wait.at
        self._keep_snapshot(Asked(wait, key.sequence))
        self._stand(WAITING, until, wait.signals)
        self._store.close()
        return PutDown(self.run.id, until, self.questions, journal.name)

    def _watch(self, event: Event, fed: Fed) -> None:
        """Each step as notices; a letter that was taken is in the journal now, and leaves the mail."""
        before, self.run = self.run, fed.run
        if self._stands_waiting and fed.run.at is not Phase.WAITING and fed.run.outcome is None:
            # Whoever looks for runs of dead processes would leave it alone until a time that is far off.
            self._stand(RUNNING)
            self._stands_waiting = False
        if isinstance(event, Signal) and event.id:
            self._store.unpost(event.id)
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
