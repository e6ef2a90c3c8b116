"""A model behind HTTP: one exchange of a request for a reply, whichever wire it speaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import anyio
import attrs

from ..limits import ModelLimits
from ..wire import Completion, Heard, Message, Refused, Request
from .call_ids import told_apart
from .counted import Counter, counted
from .event_stream import Stream, events_in, last_block, looks_streamed
from .exact import NotJson, read
from .http import Answer, Http, NoAnswer
from .key import Key, data_without_key, hide_in_logs, without_key
from .looked_up import Lookup, looked_up
from .prices import Cost
from .refusal import error_in, error_of, refused, request_id
from .retries import Retries, passing, with_retries
from .streamed.gathering import Streamed
from .streamed.reading import Reading
from .streamed.telling import Telling

SECONDS: Final = 600.0
"""The time that one request may take in all, as the providers' own libraries have it."""

IDLE: Final = 120.0
"""Seconds without a byte after which a stream is taken for dead. Some models think that long before a first word."""

NEVER: Final = -1
"""Stands for HTTP's status where no answer came, and asking again would bring none. With 0 it might."""

SOON: Final = 1.0
"""Seconds after which a server that may be starting is asked again: to wait longer each time helps nobody there."""


@attrs.frozen
class Wire:
    """How a wire says what `wire.py` says.

    `reply` gets the text of a body and the value in it, and answers None where that is no reply of this wire.
    `lookup` says how to ask what a model takes, `counter` how large a prompt is; None where the wire cannot tell.
    """

    headers: Callable[[Key | None], Mapping[str, str]]
    body: Callable[[Request, str], bytes]
    reply: Callable[[str, object], Completion | None]
    streamed: Streamed
    lookup: Lookup | None = None
    counter: Counter | None = None


