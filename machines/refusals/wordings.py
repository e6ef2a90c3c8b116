"""How providers word a refusal, as a table in the order in which it is tried: the first wording that is found holds.

Each is in the words of a recorded or quoted answer. `#` stands for a number, in the order of `numbers`: the size of the
prompt, the limit, the budget of the reply, `above` for the first number over a limit, `over` for what is too much.
Matching is linear in the text, whatever it holds.
"""

from __future__ import annotations

from typing import Final

import attrs

from .. import _re2
from ..events import RefusalKind

_NUMBER: Final = r"([0-9](?:[0-9,._']*[0-9])?(?: ?[km]\b)?(?: ?(?:characters?|chars?|bytes?|kb|mb|kib|mib)\b)?)"


@attrs.frozen
class Wording:
    """One wording and what it means."""

    kind: RefusalKind
    text: str
    numbers: tuple[str, ...] = ()
    pattern: _re2.Pattern = attrs.field(
        init=False,
        repr=False,
        eq=False,
        default=attrs.Factory(lambda self: _re2.pattern("(?s)" + self.text.replace("#", _NUMBER)), takes_self=True),
    )


_TOGETHER: Final = RefusalKind.TOGETHER_TOO_LONG
_BUDGET: Final = RefusalKind.REPLY_BUDGET
_PROMPT: Final = RefusalKind.PROMPT_TOO_LONG
_RATE: Final = RefusalKind.RATE_LIMIT
_CALL: Final = RefusalKind.BAD_CALL
_TRANSCRIPT: Final = RefusalKind.TRANSCRIPT

