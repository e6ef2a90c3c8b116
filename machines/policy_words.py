"""What each key of a policy is, in a few words: the comments of the policy as TOML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_NO_LIMIT: Final = '; "unlimited" for no limit'

_LIMITS: Final[Mapping[str, str]] = {
    "": "one detector: where what it counts is a nudge, and where a stop",
    "enabled": "false switches the detector off",
    "nudge": "the model is told at this count" + _NO_LIMIT,
    "stop": "the run is stopped at this count" + _NO_LIMIT,
    "failing_nudge": "nudge, while every call of the streak failed or its result was not seen",
    "failing_stop": "stop, while every call of the streak failed or its result was not seen",
    "window": "among so many of the last answers",
    "failing_window": "the same, for failures",
    "max_period": "turns that a lap may have",
    "share": "of the window: what a condensing has to free",
    "window_tokens": "of the model's window",
}

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "budget": {
        "": "what a run may spend (a recorded run is judged by its own budget or by none)",
        "turns": "replies of the model" + _NO_LIMIT,
        "seconds": "wall clock" + _NO_LIMIT,
        "tokens": "input and output together" + _NO_LIMIT,
        "usd": "US dollars" + _NO_LIMIT,
        "calls_per_turn": "calls that one reply may make",
        "final_reply": "false: a run that is stopped is not asked for one last reply",
        "reply_tokens": 'the budget of a reply, before one that is cut raises it; "unlimited" where it is not known',
        "hold_back": "share of seconds, tokens and dollars that is kept for the last reply, 0 to 1",
        "hold_back_seconds": "the most that is kept of the seconds",
        "hold_back_tokens": "the most that is kept of the tokens",
        "hold_back_usd": "the most that is kept of the dollars",
        "unbounded": "true: a run may have neither turns nor tokens, and nothing proves that it ends",
    },
    "recovery": {
        "": "how often one incident may be recovered from; 0 switches one off",
        "truncated": "replies that are cut off",
        "empty": "replies that are empty",
        "paused": "replies that the provider paused",
        "malformed": "replies in which a call cannot be told",
        "unfinished_plan": "answers that leave the plan open",
        "refused": "requests that were refused for what passes by itself",
        "condensed": "requests that were refused as too long",
        "condensed_ahead": "requests that would hardly fit, so that the history is condensed first",
        "reply_budget": "requests whose reply budget is too large",
        "short_prompt": "short requests that were refused as too long, in the whole run",
        "transcript": "requests whose history breaks a rule of the provider's",
        "bad_call": "requests refused for a call of the model's own",
    },
    "calls": {
        "": "how calls are read",
        "names": "whether a tool is known by a name that is wrong in form alone",
    },
    "escalation": {
        "": "nudge, nudge again, stop",
        "nudges": "false: the model is never told",
        "within": "a third nudge within so many turns is a stop",
        "stops": "false: it is not, however many nudges there are",
        "rescues": "times that a run which stands still is told what it still has to write, instead of being stopped",
    },
    "progress": {
        "": "what counts as new",
        "recent_results": "a result is new if it is not among the tool's last so many",
        "results": "false: a call repeats whatever it brings, failed or not",
    },
    "waiting": {
        "": "waits that a tool declares",
        "enabled": "false: a wait is judged like any other call",
        "hold_back_seconds": "time that is kept for the work after a wait",
    },
    "messages": {
        "": "when a message may end a run",
        "require_facts": "true: a declared final answer without facts from the host is partial",
    },
    "history": {
        "": "how a history that outgrows its window is made shorter",
        "window_tokens": "of a model's window, as if it had no more" + _NO_LIMIT,
        "prune": "false: old results of tools are never cleared",
        "kept_results": "tokens of the newest results that are not cleared",
        "least_pruned": "tokens that clearing has to free",
        "condense": "false: the oldest part is never summed up",
        "summaries": "false: it is summed up without a model",
        "kept_tokens": "tokens of the newest messages that are not summed up",
        "spill": "false: large results are never set aside",
        "spilled_chars": "characters from which on a result may be set aside",
    },
    "planning": {
        "": "the plan that the model keeps",
        "enabled": "false: the model has no tools to keep a plan",
    },
}


def words_of(section: str, key: str) -> str:
    """What a key of a section is; of the section itself where `key` is empty. Empty where nothing is known."""
    if section.startswith("detectors."):
        return _LIMITS.get(key, "")
    return _WORDS.get(section, {}).get(key, "")
