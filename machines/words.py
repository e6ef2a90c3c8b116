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

HOW_TO_FINISH: Final = (
    f"That was shown as a progress note; the run goes on. To end it, call {FINISH} with kind final, partial or failure "
    f"and the text of your message. Otherwise go on with the task."
)
"""What answers a text without a call and without a declaration."""


GO_ON: Final = "Your reply was cut off at its budget. Go on exactly where it stopped, and repeat nothing."
"""What is said after a text that was cut off."""


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
    "wait_over": _wait_over,
}
"""By the rule that speaks."""
