"""The neutral trace as values: one class for each kind of line `t`, fields named as the format names them.

Every importer yields these and nothing else. Times (`at`) are seconds since the run began, never falling, or None
until a first one is known. A field that a recording does not give has its empty value ("", (), None, False), so
that absent and null are one thing; only a result's `value` tells "not seen" from null.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, Literal, TypeAlias, get_args

from attrs import field, frozen

from ..manifest import Tool

FORMAT: Final = "statecraft.trace/1"

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
JsonObject: TypeAlias = "dict[str, Json]"

Stop: TypeAlias = Literal[
    "end_turn",
    "tool_use",
    "length",
    "context_window",
    "pause",
    "refusal",
    "content_filter",
    "malformed_call",
    "stop_sequence",
    "other",
]
ReplyKind: TypeAlias = Literal["checkpoint", "partial", "final", "failure"]
ErrorKind: TypeAlias = Literal["validation", "transient", "permission", "business", "unknown_tool", "timeout", "other"]
PlanStatus: TypeAlias = Literal["pending", "in_progress", "completed"]
Channel: TypeAlias = Literal["text", "thinking"]
Work: TypeAlias = Literal["answer", "build", "edit", "other"]

# What each name may be, by itself: a look-up that gives the type back.
STOPS: Final[Mapping[str, Stop]] = {name: name for name in get_args(Stop)}
REPLY_KINDS: Final[Mapping[str, ReplyKind]] = {name: name for name in get_args(ReplyKind)}
ERROR_KINDS: Final[Mapping[str, ErrorKind]] = {name: name for name in get_args(ErrorKind)}
PLAN_STATUSES: Final[Mapping[str, PlanStatus]] = {name: name for name in get_args(PlanStatus)}
CHANNELS: Final[Mapping[str, Channel]] = {name: name for name in get_args(Channel)}
WORKS: Final[Mapping[str, Work]] = {name: name for name in get_args(Work)}


class Missing(Enum):
    """Stands where a recording holds no value, which is not the same as the value null."""

    UNSEEN = "unseen"


UNSEEN: Final = Missing.UNSEEN


@frozen
class Budget:
    """What a run may spend at most; None sets no limit."""

    turns: int | None = None
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None


@frozen
class Usage:
    """What one reply cost.

    Tokens: `input` counts all that was sent, `cached` the part of it that was read from a cache, `output` what came
    back. Money: `usd` in dollars. None where it is not recorded.
    """

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    usd: float | None = None


@frozen
class Facts:
    """What the host knows about a reply that wants to be an answer; None is unknown. `eligible` is a count."""

    answer_producing: bool | None = None
    attempted: bool | None = None
    eligible: int | None = None
    grounded: bool | None = None
    honest_no_source: bool | None = None
    blockers: bool | int | tuple[str, ...] | None = None
    recovering: bool | None = None


@frozen
class CallSpec:
    """One call of a reply. `args` is JSON text of an object, or, when `raw`, text that did not parse as one."""

    id: str
    tool: str
    args: str = "{}"
    raw: bool = False


@frozen
class ResultError:
    """Why a call failed. `name` is the kind as recorded; `kind` is `other` where that is none of the known ones.

    Made by `result_error`, which keeps the two together.
    """

    kind: ErrorKind
    name: str
    message: str | None = None


def result_error(name: str, message: str | None = None) -> ResultError:
    """The error of the kind that a recording names, a known one or not."""
    return ResultError(ERROR_KINDS.get(name, "other"), name, message)


@frozen
class PlanItem:
    """One item of a plan."""

    content: str
    status: PlanStatus


@frozen
class RunLine:
    """A run begins."""

    id: str
    format: str = FORMAT
    title: str | None = None
    task: str | None = None
    tools: Mapping[str, Tool] = field(factory=dict[str, Tool])
    budget: Budget | None = None
    policy: str | JsonObject | None = None
    agent: str | JsonObject | None = None
    work: Work | None = None
    requires: tuple[str, ...] = ()


@frozen
class UserLine:
    """A person wrote; `synthetic`: a program did, in a person's name."""

    text: str
    synthetic: bool = False
    at: float | None = None


@frozen
class ReplyLine:
    """One reply of the model. `kind` is what the agent declares it to be; `agent` the sub-agent that it is from."""

    stop: Stop
    calls: tuple[CallSpec, ...] = ()
    text: str = ""
    thinking: str = ""
    usage: Usage | None = None
    kind: ReplyKind | None = None
    facts: Facts | None = None
    agent: str | None = None
    at: float | None = None


@frozen
class ResultLine:
    """A tool's answer to the call with the id `call`. `state` is a digest of what was touched, afterwards."""

    call: str
    value: Json | Literal[Missing.UNSEEN] = UNSEEN
    error: ResultError | None = None
    state: str | None = None
    target: str | None = None
    wrote: bool = False
    at: float | None = None


@frozen
class ChunkLine:
    """A piece of a reply that is still streaming, at most 2,048 characters when read."""

    text: str
    channel: Channel = "text"
    at: float | None = None


@frozen
class PlanLine:
    """The whole plan, as it now stands."""

    items: tuple[PlanItem, ...]
    at: float | None = None


@frozen
class GoalLine:
    """The task's own count."""

    done: float
    total: float
    at: float | None = None


@frozen
class RefusalLine:
    """The provider refused the request. `status` is the HTTP status, 0 where no answer came at all."""

    status: int
    body: Json
    headers: Mapping[str, str] = field(factory=dict[str, str])
    at: float | None = None


@frozen
class CondensedLine:
    """The history was condensed. `freed` in tokens; `summarised` as recorded."""

    freed: int
    summarised: bool | int | str | None = None
    at: float | None = None


@frozen
class SignalLine:
    """Something that was waited for arrived."""

    name: str
    value: Json = None
    at: float | None = None


@frozen
class CancelLine:
    """The host cancelled."""

    reason: str | None = None
    at: float | None = None


@frozen
class EndLine:
    """How the recording says that the run ended."""

    status: str
    text: str = ""
    at: float | None = None


Line: TypeAlias = (
    RunLine
    | UserLine
    | ReplyLine
    | ResultLine
    | ChunkLine
    | PlanLine
    | GoalLine
    | RefusalLine
    | CondensedLine
    | SignalLine
    | CancelLine
    | EndLine
)
