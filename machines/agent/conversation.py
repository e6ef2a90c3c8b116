"""What the model and the run have said to each other, as it stands: the same live, and told again from a journal.

The rules: a reply enters as it was received; a call's answer as the model is shown it; the run's own words by the
command that says them. Told again, a command is carried out when the next line shows that its step was over, a request
only when its answer is there: so what is told again ends just where the live one stood when the journal ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

import attrs

from statecraft.journal import JournalError

from ..commands import (
    AnswerCalls,
    Ask,
    Command,
    Condense,
    Discard,
    RunCalls,
    Show,
    Simplify,
    Tell,
    WaitUntil,
    Withdraw,
)
from ..events import (
    Awaits,
    Begin,
    Call,
    Clock,
    Condensed,
    Event,
    NoReply,
    Refusal,
    Reply,
    Result,
    Said,
    Signal,
    StopReason,
    Text,
)
from ..ledger.canonical import loads
from ..outcome import Reason
from ..pending import UNKNOWN, Asked
from ..state import Phase, Run
from ..words import CONTINUED, HOW_TO_FINISH, last_words, words_of
from .finish import NOT_BORNE_OUT, Told, declared
from .joining import joined
from .parts import parts_read
from .planning import WRITE_TODOS, Todo
from .shrinking import told_again
from .transcript import Transcript
from .wire import CallPart, Completion, Part, TextPart

SLOW: Final = (Ask, RunCalls, Condense, WaitUntil)
"""The commands that have an answer of their own; the others are carried out at once."""


_ANSWERS: Final = (Reply, Refusal, NoReply, Result, Awaits, Condensed, Clock, Signal)
"""The events that answer a command."""


class Conversation:
    """The transcript of one run, and its last reply with the calls in it."""

    def __init__(self) -> None:
        self.transcript = Transcript()
        self.told = Told("", None, (), ())
        self.own = ""  # the text of the last reply, without what it continues
        self.calls: dict[str, tuple[CallPart, Call]] = {}
        self.counted: tuple[int, int] | None = None  # the last prompt: as its provider counted it, and as it is here
        self.open_text = self._before = ""  # what the next reply continues, and what the last one did

    def took(self, answer: Completion, made: Callable[[CallPart], Call]) -> Told:
        """The model replied; `made` gives a call as the run knows it. What it continues stands before its text."""
        told = declared(answer)
        self.own = told.text
        self._before, self.open_text = self.open_text, ""
        if self._before:
            told = attrs.evolve(told, text=joined(self._before, told.text))
        self.told = told
        if answer.stop is StopReason.PAUSE and not told.calls:
            self.open_text = told.text
        self.counted = (answer.usage.input, self.transcript.tokens()) if answer.usage.input else None
        self.transcript.reply(told.parts)
        for call, why in told.answered:
            self.transcript.answer(call, why, error=True)
        self.calls = {part.id: (part, made(part)) for part in told.calls}
        return told

    def said(self, command: Tell | Show) -> None:
        """The run speaks to the model: a rule does, or how a run ends is told, or why a declaration did not end it."""
        if isinstance(command, Tell):
            if command.by == CONTINUED:
                self.open_text = self.told.text
            self.transcript.say(words_of(command))
        else:
            self.transcript.say(HOW_TO_FINISH if self.told.kind is None else NOT_BORNE_OUT)

    def heard(self, text: str) -> None:
        """Somebody speaks: what was being said is behind them."""
        self.open_text = ""
        self.transcript.say(text)

    def conclude(self, stop: Reason | None) -> None:
        """The last reply is asked for: it continues nothing."""
        self.heard(last_words(stop))

    def carry_out(self, command: Command) -> None:
        """What a command does to what was said, if it does anything: the same live and told again."""
        match command:
            case AnswerCalls():
                for call in command.calls:
                    self.transcript.answer(call, command.why, error=True)
            case Tell() | Show():
                self.said(command)
            case Discard():
                self.transcript.discard()
                self.open_text = self._before
            case Simplify():
                self.transcript.plainer = True
            case _:
                pass


@attrs.define
class Retold:
    """A conversation that is being told again, line by line; then `asked` and `left` say what was on its way.

    `content` looks a text up. Raises `JournalError` where a text is gone that the model has to be sent again.
    """

    content: Callable[[Text], str | None]
    name: str = ""
    talk: Conversation = attrs.field(factory=Conversation)
    todos: tuple[Todo, ...] = ()
    asked: dict[str, Asked] = attrs.field(factory=dict[str, Asked])
    left: deque[Command] = attrs.field(factory=deque[Command])

    def step(self, seq: int, event: Event, commands: Sequence[Command], run: Run) -> None:
        """A line with its event, and what its step asked for; `run` is the run before it."""
        self._carry_out(event, run)
        self._heard(seq, event, run)
        if any(isinstance(command, Withdraw) for command in commands):
            self.left = deque(command for command in self.left if not isinstance(command, Ask))
        self.left.extend(commands)
        for command in commands:
            if isinstance(command, SLOW):
                self.asked[type(command).__name__] = Asked(command, seq)

    def leg(self) -> None:
        """The next leg: what the last turn asked for is asked no longer, but for the answers to its calls."""
        self.left = deque(command for command in self.left if isinstance(command, AnswerCalls))

    def resumed(self) -> None:
        """The run was taken up: whatever was on its way may have been sent once more since."""
        self.asked = {kind: attrs.evolve(one, sent=one.sent + 1) for kind, one in self.asked.items()}

    def finish(self) -> None:
        """The end of the journal: what its last steps said at once was said."""
        while self.left:
            self._do(self.left.popleft())

    def _carry_out(self, event: Event, run: Run) -> None:
        """What was asked for before this event is done, but for a request that it is not the answer to.

        Only the answer to a command shows that: what else comes, comes between two of them.
        """
        if not isinstance(event, _ANSWERS):
            return
        if isinstance(event, NoReply) and run.at is Phase.CONCLUDING and not run.policy.budget.final_reply:
            return  # it came in the same step as the stop, before anything that this asks for was carried out
        answers = isinstance(event, Reply | Refusal | NoReply)
        for command in tuple(self.left):
            if isinstance(command, Ask):
                if not answers:
                    return  # what was asked for after it waits for its answer
                if command.final:
                    self.talk.conclude(run.stop)
            self.left.remove(command)
            self._do(command)
            if isinstance(command, Ask):
                return

    def _do(self, command: Command) -> None:
        self.talk.carry_out(command)

    def _heard(self, seq: int, event: Event, run: Run) -> None:
        """What the event itself brings into the conversation."""
        match event:
            case Begin() if event.task is not None:
                self.talk.transcript.say(self._text(seq, event.task))
            case Said():
                self.talk.heard(self._text(seq, event.text))
            case Reply():
                known = {call.id: call for call in event.calls}
                answer = Completion(event.stop, self._parts(seq, event), event.usage)
                self.talk.transcript.told_apart(answer.parts)
                self.talk.took(answer, lambda part: known[part.id])
            case Result():
                self._answered(seq, event)
            case Condensed():
                summary = None if event.summary is None else self._text(seq, event.summary)
                told_again(self.talk.transcript, event, summary, run.policy.history)
            case _:
                pass

    def _parts(self, seq: int, event: Reply) -> tuple[Part, ...]:
        if event.parts is not None:
            return parts_read(self._text(seq, event.parts))
        text = () if event.text is None else (TextPart(self._text(seq, event.text)),)
        return (*text, *(CallPart(call.id, call.tool, self._text(seq, call.args)) for call in event.calls))

    def _answered(self, seq: int, event: Result) -> None:
        shown = event.shown or event.value
        content = UNKNOWN if shown is None else self._text(seq, shown)
        self.talk.transcript.answer(event.call, content, error=event.error is not None)
        part, _ = self.talk.calls.get(event.call, (None, None))
        if part is not None and part.name == WRITE_TODOS and event.error is None:
            given = cast("dict[str, Any]", loads(part.args or "{}"))
            self.todos = tuple(given.get("todos") or ())

    def _text(self, seq: int, text: Text) -> str:
        found = self.content(text)
        if found is None:
            raise JournalError(
                f"{self.name}: seq {seq} names a text of {text.chars} characters, {text.digest[:12]}, which is not in "
                f"the content store; a run can be taken up only with all that was said in it"
            )
        return found
