"""What a request is refused for: by code, by wording, by status; each wording as a provider has it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machines import _re2
from machines.agent.providers.refusal import error_of, refused
from machines.agent.providers.retries import passing
from machines.events import RefusalKind as Kind
from machines.refusals.believed import LEAST
from machines.refusals.kinds import CODES, STATUSES, VAGUE, Reason, reason_of
from machines.refusals.wordings import WORDINGS, tokens

VLLM = (
    "'max_tokens' is too large: 2000. This model's maximum context length is 4096 tokens and your request has 2104 "
    "input tokens (2000 > 4096 - 2104)."
)
CONFIGURED = (
    "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens. Please reduce "
    "the length of the messages."
)
OPENAI = (
    "This model's maximum context length is 8191 tokens, however you requested 10346 tokens (8000 in your prompt; "
    "2346 for the completion)."
)
OPENROUTER = (
    "This endpoint's maximum context length is 200000 tokens. However, you requested about 264437 tokens (262437 of "
    "text input, 2000 in the output)."
)

SAID: list[tuple[str, Kind, int | None, int | None]] = [
    (
        "max_tokens: 128001 > 64000, which is the maximum allowed number of output tokens for m",
        Kind.REPLY_BUDGET,
        64000,
        None,
    ),
    (
        "max_tokens is too large: 20480. This model supports at most 16384 completion tokens",
        Kind.REPLY_BUDGET,
        16384,
        None,
    ),
    ("max_tokens is too large. This model supports at most 16,384 output tokens", Kind.REPLY_BUDGET, 16384, None),
    ("The maximum tokens you requested exceeds the model limit of 4096. Try again", Kind.REPLY_BUDGET, 4096, None),
    (
        "a maxOutputTokens value of 70000 but the supported range is from 1 (inclusive) to 65537 (exclusive).",
        Kind.REPLY_BUDGET,
        65536,
        None,
    ),
    ("Range of max_tokens should be [1, 8192]", Kind.REPLY_BUDGET, 8192, None),
    ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Kind.REPLY_BUDGET, 8192, None),
    ("`max_tokens` must be less than or equal to `8192`, the maximum value", Kind.REPLY_BUDGET, 8192, None),
    (
        "The parameter `max_completion_tokens` is not valid: integer above maximum value, expected a value <= 12288",
        Kind.REPLY_BUDGET,
        12288,
        None,
    ),
    ("`max_tokens` must be greater than `thinking.budget_tokens`.", Kind.OTHER, None, None),
    ("Unsupported parameter: 'max_tokens' is not supported with this model.", Kind.OTHER, None, None),
    (
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000",
        Kind.TOGETHER_TOO_LONG,
        200000,
        199759,
    ),
    (
        "input length and `max_tokens` exceed context limit: 200001 + 8192 > 200000",
        Kind.PROMPT_TOO_LONG,
        200000,
        200001,
    ),
    (
        VLLM,
        Kind.TOGETHER_TOO_LONG,
        4096,
        2104,
    ),
    (
        OPENAI,
        Kind.TOGETHER_TOO_LONG,
        8191,
        8000,
    ),
    (
        OPENROUTER,
        Kind.PROMPT_TOO_LONG,
        200000,
        262437,
    ),
    (
        "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`",
        Kind.TOGETHER_TOO_LONG,
        4096,
        4000,
    ),
    ("`inputs` tokens + `max_new_tokens` must be <= 4096", Kind.TOGETHER_TOO_LONG, 4096, None),
    ("Input validation error: `max_new_tokens` must be <= 4096", Kind.REPLY_BUDGET, 4096, None),
    (CONFIGURED, Kind.PROMPT_TOO_LONG, 272000, 509178),
    (
        "Prompt has 300,000 tokens, but the configured context size is 131,072 tokens",
        Kind.PROMPT_TOO_LONG,
        131072,
        300000,
    ),
    ("The input is longer than the model's context length", Kind.PROMPT_TOO_LONG, None, None),
    ("prompt is too long: 219898 tokens > 200000 maximum", Kind.PROMPT_TOO_LONG, 200000, 219898),
    ("prompt is too long: 219,898 tokens > 200,000 maximum", Kind.PROMPT_TOO_LONG, 200000, 219898),
    ("Your request exceeded model token limit: 262144 (requested: 275363)", Kind.PROMPT_TOO_LONG, 262144, 275363),
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens.",
        Kind.PROMPT_TOO_LONG,
        128000,
        204308,
    ),
    ("This model's maximum context length is 128,000 tokens.", Kind.PROMPT_TOO_LONG, 128000, None),
    ("the maximum context window of 128k was reached", Kind.PROMPT_TOO_LONG, 128000, None),
    ("the maximum context length is 128 tokens", Kind.PROMPT_TOO_LONG, None, None),
    ("prompt is too long: 300000 characters > 200000 characters", Kind.PROMPT_TOO_LONG, None, None),
    ("prompt is too long: 40 MB > 32 MB", Kind.PROMPT_TOO_LONG, None, None),
    (
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        Kind.PROMPT_TOO_LONG,
        131072,
        537812,
    ),
    (
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        Kind.PROMPT_TOO_LONG,
        1048575,
        1196265,
    ),
    ("input token count is 1200000 but model only supports up to 1048576", Kind.PROMPT_TOO_LONG, 1048576, 1200000),
    ("prompt token count of 150000 exceeds the limit of 128000", Kind.PROMPT_TOO_LONG, 128000, 150000),
    ("request (5000 tokens) exceeds the available context size (4096 tokens)", Kind.PROMPT_TOO_LONG, 4096, 5000),
    (
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        Kind.PROMPT_TOO_LONG,
        32768,
        40000,
    ),
    (
        "too many tokens: size limit exceeded by 25836 tokens. Try fewer. The limit for this model is 288000 tokens.",
        Kind.PROMPT_TOO_LONG,
        288000,
        313836,
    ),
    ("prompt too long; exceeded max context length by 1119046 tokens", Kind.PROMPT_TOO_LONG, None, None),
    ("Input Tokens Exceeded: Number of input tokens exceeds maximum length.", Kind.PROMPT_TOO_LONG, None, None),
    ("Your input exceeds the context window of this model.", Kind.PROMPT_TOO_LONG, None, None),
    ("Please reduce the length of the messages or completion.", Kind.PROMPT_TOO_LONG, None, None),
    ("Limit 10000, Used 6630, Requested 3787. Please try again in 2s", Kind.RATE_LIMIT, 10000, 3787),
    ("Limit 10000, Used 0, Requested 10000.", Kind.RATE_LIMIT, 10000, 10000),
    ("Limit 10000, Used 0, Requested 10001.", Kind.OVER_QUOTA, 10000, 10001),
    (
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31538.",
        Kind.OVER_QUOTA,
        30000,
        31538,
    ),
    ("Request too large for gpt-4o.", Kind.OVER_QUOTA, None, None),
    ("Rate limit reached", Kind.RATE_LIMIT, None, None),
    ("Your credit balance is too low to access the API.", Kind.BILLING, None, None),
    ("You exceeded your current quota, please check your plan and billing details.", Kind.BILLING, None, None),
    ("Incorrect API key provided: sk-. You can find your API key at", Kind.AUTHENTICATION, None, None),
    ("The security token included in the request is expired", Kind.AUTHENTICATION, None, None),
    ("The engine is currently overloaded", Kind.OVERLOADED, None, None),
    ("Failed to call a function. Please adjust your prompt.", Kind.BAD_CALL, None, None),
    ("error parsing tool call: raw='{', err=unexpected end of JSON input", Kind.BAD_CALL, None, None),
    ("`tool_use` ids were found without `tool_result` blocks immediately after: t", Kind.TRANSCRIPT, None, None),
    ("An assistant message with 'tool_calls' must be followed by tool messages", Kind.TRANSCRIPT, None, None),
    ("No tool output found for function call call_1.", Kind.TRANSCRIPT, None, None),
    ("Please ensure that the number of function response parts is equal to", Kind.TRANSCRIPT, None, None),
    ("Function call is missing a thought_signature in functionCall parts.", Kind.TRANSCRIPT, None, None),
    ("messages: text content blocks must be non-empty", Kind.TRANSCRIPT, None, None),
    ("The request body is not valid JSON: no low surrogate in string: line 1", Kind.TRANSCRIPT, None, None),
    ("The model `m` does not exist or you do not have access to it.", Kind.OTHER, None, None),
    ("Error while downloading https://h/800x400.", Kind.OTHER, None, None),
    ("", Kind.OTHER, None, None),
]


@pytest.mark.parametrize(("text", "kind", "limit", "size"), SAID)
@pytest.mark.parametrize("form", ["text", "anthropic", "openai", "wrapped"])
def test_a_wording_says_the_kind_and_its_numbers_in_whatever_form_it_comes(
    text: str, kind: Kind, limit: int | None, size: int | None, form: str
) -> None:
    error = {"type": "invalid_request_error", "message": text}
    bodies = {
        "text": f"400 {text}",
        "anthropic": json.dumps({"type": "error", "error": error}),
        "openai": json.dumps({"error": {**error, "code": None}}),
        "wrapped": json.dumps({"error": {"message": json.dumps(error) + " Received Model Group=m", "code": "400"}}),
    }
    got = reason_of(400, bodies[form])
    assert (got.kind, got.limit, got.size) == (kind, limit, size)


def test_every_wording_of_the_table_is_said_above() -> None:
    """A wording with alternatives is there by one of them."""
    unsaid = {wording.text for wording in WORDINGS}
    for text, *_ in SAID:
        said = (wording.text for wording in WORDINGS if _re2.found(wording.pattern, text.encode()))
        unsaid.discard(next(said, ""))
    assert unsaid == set()


@pytest.mark.parametrize(("code", "kind"), sorted(CODES.items()))
@pytest.mark.parametrize("field", ["code", "type", "status"])
def test_a_code_says_the_kind_wherever_it_stands(code: str, kind: Kind, field: str) -> None:
    assert reason_of(400, json.dumps({"error": {field: code.upper(), "message": "no."}})).kind is kind


@pytest.mark.parametrize(("status", "kind"), sorted({**STATUSES, **VAGUE}.items()))
def test_a_status_says_the_kind_where_nothing_else_does(status: int, kind: Kind) -> None:
    assert reason_of(status, "no.").kind is kind


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # A wording says more of what the code says, but nothing else.
        (400, {"code": "context_length_exceeded", "message": "max_tokens: 9 > 8000, which is"}, Kind.PROMPT_TOO_LONG),
        (429, {"code": "rate_limit_exceeded", "message": "Limit 30000, Requested 31538"}, Kind.OVER_QUOTA),
        (413, {"code": "rate_limit_exceeded", "message": "Limit 30000, Requested 31538"}, Kind.OVER_QUOTA),
        (429, {"Code": "ThrottlingException", "Message": "Too many tokens, please wait."}, Kind.RATE_LIMIT),
        (429, {"code": "insufficient_quota", "message": "Rate limit reached"}, Kind.BILLING),
        (401, {"message": "prompt is too long: 9000 tokens > 8000 maximum"}, Kind.AUTHENTICATION),
        # A vague status says less than a wording.
        (413, {"message": "Rate limit reached"}, Kind.RATE_LIMIT),
        (403, {"message": "insufficient credits"}, Kind.BILLING),
        (503, {"message": "prompt is too long"}, Kind.PROMPT_TOO_LONG),
        (500, {"message": "prompt is too long: 9000 tokens > 8000 maximum"}, Kind.PROMPT_TOO_LONG),
        # Google words a limit of a minute like one of money; the wait tells them apart.
        (429, {"message": "You exceeded your current quota. Please retry in 48.9s."}, Kind.RATE_LIMIT),
        (429, {"message": "You exceeded your current quota."}, Kind.BILLING),
        # What the model said is no word of the provider's.
        (400, {"code": "tool_use_failed", "failed_generation": "prompt is too long"}, Kind.BAD_CALL),
        (400, {"message": "no.", "failed_generation": "prompt is too long"}, Kind.OTHER),
    ],
)
def test_codes_wordings_and_statuses_are_believed_in_this_order(
    status: int, body: Mapping[str, str], kind: Kind
) -> None:
    assert reason_of(status, json.dumps({"error": body})).kind is kind


def test_llama_cpp_names_the_sizes_in_fields() -> None:
    error = {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 5000, "n_ctx": 4096}
    assert reason_of(400, json.dumps({"error": error})) == Reason(Kind.PROMPT_TOO_LONG, 4096, 5000)


@pytest.mark.parametrize(("named", "believed"), [(LEAST - 1, None), (LEAST, LEAST)])
def test_a_limit_that_no_model_has_is_not_believed(named: int, believed: int | None) -> None:
    assert reason_of(400, f"prompt is too long: 300000 tokens > {named} maximum").limit == believed


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("128,000", 128_000),
        ("128.000", 128_000),
        ("1_048_576", 1_048_576),
        ("1'048'576", 1_048_576),
        ("128k", 128_000),
        ("128 K", 128_000),
        ("1.5M", 1_500_000),
        ("1,5", 1),
        ("4096.", 4096),
        ("200000 ", 200_000),
        ("9" * 9, 999_999_999),
        ("9" * 10, None),
        ("1" * 400 + "m", None),
        ("128000 bytes", None),
        ("32MB", None),
        ("", None),
        ("k", None),
    ],
)
def test_numbers_are_read_as_they_are_written(text: str, number: int | None) -> None:
    assert tokens(text) == number


@given(st.integers(0, 999), st.text(max_size=200))
def test_any_answer_has_a_kind(status: int, body: str) -> None:
    assert isinstance(reason_of(status, body).kind, Kind)
    assert isinstance(reason_of(status, json.dumps({"error": {"message": body, "code": body}})).kind, Kind)


@given(st.text(alphabet="0123456789,._' km>[]()", max_size=60))
def test_no_number_breaks_the_reading(text: str) -> None:
    for start in ("prompt is too long: ", "maximum context length is ", "Limit ", "retry in ", "max_tokens: "):
        reason_of(429, start + text)
        reason_of(400, start + text + " tokens > " + text)


@pytest.mark.parametrize(
    "piece", ["prompt is too long: 1", "max_tokens ", "1,", "limit 1, used ", "context length is 1 "]
)
def test_a_long_answer_is_read_in_a_time_that_grows_with_it(piece: str) -> None:
    """Sixteen times as much takes no hundred times as long: with a pattern that goes back it would."""

    def seconds(size: int) -> float:
        body = piece * (size // len(piece))
        took: list[float] = []
        for _ in range(3):
            began = time.process_time()
            reason_of(400, body)
            took.append(time.process_time() - began)
        return min(took)

    assert seconds(48_000) < 100 * max(seconds(3_000), 0.0005)


@pytest.mark.parametrize(("kind", "again"), [(Kind.OVER_QUOTA, False), (Kind.RATE_LIMIT, True)])
def test_a_request_that_alone_is_over_the_quota_is_not_made_again(kind: Kind, again: bool) -> None:
    body = f"Limit 30000, Requested {31538 if kind is Kind.OVER_QUOTA else 3000}"
    got = refused(429, {}, body, error_of(body))
    assert (got.kind, passing(got), passing(got, "true")) == (kind, again, again)
