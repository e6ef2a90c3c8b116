"""A call that is answered from outside: what a tool returns to have it so.

The call is held, and its run can be put down meanwhile. What comes is the call's answer: the tool is not run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

import attrs

from ..events import Awaited, Awaits
from ..held import FOREVER
from ..ledger.observe import Keep, text_of

MOST_NAME: Final = 200
"""Characters that the name of a wait may have."""


@attrs.frozen
class WaitFor:
    """What a tool returns whose answer comes from outside; made by `wait_for`."""

    name: str | None
    seconds: float | None
    awaited: Awaited
    question: str | None = None
    choices: tuple[str, ...] = ()


def wait_for(
    name: str | None = None,
    *,
    seconds: float | None = None,
    question: str | None = None,
    choices: Sequence[str] = (),
) -> WaitFor:
    """Have the call answered from outside, by `statecraft answer` or `deliver`, under this name.

    With a `question` a person is asked, who may have to choose among `choices`; without one it is a signal, such as a
    webhook. `name`: None = the call's own id. `seconds`: how long it is waited for, and never longer than the run has
    time. Raises `ValueError` or `TypeError` for what cannot be.
    """
    _check_texts(name, question, choices)
    if name is not None and not 0 < len(name) <= MOST_NAME:
        raise ValueError(f"name: found {len(name)} characters, expected 1 to {MOST_NAME}")
    if seconds is not None and not 0 < seconds <= FOREVER:
        raise ValueError(f"seconds: found {seconds!r:.40}, expected a number above 0, or none")
    awaited = Awaited.SIGNAL if question is None else Awaited.ANSWER
    return WaitFor(name, None if seconds is None else float(seconds), awaited, question, tuple(choices))


def _check_texts(name: object, question: object, choices: object) -> None:
    """What a tool gives is not held to its annotations by anything but this."""
    for what, text in (("name", name), ("question", question)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{what}: found {type(text).__name__}, expected a text, or none")
    given = cast("Sequence[object]", choices) if isinstance(choices, list | tuple) else None
    if given is None or not all(isinstance(one, str) and one.strip() for one in given):
        raise TypeError(f"choices: found {choices!r:.80}, expected a list of texts that are not empty")


def awaits(call: str, name: str, given: WaitFor, now: float, keep: Keep) -> Awaits:
    """What a tool asked for outside, as the run hears of it. `now`: seconds since the run began."""
    question = None if given.question is None else text_of(given.question, keep)
    until = None if given.seconds is None else now + given.seconds
    return Awaits(now, call, given.awaited, name, until, question, tuple(given.choices))
