"""One stream, event by event, to the reply or the refusal that it comes to. No I/O here."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import attrs

from ....events import RefusalKind
from ....refusals.fields import items, mapping
from ...wire import Completion, Message, Refused
from ..call_ids import told_apart
from ..exact import NotJson, pieces, read, read_text, written
from ..key import Key, data_without_key, secrets_of, without_key
from ..refusal import error_in, refused, request_id
from .gathering import Gathered, Gathering, Streamed

DONE: Final = "[DONE]"
"""How servers on OpenAI's wires say that nothing comes any more; it is no JSON."""

_OK: Final = 200


@attrs.define(eq=False)
class Reading:
    """Reads one stream. `tell` gets each piece that is heard; `began` says whether there was any event."""

    wire: Streamed
    tell: Callable[[str, str], None]
    _gathering: Gathering = attrs.field(
        init=False, default=attrs.Factory(lambda self: self.wire.gathering(), takes_self=True)
    )
    began: bool = attrs.field(default=False, init=False)
    _wrong: tuple[str, Mapping[str, Any] | None] | None = attrs.field(default=None, init=False)

    def take(self, data: str) -> bool:
        """Take the data of an event. Whether it was the last that says anything."""
        if not data.strip():
            return False
        self.began = True
        if data.strip() == DONE:
            self._gathering.ended = True
            return True
        try:
            value = read_text(data)
            error = error_in(value)
            if error is None:
                for channel, piece in self._gathering.take(data, mapping(value)):
                    if piece:
                        self.tell(channel, piece)
                return self._gathering.ended
            self._wrong = _without_reply(data, value, error), error
        except NotJson as bad:
            self._wrong = f"{bad}: {data}", None
        return True

    def take_all(self, body: str) -> bool:
        """Take the events of a list, as Gemini streams them where nobody reads `alt=sse`. Whether it was one."""
        try:
            listed = items(read_text(body))
            for event in pieces(body, (None,)) if listed else ():
                if event is not None and self.take(event):
                    break
        except NotJson:
            return False
        return bool(listed)

    def outcome(
        self,
        headers: Mapping[str, str],
        rest: bytes = b"",
        why: str | None = None,
        messages: Sequence[Message] = (),
        key: Key | None = None,
    ) -> Completion | Refused:
        """What the stream came to, as an answer to `messages`.

        `rest` is the last that came: Gemini says there what went wrong, without making an event of it, and so do
        proxies. `why` says how the stream broke off, None where it ended.
        """
        at_end = rest.decode("utf-8", "replace")
        text, error = self._wrong or (at_end, _error_at_end(at_end))
        if self._wrong is not None or error is not None:
            return refused(_OK, headers, text, error, key)
        if not self._gathering.whole(broke_off=why is not None):
            said = without_key(why or "the stream ended before the reply did", key)
            return Refused(0, said, request_id=request_id(headers, key=key), kind=RefusalKind.OTHER)
        try:
            gathered = gathered_without_key(self._gathering.gathered(), key)
            error = error_in(gathered.value)
            reply = None if error else self.wire.reply(gathered)
            if reply is None:
                body = written({"error": error} if error else {"stream": "no reply in it"}).decode()
                return refused(_OK, headers, body, error, key)
        except NotJson as bad:
            return refused(_OK, headers, str(bad), None, key)
        parts = told_apart(reply.parts, messages)
        return attrs.evolve(reply, parts=parts, request_id=request_id(headers, key=key) or reply.request_id)


def _without_reply(data: str, value: object, error: Mapping[str, Any]) -> str:
    """The text of an error's event, without what it may quote of the reply: that says nothing of what went wrong."""
    return written({"error": error}).decode() if mapping(value).get("choices") else data


def _error_at_end(rest: str) -> Mapping[str, Any] | None:
    try:
        return error_in(read_text(rest))
    except NotJson:
        return None


def gathered_without_key(gathered: Gathered, key: Key | None) -> Gathered:
    """What was gathered without the key: put together again, it is whole, in however many pieces it came."""
    if not secrets_of(key):
        return gathered
    try:
        said = json.dumps([gathered.value, list(gathered.args)]).encode()
    except RecursionError:
        raise NotJson("JSON that is nested too deeply") from None
    value, args = cast("list[Any]", read(data_without_key(said, key))[1])
    return Gathered(value, args)
