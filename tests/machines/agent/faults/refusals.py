"""Refusals as the houses word them, and some that no house would send."""

from __future__ import annotations

from random import Random
from typing import Final

from machines.agent.scripted import Received, Refuse
from machines.agent.scripted.server import SIDES

_HTML: Final = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


def _said(received: Received, status: int, message: str, **headers: str) -> Refuse:
    body = SIDES[received.wire].error_of(status, message).decode()
    return Refuse(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


def reply_budget(rng: Random, received: Received) -> Refuse:
    asked = received.request.max_tokens
    limit = rng.choice((500, 1_500, 4_096, max(asked // 2, 1), asked + 1))
    words = (
        f"max_tokens: {asked} > {limit}, which is the maximum allowed number of output tokens for this model",
        f"This model supports at most {limit} completion tokens, whereas you provided {asked}.",
        "max_tokens cannot exceed the limit of this model, which is 8k",
    )
    return _said(received, rng.choice((400, 422)), rng.choice(words))


def prompt_too_long(rng: Random, received: Received) -> Refuse:
    limit = rng.choice((1_000, 4_000, 8_192, 200_000))
    size = limit + rng.choice((-500, 1, 700, 50_000))
    words = (
        f"prompt is too long: {size} tokens > {limit} maximum",
        f"This model's maximum context length is {limit} tokens. However, your messages resulted in {size} tokens.",
        f"The input token count ({size}) exceeds the maximum number of tokens allowed ({limit}).",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        f"request ({size} tokens) exceeds the available context size ({limit} tokens), try increasing it",
    )
    return _said(received, rng.choice((400, 400, 413, 500)), rng.choice(words))


def together_too_long(rng: Random, received: Received) -> Refuse:
    asked = received.request.max_tokens
    limit = rng.choice((2_000, 9_000, asked + 10))
    size = max(limit - rng.choice((10, 1_500, 3_000)), 1)
    return _said(
        received, 400, f"input length and `max_tokens` exceed context limit: {size} + {asked} > {limit}, decrease them"
    )


def short_prompt(rng: Random, received: Received) -> Refuse:
    return _said(received, 400, rng.choice(("prompt is too long", "Input is too long for requested model.")))


def rate_limit(rng: Random, received: Received) -> Refuse:
    after = rng.choice(("0", "3", "0.5", "86400", "soon", "-4", "Wed, 21 Oct 2099 07:28:00 GMT"))
    return _said(received, 429, "This request would exceed your rate limit.", retry_after=after)


def rate_limit_in_prose(rng: Random, received: Received) -> Refuse:
    words = ("Rate limit reached. Please try again in 6m0s.", "Too many requests: retry in 20.5s", "Slow down.")
    return _said(received, 429, rng.choice(words))


def over_quota(rng: Random, received: Received) -> Refuse:
    return _said(
        received, 429, "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000. Reduce it."
    )


def overloaded(rng: Random, received: Received) -> Refuse:
    return _said(received, rng.choice((529, 503, 500)), "Overloaded")


def billing(rng: Random, received: Received) -> Refuse:
    return _said(received, rng.choice((400, 402, 429)), "Your credit balance is too low to access the API.")


def authentication(rng: Random, received: Received) -> Refuse:
    return _said(received, rng.choice((401, 403)), "invalid x-api-key")


def no_such_model(rng: Random, received: Received) -> Refuse:
    return _said(received, 404, "model: no-such-model")


def transcript_rejected(rng: Random, received: Received) -> Refuse:
    words = (
        "messages.3: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    )
    return _said(received, 400, rng.choice(words))


def bad_call(rng: Random, received: Received) -> Refuse:
    return _said(received, 400, "Failed to call a function. Please adjust your prompt.")


def nonsense(rng: Random, received: Received) -> Refuse:
    status = rng.choice((302, 400, 402, 408, 409, 413, 418, 422, 425, 451, 500, 502, 504, 520, 599))
    bodies = (
        _HTML,
        "{}",
        "null",
        "[]",
        "oops",
        '{"error": 7}',
        '{"error": {"message": {}}}',
        '{"error"',
        "\x00\x1b[2J",
    )
    return Refuse(status, rng.choice(bodies))


def nothing_said(rng: Random, received: Received) -> Refuse:
    return Refuse(rng.choice((400, 413, 429, 500, 503)))


REFUSALS: Final = {
    made.__name__: made
    for made in (
        reply_budget,
        prompt_too_long,
        together_too_long,
        short_prompt,
        rate_limit,
        rate_limit_in_prose,
        over_quota,
        overloaded,
        billing,
        authentication,
        no_such_model,
        transcript_rejected,
        bad_call,
        nonsense,
        nothing_said,
    )
}
