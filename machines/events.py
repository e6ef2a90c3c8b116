"""Everything that can happen to a run.

An event is a fact with its own time (`at`, seconds since the run began). Texts, arguments and results are not in it:
they lie in the content store under their digests, and the event carries the digest, the size, and whatever was
computed from the text before the event was made (`ledger/observe.py`). So a table reads no text, and a journal can
lose one.

A long file, since it is the whole alphabet of a run, and is read as one.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import attrs

from statecraft import Scalar


@attrs.frozen
class Text:
    """A text kept outside: its digest (SHA-256, hex) and its length in characters."""

    digest: str
    chars: int


class StopReason(StrEnum):
    """Why the provider says that a reply ended."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    CONTEXT_WINDOW = "context_window"
    PAUSE = "pause"
    REFUSAL = "refusal"
    CONTENT_FILTER = "content_filter"
    MALFORMED_CALL = "malformed_call"
    STOP_SEQUENCE = "stop_sequence"
    OTHER = "other"


class RefusalKind(StrEnum):
    """What a refused request is refused for: it decides what may help.

    REPLY_BUDGET: the reply's budget is over the model's limit. TOGETHER_TOO_LONG: prompt and budget do not fit into the
    window, though the prompt alone does. OVER_QUOTA: the request alone is more than the quota of a minute, so that no
    wait helps. BAD_CALL: the model's own call could not be read, which some servers report as a bad request.
    """

    REPLY_BUDGET = "reply_budget"
    PROMPT_TOO_LONG = "prompt_too_long"
    TOGETHER_TOO_LONG = "together_too_long"
    RATE_LIMIT = "rate_limit"
    OVER_QUOTA = "over_quota"
    OVERLOADED = "overloaded"
    BILLING = "billing"
    AUTHENTICATION = "authentication"
    TRANSCRIPT = "transcript"
    BAD_CALL = "bad_call"
    OTHER = "other"


class Declared(StrEnum):
    """What the agent itself declares its message to be."""

    CHECKPOINT = "checkpoint"
    PARTIAL = "partial"
    FINAL = "final"
    FAILURE = "failure"


class ErrorKind(StrEnum):
    """How a call failed, by type and never by the words of a message.

    `outcome_unknown`: it was under way when its process ended, and nobody knows what came of it.
    """

    VALIDATION = "validation"
    TRANSIENT = "transient"
    PERMISSION = "permission"
    BUSINESS = "business"
    UNKNOWN_TOOL = "unknown_tool"
    TIMEOUT = "timeout"
    OUTCOME_UNKNOWN = "outcome_unknown"
    OTHER = "other"


class Awaited(StrEnum):
    """What a held call waits for: a person's answer, a person's consent to the call itself, or a signal."""

    ANSWER = "answer"
    CONSENT = "consent"
    SIGNAL = "signal"


class PollState(StrEnum):
    """What a declared wait's answer says: still waiting, settled, or a value that is in neither set."""

    WAITING = "waiting"
    TERMINAL = "terminal"
    UNRECOGNISED = "unrecognised"


@attrs.frozen
class Facts:
    """What the host knows about an answer; None = not known."""

    answer_producing: bool | None = None
    attempted: bool | None = None
    eligible: int | None = None
    grounded: bool | None = None
    honest_no_source: bool | None = None
    blockers: bool | None = None
    recovering: bool | None = None
    checks_passed: bool | None = None


@attrs.frozen(weakref_slot=False)  # eight bytes that nobody needs, in each of ten thousand runs
class Usage:
    """What one reply cost: tokens, and US dollars where a price is known."""

    input: int = 0
    output: int = 0
    cached: int = 0
    usd: float = 0.0


def together(one: Usage, other: Usage) -> Usage:
    """What two replies cost."""
    return Usage(one.input + other.input, one.output + other.output, one.cached + other.cached, one.usd + other.usd)


