"""What the model is told: the words of each `Tell`. Facts and the way out, never that it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from statecraft import Scalar

from .commands import Tell
from .detectors.roster import NUDGES
from .outcome import Reason

FINISH: Final = "finish"
"""The built-in tool by which a model declares what its message is."""

CONTINUED: Final = "continued"
"""By which rule a model is told to go on with a text that was cut off: its next reply continues it."""

HOW_TO_FINISH: Final = (
    f"That was shown as a progress note; the run goes on. To end it, call {FINISH} with kind final, partial or failure "
    f"and the text of your message. Otherwise go on with the task."
)
"""What answers a text without a call and without a declaration."""


def last_words(stop: Reason | None) -> str:
    """What is asked of a model whose run was stopped: one reply, without tools."""
    why = "its end" if stop is None else f"the rule {stop.by} ({stop.seen})"
    return (
        f"This run is being stopped by {why}. No tool can be used any more. Say in one message what was done, what is "
        f"left open and what blocks it, and give the best answer that what you found supports. Claim nothing more."
    )


def words_of(tell: Tell) -> str:
    """The words of a `Tell`, made from the values that the rule saw."""
    return WORDS[tell.by](dict(tell.values))


def _where(values: Mapping[str, Scalar]) -> str:
    return "where the context window was full" if values.get("full") else "at its budget"


def _continued(values: Mapping[str, Scalar]) -> str:
    return (
        f"Your reply was cut off {_where(values)}. Go on exactly where it stopped, and repeat nothing; if you "
        f"then call {FINISH}, give it as its text what is still missing alone.{_budget(values)}"
    )


def _cut_call(values: Mapping[str, Scalar]) -> str:
    if values.get("declared"):
        return f"Your {FINISH} was cut off, so it ended nothing. Call it again, whole.{_budget(values)}"
    return (
        f"Your reply was cut off, so none of its calls was run. Make the call again, whole; a long text may be written "
        f"in several calls.{_budget(values)}"
    )


def _cut_thought(values: Mapping[str, Scalar]) -> str:
    return (
        f"Your reply was cut off while you were still thinking, and nothing of it was kept. Think less, and answer or "
        f"call a tool.{_budget(values)}"
    )


def _budget(values: Mapping[str, Scalar]) -> str:
    """What is true of the next reply's budget; nothing where it is not known."""
    budget = values.get("budget")
    if budget is None:
        return ""
    if values.get("window") is not None:
        return " The context window has little room left for a longer reply: be brief."
    if values.get("raised"):
        return f" The next reply may have {budget} tokens."
    return f" The budget of {budget} tokens cannot be raised any further: be brief."


def _malformed(values: Mapping[str, Scalar]) -> str:
    return "A call in your last reply could not be read, not even of which tool it was. Send the whole reply again."


def _bad_call(values: Mapping[str, Scalar]) -> str:
    return "The server could not read the call that you were making. Make it again, with arguments that are valid JSON."


def _unfinished_plan(values: Mapping[str, Scalar]) -> str:
    left = values.get("open_items")
    return (
        f"{left} item{'' if left == 1 else 's'} of your plan {'is' if left == 1 else 'are'} not done. Do what is left, "
        f"or bring the list up to date with write_todos, and then answer; an answer beside an open plan is partial."
    )


def _empty(values: Mapping[str, Scalar]) -> str:
    return "Your last reply held neither text nor a call. Go on with the task, or finish and say what blocks."


def _wait_over(values: Mapping[str, Scalar]) -> str:
    last = "no value at all" if values.get("value") is None else f"the value {values.get('value')}"
    if values.get("error"):
        last = f"an error ({values.get('error')})"
    waited = f"{float(values.get('seconds') or 0):.0f} s of waiting for {values.get('tool')}"
    if values.get("how") == "expired":
        return (
            f"The time for this wait is used up, after {waited}; the last look gave {last}. Asking again will not be "
            f"counted as waiting until something has changed: go on without it, or finish and say what blocks."
        )
    return f"After {waited} the last look gave {last}, which the tool does not declare. A person has been told."


def _rescue(values: Mapping[str, Scalar]) -> str:
    return (
        f"Nothing new has come in for a while, and this still has to be written: {values.get('unwritten')}. Write it "
        f"now with the tool that writes, or finish and say what blocks. Saying what comes next writes nothing."
    )


WORDS: Final[Mapping[str, Callable[[Mapping[str, Scalar]], str]]] = {
    **NUDGES,
    "rescue": _rescue,
    "empty": _empty,
    CONTINUED: _continued,
    "cut_call": _cut_call,
    "cut_thought": _cut_thought,
    "malformed": _malformed,
    "bad_call": _bad_call,
    "unfinished_plan": _unfinished_plan,
    "wait_over": _wait_over,
}
"""By the rule that speaks."""