@attrs.frozen(eq=False)
class HttpProvider:
    """A `Provider` over HTTP.

    `seconds` bounds one request in all, retries and waits included, and `idle_seconds` how long nothing at all may come
    of a stream. `model` is empty where the server has only one.
    `cost` tells what a reply costs in US dollars; without one, no money is counted.
    """

    name: str
    url: str
    model: str
    wire: Wire = attrs.field(repr=False)
    key: Key | None = attrs.field(default=None, repr=False)
    seconds: float = attrs.field(default=SECONDS, validator=attrs.validators.gt(0))
    retries: Retries = Retries()
    cost: Cost | None = attrs.field(default=None, repr=False)
    idle_seconds: float = attrs.field(default=IDLE, validator=attrs.validators.gt(0))
    _http: Http = attrs.field(factory=Http, repr=False)

    def __attrs_post_init__(self) -> None:
        if self.key is not None:
            hide_in_logs(self.key)

    async def complete(self, request: Request) -> Completion | Refused:
        """Ask for one reply. The refusal of the last attempt is returned, with status 0 where no answer came.

        An address at which nothing has ever answered is given up at once (`NEVER`), unless a server may be starting.
        ValueError and TypeError where the request itself holds what JSON cannot say.
        """
        body = self.wire.body(request, self.model)
        headers = {"content-type": "application/json", "accept": "application/json", **self.wire.headers(self.key)}

        async def once() -> tuple[Completion | Refused, bool]:
            answer = await self._http.post(self.url, headers, body)
            if isinstance(answer, NoAnswer):
                return self._unanswered(answer)
            outcome = outcome_of(answer, self.wire, request.messages, self.key)
            if isinstance(outcome, Refused):
                return outcome, passing(outcome, answer.headers.get("x-should-retry"))
            return self._paid(outcome), False

        with anyio.move_on_after(self.seconds) as scope:
            return await with_retries(once, self.retries, scope.deadline)
        return Refused(0, f"no answer within {self.seconds:g} seconds")

    async def stream(self, request: Request, heard: Heard) -> Completion | Refused:
        """Ask for one reply and tell it while it comes, otherwise as `complete`. What came whole is told whole.

        It is asked again only while nothing has been told.
        """
        streamed = self.wire.streamed
        url, body = streamed.url(self.url), streamed.body(self.wire.body(request, self.model))
        headers = {"content-type": "application/json", "accept": "text/event-stream", **self.wire.headers(self.key)}
        telling = Telling(heard, self.key)

        async def once() -> tuple[Completion | Refused, bool]:
            reading = Reading(streamed, telling.tell)
            answer = await self._http.stream(url, headers, body, self.idle_seconds, reading.take)
            outcome, again = self._streamed(answer, reading, request.messages)
            if isinstance(outcome, Refused):
                telling.drop()
                return outcome, again and not telling.heard
            if reading.began:
                telling.end()
            else:
                telling.tell_whole(outcome)
            return self._paid(outcome), False

        with anyio.move_on_after(self.seconds) as scope:
            return await with_retries(once, self.retries, scope.deadline)
        return Refused(0, f"no answer within {self.seconds:g} seconds")

    def _streamed(
        self, answer: Answer | Stream | NoAnswer, reading: Reading, messages: Sequence[Message]
    ) -> tuple[Completion | Refused, bool]:
        """What a stream came to, and whether to ask again where it is refused."""
        if isinstance(answer, NoAnswer):
            return self._unanswered(answer)
        if isinstance(answer, Stream):
            outcome = reading.outcome(answer.headers, answer.rest, answer.why, messages, self.key)
            if not answer.again and isinstance(outcome, Refused):
                outcome = attrs.evolve(outcome, status=NEVER)
        elif 200 <= answer.status < 300 and _take_late(answer.body, reading):
            outcome = reading.outcome(answer.headers, last_block(answer.body), None, messages, self.key)
        else:
            outcome = outcome_of(answer, self.wire, messages, self.key)
        return outcome, isinstance(outcome, Refused) and passing(outcome, answer.headers.get("x-should-retry"))

    def _unanswered(self, answer: NoAnswer) -> tuple[Refused, bool]:
        """The refusal, and whether to ask again here. The run asks again too, for a while, where the status is 0."""
        why = without_key(answer.why, self.key)
        if not answer.again:
            return Refused(NEVER, why), False
        if answer.connected or self._http.reached:
            return Refused(0, why), True
        return (Refused(0, why, after=SOON) if answer.soon else Refused(NEVER, why)), False

    def _paid(self, reply: Completion) -> Completion:
        usd = None if self.cost is None else self.cost(reply.usage)
        return reply if usd is None else attrs.evolve(reply, usage=attrs.evolve(reply.usage, usd=usd))

    async def aclose(self) -> None:
        """Give up what is open. A request that is still out gets no answer."""
        await self._http.aclose()

    async def model_limits(self, model: str) -> ModelLimits | None:
        """What the provider says that its model takes, in tokens; None where it says nothing. Raises nothing."""
        named = "" if model == self.name else model  # as it is asked for where it has only one, and no name
        return await looked_up(self._http, self.wire.lookup, self.url, named, self.wire.headers(self.key))

    async def count(self, request: Request) -> int | None:
        """The tokens of the prompt, as the provider counts them; None where it does not. Asked once, raises nothing."""
        headers = self.wire.headers(self.key)
        return await counted(self._http, self.wire.counter, self.url, headers, request, self.model)


def _take_late(body: bytes, reading: Reading) -> bool:
    """Whether a body that was read whole is a stream after all, which is then read."""
    if looks_streamed(body):
        any(reading.take(data) for data in events_in(body))
        return True
    return body.lstrip().startswith(b"[") and reading.take_all(body.decode("utf-8", "replace"))


def outcome_of(
    answer: Answer, wire: Wire, messages: Sequence[Message] = (), key: Key | None = None
) -> Completion | Refused:
    """What an answer to a request with these messages comes to. Pure."""
    data = answer.body
    if not 200 <= answer.status < 300:
        text = data.decode("utf-8", "replace")
        return refused(answer.status, answer.headers, text, error_of(text), key)
    data = data_without_key(data, key)
    try:
        text, value = read(data)
        error = error_in(value)
        reply = None if error else wire.reply(text, value)
    except NotJson as bad:
        return refused(answer.status, answer.headers, f"{bad}: {data.decode('utf-8', 'replace')}", None, key)
    if reply is None:
        return refused(answer.status, answer.headers, text, error, key)
    parts = told_apart(reply.parts, messages)
    return attrs.evolve(reply, parts=parts, request_id=request_id(answer.headers, key=key) or reply.request_id)