@attrs.frozen
class Call:
    """One call: its id, tool, signature (8-byte digest of tool and canonical arguments) and the text of its arguments.

    `parsed` is false where the arguments are not a JSON object; `target` is what the call touches, if its tool says.
    `source` stands for what it cites, `topic` for the words of what it is about (four bytes each) and `figures` for the
    numbers there, where its tool says which arguments these are. `empty`: no argument holds anything. `named`: the name
    as the model wrote it, where the tool was known by it all the same. `cut`: the arguments end in the middle of JSON;
    `problem` says why they are no object.
    """

    id: str
    tool: str
    signature: bytes
    args: Text
    parsed: bool = True
    target: str | None = None
    source: bytes = b""
    topic: bytes = b""
    figures: bytes = b""
    empty: bool = False
    named: str | None = None
    cut: bool = False
    problem: str = ""


@attrs.frozen
class PlanItem:
    """One item of the plan: the digest of its wording, and whether it is `pending`, `in_progress` or `completed`."""

    content: Text
    status: str


@attrs.frozen
class Begin:
    """The run begins."""

    at: float
    task: Text | None = None


@attrs.frozen
class Said:
    """Somebody spoke: a person, or (`synthetic`) a program in a person's name."""

    at: float
    text: Text
    synthetic: bool = False


@attrs.frozen
class Reply:
    """One reply of the model.

    `text` is the whole message so far, where this reply continues one that was cut, and `added` the characters that are
    its own. `draft` is what a declaration that was cut off had begun to say: it is shown, and never more. `parts` is
    the whole of it as the provider wants it back, where that is more than its text and its calls. `capped`: it used up
    its whole budget of tokens, whatever the provider calls that. In tokens, where they are known: `budget` is what it
    was allowed, `most` what its model can be allowed, `window` what prompt and reply have together.
    """

    at: float
    stop: StopReason
    calls: tuple[Call, ...] = ()
    text: Text | None = None
    thinking: Text | None = None
    usage: Usage = Usage()
    kind: Declared | None = None
    facts: Facts | None = None
    agent: str | None = None
    parts: Text | None = None
    capped: bool = False
    added: int | None = None
    draft: Text | None = None
    budget: int | None = None
    most: int | None = None
    window: int | None = None


@attrs.frozen
class Result:
    """A tool's answer to one call: its digest with volatile parts stripped (None = the result was not seen).

    `error` is None on success; `error_class` keeps the word that the tool used. `state` is the digest of what was
    touched, as it stands afterwards; `wrote` says that the dispatch layer saw a write succeed. `failure` stands for the
    normalised outcome of an error, the same however it was brought about; `fruitless`: nothing was found, as declared
    or measured, never by wording. `shown` is what the model reads, where that is not `value` letter by letter.
    """

    at: float
    call: str
    digest: bytes | None = None
    value: Text | None = None
    error: ErrorKind | None = None
    error_class: str | None = None
    state: bytes | None = None
    target: str | None = None
    wrote: bool = False
    poll: PollState | None = None
    poll_value: str | None = None
    failure: bytes | None = None
    fruitless: bool = False
    shown: Text | None = None


@attrs.frozen
class TurnEnded:
    """All calls of the turn are answered, or it is certain that no more answers will come. Made by the supervisor."""

    at: float


@attrs.frozen
class Chunk:
    """A piece of a reply that is still streaming; `channel` is `text` or `thinking`.

    `laps`: how often in a row the end of the stream now says the same, a stretch of `period` characters.
    """

    at: float
    channel: str
    text: Text
    laps: int = 0
    period: int = 0


@attrs.frozen
class PlanChanged:
    """The whole plan as it now stands."""

    at: float
    items: tuple[PlanItem, ...]


@attrs.frozen
class GoalMeasured:
    """The task's own count: so many done of so many."""

    at: float
    done: float
    total: float


