"""How large a prompt is, exactly, from a provider that can tell: what each wire is asked, and what it answers.

A count is of the request that will be sent: its own body, less what only a reply needs and a count refuses. It costs
nothing. Anthropic, Google and OpenAI's Responses have such counts, and so has llama.cpp on both wires of the others;
OpenAI's Chat Completions has none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import anyio
import attrs

from ...refusals.fields import count, mapping
from ..wire import Request
from .exact import NotJson, read
from .http import Http, NoAnswer

SECONDS: Final = 10.0
"""The time that a count may take; a run that waits longer for a number loses more than the number is worth."""


@attrs.frozen
class Counter:
    """How a wire is asked for the size of a prompt.

    `url` makes the address of a count from that of requests, `body` makes what is sent there from the address of
    requests, the request and the model; `field` is where the number stands in the answer.
    """

    url: Callable[[str], str]
    body: Callable[[str, Request, str], bytes]
    field: str


async def counted(
    http: Http, counter: Counter | None, url: str, headers: Mapping[str, str], request: Request, model: str
) -> int | None:
    """The tokens of a prompt. None where the wire has no counts, the provider gives none, or not within `SECONDS`."""
    if counter is None:
        return None
    try:
        body = counter.body(url, request, model)
    except (ValueError, TypeError):  # the request holds what JSON cannot say, which is told where it is sent
        return None
    given = {"content-type": "application/json", "accept": "application/json", **headers}
    with anyio.move_on_after(SECONDS):
        answer = await http.post(counter.url(url), given, body)
        return None if isinstance(answer, NoAnswer) or answer.status != 200 else count_in(counter, answer.body)
    return None


def count_in(counter: Counter, body: bytes) -> int | None:
    """The number in an answer. Pure."""
    try:
        return count(mapping(read(body)[1]).get(counter.field)) or None
    except NotJson:
        return None
