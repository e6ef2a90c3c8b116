"""A model behind HTTP: one exchange of a request for a reply, whichever wire it speaks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import anyio
import attrs

from ..wire import Completion, Message, Refused, Request
from .call_ids import told_apart
from .exact import NotJson, read
from .http import Answer, Http, NoAnswer
from .key import Key, data_without_key, without_key
from .refusal import error_in, error_of, refused, request_id
from .retries import Retries, passing, with_retries

SECONDS: Final = 600.0
"""The time that one request may take in all, as the providers' own libraries have it."""


@attrs.frozen
class Wire:
    """How a wire says what `wire.py` says.

    `reply` gets the text of a body and the value in it, and answers None where that is no reply of this wire.
    """

    headers: Callable[[Key | None], Mapping[str, str]]
    body: Callable[[Request, str], bytes]
    reply: Callable[[str, object], Completion | None]


@attrs.frozen(eq=False)
class HttpProvider:
    """A `Provider` over HTTP.

    `seconds` bounds `complete` in all, retries and waits included. `model` is empty where the server has only one.
    """

    name: str
    url: str
    model: str
    wire: Wire = attrs.field(repr=False)
    key: Key | None = attrs.field(default=None, repr=False)
    seconds: float = attrs.field(default=SECONDS, validator=attrs.validators.gt(0))
    retries: Retries = Retries()
    _http: Http = attrs.field(factory=Http, repr=False)

    async def complete(self, request: Request) -> Completion | Refused:
        """Ask for one reply. The refusal of the last attempt is returned, with status 0 where no answer came.

        ValueError and TypeError where the request itself holds what JSON cannot say.
        """
        body = self.wire.body(request, self.model)
        headers = {"content-type": "application/json", "accept": "application/json", **self.wire.headers(self.key)}

        async def once() -> tuple[Completion | Refused, bool]:
            answer = await self._http.post(self.url, headers, body)
            if isinstance(answer, NoAnswer):
                return Refused(0, without_key(answer.why, self.key)), answer.again
            outcome = outcome_of(answer, self.wire, request.messages, self.key)
            if isinstance(outcome, Refused):
                return outcome, passing(outcome, answer.headers.get("x-should-retry"))
            return outcome, False

        with anyio.move_on_after(self.seconds) as scope:
            return await with_retries(once, self.retries, scope.deadline)
        return Refused(0, f"no answer within {self.seconds:g} seconds")

    async def aclose(self) -> None:
        """Give up what is open. A request that is still out gets no answer."""
        await self._http.aclose()


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
    return attrs.evolve(reply, parts=parts, request_id=request_id(answer.headers, key=key))