@attrs.frozen
class Refusal:
    """The provider refused the request: HTTP status (0: no connection; -1: there can be none), and seconds to wait.

    `after`: how long it asks to wait, where it says so. `too_long` is what the structured part of the answer says about
    size, where it says anything. `kind` is what it is refused for, as far as that can be told; `limit` the most tokens
    that it takes of what was too many, and `size` how many there were, where it says so. What the host knows of the
    request, in tokens: `budget` is the reply's, `estimate` the size of the prompt, `window` the model's.
    """

    at: float
    status: int
    body: Text
    after: float | None = None
    too_long: bool = False
    kind: RefusalKind = RefusalKind.OTHER
    limit: int | None = None
    size: int | None = None
    budget: int | None = None
    estimate: int | None = None
    window: int | None = None


@attrs.frozen
class Measured:
    """A prompt was measured before it was sent, in tokens: it may not fit.

    `room` is the most that it may have beside its reply, `window` what both may have; `exact`: the provider counted.
    """

    at: float
    estimate: int
    room: int
    window: int | None = None
    exact: bool = False


@attrs.frozen
class Condensed:
    """The history was condensed; `freed` tokens.

    `steps` says how, in order: `pruned`, `cleared`, `summarised`, `mechanical`, `spilled`, `dropped`. `summary` stands
    for the `dropped` messages, `kept` tokens of newer ones stayed, `usage` is what it cost to have it written, and
    `refused` what that was refused for. `nothing_left`: nothing can be made shorter any more. `counted`: it was made
    because the run needed it, and somebody saw what it freed; only then can it have been in vain. `window`: the
    tokens of the window that counts, if known.
    """

    at: float
    freed: int
    summarised: bool = False
    steps: tuple[str, ...] = ()
    summary: Text | None = None
    dropped: int = 0
    kept: int = 0
    usage: Usage = Usage()
    refused: tuple[str, ...] = ()
    nothing_left: bool = False
    counted: bool = True
    window: int | None = None


@attrs.frozen
class Awaits:
    """The tool of this call has asked for something outside, which will be the call's answer: it is held until then.

    `name` is what an answer calls it by; `until` is when its own time is over (None: as long as the run may wait).
    """

    at: float
    call: str
    awaited: Awaited
    name: str
    until: float | None = None
    question: Text | None = None
    choices: tuple[str, ...] = ()


@attrs.frozen
class Signal:
    """Something that was waited for arrived from outside: a person's answer, a webhook; or it is withdrawn.

    `answer` is what a rule may look at, `value` the text that came with it, `by` who sent it, `when` the time at which
    it was given, where that is not `at`. `id` makes it one event, however often it is sent. `consents_to` names the
    call that a consent is for, as the question did.
    """

    at: float
    name: str
    value: Text | None = None
    answer: str | None = None
    by: str | None = None
    when: float | None = None
    id: str = ""
    withdrawn: bool = False
    consents_to: str | None = None


@attrs.frozen
class Clock:
    """The time that a run waited for has come."""

    at: float


@attrs.frozen
class Cancel:
    """The host cancels the run."""

    at: float
    reason: str = ""


@attrs.frozen
class NoReply:
    """There will be no reply to the request that is out: the host cannot, or will not, get one."""

    at: float
    why: str


NO_LAST_REPLY: Final = "the policy asks for no last reply"
"""Why none comes to the request of a stop that is never sent."""


@attrs.frozen
class Ended:
    """How a recording says that its run ended. It decides nothing."""

    at: float
    status: str
    text: Text | None = None


Event = (
    Begin
    | Said
    | Reply
    | Result
    | TurnEnded
    | Chunk
    | PlanChanged
    | GoalMeasured
    | Refusal
    | Measured
    | Condensed
    | Awaits
    | Signal
    | Clock
    | Cancel
    | NoReply
    | Ended
)

Values = tuple[tuple[str, Scalar], ...]
"""Named values of a piece of evidence, in the order in which they are shown."""