WORDINGS: Final = (
    # Anthropic; OpenRouter and OpenAI; vLLM; Text Generation Inference. With the parts of the sum where they are named.
    Wording(_TOGETHER, r"max_tokens.{0,3} exceed context limit: # \+ # > #", ("size", "reply", "limit")),
    Wording(
        _TOGETHER,
        r"(?:context|maximum) length is # tokens.{0,20}requested (?:about )?# tokens \(# [^)]{0,20}?"
        r"(?:input|prompt|messages)[^)]{0,60}?# (?:in|for|of) the (?:output|completion)",
        ("limit", "sum", "size", "reply"),
    ),
    Wording(_TOGETHER, r"context length is # tokens and your request has # input tokens", ("limit", "size")),
    Wording(
        _TOGETHER,
        r"inputs.{0,3} tokens \+ .{0,3}max_new_tokens.{0,3} must be <= #"
        r"(?:\. given: # .{0,3}inputs.{0,3} tokens and #)?",
        ("limit", "size", "reply"),
    ),
    # Anthropic; OpenAI; Bedrock; Gemini; Alibaba and DeepSeek; ByteDance, Groq and others.
    Wording(_BUDGET, r"max_tokens: # > #, which is the maximum allowed number of output tokens", ("reply", "limit")),
    Wording(_BUDGET, r"supports at most # (?:completion|output) tokens", ("limit",)),
    Wording(_BUDGET, r"maximum tokens you requested exceeds the model limit of #", ("limit",)),
    Wording(
        _BUDGET,
        r"max_?output_?tokens value of # but the supported range is from # \(inclusive\) to # \(exclusive\)",
        ("reply", "least", "above"),
    ),
    Wording(_BUDGET, r"range of max_tokens (?:should be|is) \[ ?#[, ]+#\]", ("least", "limit")),
    Wording(
        _BUDGET,
        r"max_(?:completion_|output_|new_)?tokens[^.]{0,120}?(?:expected a value <=|must be (?:<=|less than or equal "
        r"to|at most)|cannot exceed|should not exceed|exceeds the (?:maximum|limit) of)[^0-9]{0,20}#",
        ("limit",),
    ),
    # Anthropic; Moonshot; xAI; Gemini, two; Copilot; llama.cpp; Mistral; Cohere.
    Wording(_PROMPT, r"prompt is too long: # (?:tokens )?> #", ("size", "limit")),
    Wording(_PROMPT, r"exceeded model token limit: # \(requested: #", ("limit", "size")),
    Wording(_PROMPT, r"maximum prompt length is # .{0,20}request contains # tokens", ("limit", "size")),
    Wording(
        _PROMPT,
        r"input token count \(?#\)? exceeds the maximum number of tokens allowed \(?#",
        ("size", "limit"),
    ),
    Wording(_PROMPT, r"input token count is # but (?:the )?model only supports up to #", ("size", "limit")),
    Wording(_PROMPT, r"token count of # exceeds the limit of #", ("size", "limit")),
    Wording(_PROMPT, r"request \(# tokens\) exceeds the available context size \(#", ("size", "limit")),
    Wording(_PROMPT, r"prompt contains # tokens.{0,60}too large for model with # maximum", ("size", "limit")),
    Wording(_PROMPT, r"exceeded by # tokens.{0,80}limit for this model is # tokens", ("over", "limit")),
    Wording(_PROMPT, r"(?:configured limit of|context length is only) # tokens.{0,40}resulted in #", ("limit", "size")),
    Wording(_PROMPT, r"prompt has # tokens?, but the configured context size is #", ("size", "limit")),
    # OpenAI and OpenRouter, with the whole or the prompt alone; what Bedrock, Ollama, LM Studio and others say of it.
    Wording(
        _PROMPT,
        r"(?:context|maximum) length is # tokens.{0,40}(?:resulted in|requested(?: about)?) # tokens",
        ("limit", "size"),
    ),
    Wording(_PROMPT, r"maximum context (?:length|window) (?:is|of) #", ("limit",)),
    Wording(
        _PROMPT,
        r"(?:prompt|input) (?:is )?too long|reduce the length of (?:the|your) (?:messages|prompt|input)|"
        r"longer than the model's context length|input tokens? exceed|too many (?:input )?tokens|"
        r"number of input tokens exceeds|"
        r"(?:exceed(?:s|ed)?|greater than|over|beyond) (?:the |this )?(?:model'?s? )?(?:available |maximum |max )?"
        r"context (?:window|length|size|limit)|context (?:window|length|size|limit) (?:was |is |has been )?exceed",
    ),
    # OpenAI and Groq name what a request asks for beside the limit of a minute.
    Wording(_RATE, r"limit:? #, used:? #, requested:? #", ("limit", "used", "size")),
    Wording(_RATE, r"limit:? #, requested:? #", ("limit", "size")),
    Wording(RefusalKind.OVER_QUOTA, r"request too large for "),
    Wording(
        RefusalKind.BILLING,
        r"credit balance is too low|insufficient (?:credits?|balance|funds|quota)|exceeded your current quota|"
        r"payment required|billing hard limit|requires more credits|quota exceeded for metric.{0,200}limit: 0\b",
    ),
    Wording(
        _RATE,
        r"rate.?limit|too many requests|throttling|quota exceeded|resource exhausted|too many tokens, please wait",
    ),
    Wording(
        RefusalKind.AUTHENTICATION,
        r"(?:incorrect|invalid|missing|no) (?:x-)?api.?key|api key not valid|invalid (?:authentication|bearer token|"
        r"credentials|subscription key)|security token .{0,40}(?:expired|invalid)|unauthori[sz]ed",
    ),
    Wording(RefusalKind.OVERLOADED, r"overloaded|(?:at|over) capacity|server (?:is )?(?:too )?busy"),
    # Groq; Ollama; llama.cpp.
    Wording(
        _CALL,
        r"failed to call a function|tool call validation failed|(?:error|failed) (?:parsing|to parse) (?:the )?"
        r"(?:tool|function) call|attempted to call tool .{0,80}not in request",
    ),
    # Anthropic, on calls and answers, on thinking, on empty texts and on broken JSON.
    Wording(
        _TRANSCRIPT,
        r"ids were found without .{0,3}tool_result|unexpected .{0,3}tool_use_id|ids must be unique|"
        r"(?:expected .{0,20}thinking|thinking.{0,60}cannot be modified|invalid .{0,3}signature.{0,3} in)|"
        r"must (?:have|be|contain) non-(?:empty|whitespace)|messages\.[0-9]+: input does not match|"
        r"not valid json|no low surrogate|roles must alternate|first message must use the",
    ),
    # OpenAI, on both its wires; Gemini.
    Wording(
        _TRANSCRIPT,
        r"must be followed by tool messages|did not have response messages|must be a response to a prec|"
        r"no tool (?:output|call) found for|without its required|"
        r"number of function response parts|function call turn comes|valid role: user|missing a .?thought_?.?signature|"
        r"thought signature is not valid",
    ),
)
"""The table."""


def tokens(text: str) -> int | None:
    """A number of tokens as providers write it: `128,000`, `128k`, `1.5M`, `1_048_576`. None for another unit."""
    digits = text.strip().lower().rstrip(" ,._'")
    factor = {"k": 1_000, "m": 1_000_000}.get(digits[-1:], 1)
    digits = digits if factor == 1 else digits[:-1].rstrip()
    if not digits or digits[-1].isalpha():
        return None
    groups = digits.replace("_", ",").replace("'", ",").split(",")
    if factor == 1:
        groups = digits.replace("_", ",").replace("'", ",").replace(".", ",").split(",")
        if any(len(group) != 3 for group in groups[1:]):  # no thousands: a decimal, or two numbers that stand together
            return int(groups[0]) if groups[0].isdecimal() and len(groups[0]) < 10 else None
    try:
        number = float("".join(groups))
    except ValueError:
        return None
    return int(number * factor) if number * factor < 10**9 else None
