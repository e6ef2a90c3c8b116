"""What goes to a model and comes back, in no provider's words. The providers translate; nothing else knows a wire.

Arguments of a call are the text that was received, never parsed and written again. The HTTP library's types stay inside
the providers: this is all that a provider and a host have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import attrs

from ..events import RefusalKind, StopReason, Usage


@attrs.frozen
class TextPart:
    """Words."""

    text: str


@attrs.frozen
class ThinkingPart:
    """Thinking that the provider wants back as it stands: `raw` is its own block, sent back untouched."""

    text: str
    raw: Mapping[str, Any] | None = None


@attrs.frozen
class CallPart:
    """A call that the model made; `args` is the text of its arguments as received."""

    id: str
    name: str
    args: str


@attrs.frozen
class ResultPart:
    """The answer to a call."""

    call: str
    content: str
    error: bool = False


Part = TextPart | ThinkingPart | CallPart | ResultPart


@attrs.frozen
class Message:
    """One message of the transcript. Results of calls are parts of a user's message."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]


@attrs.frozen
class ToolSchema:
    """What the model is told of a tool: its name, what it does, and the JSON Schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@attrs.frozen
class Request:
    """One request. `max_tokens` is the reply's budget.

    `no_tools`: the model may call none in this reply. The tools stay listed all the same, since a provider refuses a
    history with calls in it otherwise, and since the beginning of the request stays the same for its cache.
    """

    system: str
    messages: Sequence[Message]
    tools: tuple[ToolSchema, ...] = ()
    max_tokens: int = 4_096
    no_tools: bool = False


@attrs.frozen
class Completion:
    """A reply. `parts` is what is kept of it in the transcript, in order; text, thinking and calls stand there too."""

    stop: StopReason
    parts: tuple[Part, ...]
    usage: Usage = Usage()
    request_id: str | None = None

    @property
    def text(self) -> str:
        """All its words."""
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def thinking(self) -> str:
        """All its thinking."""
        return "".join(part.text for part in self.parts if isinstance(part, ThinkingPart))

    @property
    def calls(self) -> tuple[CallPart, ...]:
        """Its calls, in order."""
        return tuple(part for part in self.parts if isinstance(part, CallPart))


@attrs.frozen
class Refused:
    """The provider refused the request.

    `status` is HTTP's (0: no answer came at all), `after` the seconds that it asks to wait, `too_long` what the
    structured part of its answer says about size. `kind` is what it is refused for, `limit` the most that it takes of
    that, and `size` how long the prompt was, both in tokens, where it says so: a limit is the model's for REPLY_BUDGET,
    the window for what is too long, the quota for a rate.
    """

    status: int
    body: str
    after: float | None = None
    too_long: bool = False
    request_id: str | None = None
    kind: RefusalKind = RefusalKind.OTHER
    limit: int | None = None
    size: int | None = None


class Provider(Protocol):
    """A model behind a wire. Safe to use from many tasks at once."""

    @property
    def name(self) -> str:
        """How notices and errors call it, such as `anthropic:NAME`. Never a key."""
        ...

    async def complete(self, request: Request) -> Completion | Refused:
        """Ask for one reply. Raises nothing for what a provider or a network may do; cancellation passes through."""
        ...

    async def aclose(self) -> None:
        """Give up what is open."""
        ...


Heard = Callable[[str, str], None]
"""Is told each piece of a reply while it comes: its channel, `text` or `thinking`, and the piece."""


@runtime_checkable
class Streaming(Protocol):
    """A provider that can tell a reply while it comes."""

    async def stream(self, request: Request, heard: Heard) -> Completion | Refused:
        """As `Provider.complete`, and `heard` is told each piece first. A reply that broke off is a refusal."""
        ...


@runtime_checkable
class Counting(Protocol):
    """A provider that can count a prompt before it is sent."""

    async def count(self, request: Request) -> int | None:
        """The tokens of the prompt, exactly; None where nobody can tell. Raises nothing, as `Provider.complete`."""
        ...
