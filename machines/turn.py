"""One turn so far: a reply with the results of all its calls, as far as they have come."""

from __future__ import annotations

import attrs

from .events import Call, ErrorKind, Result
from .held import Held
from .ledger.work import digest8
from .wait import OneWait


@attrs.frozen
class Answer:
    """One answer that is judged: of which call, what it came to, and what it brought.

    `call` is the call's signature, `outcome` stands for call and result. `seen`: its result was. `new`: it was not
    among its tool's last ones. `idle`: of a scratch tool or a thought, which bring nothing. `wordless`: a command
    not run before that succeeded without a word. `failure` is the normalised outcome of an error. `fruitless`: nothing
    was found. `empty`: the call's arguments hold nothing. `topic` and `figures` say what the call is about: digests of
    its words, and one of its numbers.
    """

    tool: str
    call: bytes
    outcome: bytes
    error: ErrorKind | None = None
    seen: bool = True
    new: bool = False
    idle: bool = False
    sourced: bool = False
    wordless: bool = False
    fruitless: bool = False
    empty: bool = False
    failure: bytes = b""
    topic: bytes = b""
    figures: bytes = b""

    @property
    def ok(self) -> bool:
        """It succeeded, was seen, and may have brought something."""
        return self.error is None and self.seen and not self.idle

    @property
    def barren(self) -> bool:
        """It failed, or nobody saw what it brought."""
        return self.error is not None or not self.seen


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Turn:
    """One turn so far. `open`: calls not answered; `answers`: those that are, polls inside a declared wait excepted.

    `signal`: what fired last ("" = nothing new yet). `strong`: a signal that clears every streak fired (state, plan,
    goal). `grew`: the set of distinct work did, or may have. `moved`: the world changed. `polls` counts the looks at
    a declared wait that goes on; `waits_over` are those that ended in this turn as nobody hoped, the most urgent first.
    `held`: calls that wait for something outside; the turn goes on until they are answered. `came`: the answers that
    have come, for calls that are open again.
    """

    number: int = 0
    open: tuple[Call, ...] = ()
    answers: tuple[Answer, ...] = ()
    signal: str = ""
    strong: bool = False
    grew: bool = False
    polls: int = 0
    moved: bool = False
    waits_over: tuple[OneWait, ...] = ()
    held: tuple[Held, ...] = ()
    came: tuple[Held, ...] = ()

    @property
    def judged(self) -> tuple[Answer, ...]:
        """What its calls came to; one without an answer is as one whose answer was not seen."""
        return (*self.answers, *map(unanswered, self.open)) if self.open else self.answers


def asked_by(calls: tuple[Call, ...], event: Result) -> Call | None:
    """The one of these calls that this is the answer to."""
    return next((call for call in calls if call.id == event.call), None)


def unanswered(call: Call) -> Answer:
    """A call whose answer never came."""
    outcome = outcome_of(call.signature, b"", "")
    return Answer(
        call.tool,
        call.signature,
        outcome,
        seen=False,
        empty=call.empty,
        topic=call.topic,
        figures=call.figures,
    )


def unrun(call: Call) -> Answer:
    """A call that was answered without being run: its arguments were no object, or there were too many of them."""
    return refused(call, ErrorKind.OTHER if call.parsed else ErrorKind.VALIDATION)


def refused(call: Call, error: ErrorKind) -> Answer:
    """A call that was answered without being run, and how that counts."""
    return Answer(call.tool, call.signature, digest8(call.signature, b"not run"), error=error)


def outcome_of(signature: bytes, digest: bytes, error: str) -> bytes:
    """Eight bytes that stand for a call and what it came to."""
    return digest8(signature, digest, error.encode())
