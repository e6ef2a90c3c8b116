"""What a table's owner says of the world around it: what no table can show, and the proofs need to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import attrs

from ._given import COMMAND, EVENT, STATE, called, mapped, one, said, several


def _alone(run: Any) -> Iterable[Any]:
    return (run,)


@attrs.frozen
class World:
    """What is around a machine.

    `answers`: which events answer a command; none: it asks nothing back. `waits`: states in which nothing is out, so
    that only time or something from outside moves the run. `time` and `cancel`: the events that these are. `request`:
    the command whose number matters most, as it costs money; its bound is shown with its path.

    `examples` holds an event of each kind that a reading is asked with, and `cases` makes of a run under some policy
    the runs in which its readings have other limits than at rest: what limits a reading has is learned by asking it.
    """

    answers: Mapping[type[Any], Sequence[type[Any]]]
    waits: tuple[Enum, ...] = ()
    time: type[Any] | None = None
    cancel: type[Any] | None = None
    request: type[Any] | None = None
    examples: Mapping[type[Any], Any] = attrs.field(factory=dict[type[Any], Any])
    cases: Callable[[Any], Iterable[Any]] = _alone

    def __attrs_post_init__(self) -> None:
        answers, wrong = mapped(self.answers, "answers")
        for command, events in answers.items():
            wrong = (
                *wrong,
                *one(command, COMMAND, "answers"),
                *several(events, EVENT, f"answers of {called(command)}")[1],
            )
        wrong = (*wrong, *several(self.waits, STATE, "waits")[1])
        for name, kind, given in (
            ("time", EVENT, self.time),
            ("cancel", EVENT, self.cancel),
            ("request", COMMAND, self.request),
        ):
            wrong = wrong if given is None else (*wrong, *one(given, kind, name))
        for kind, example in mapped(self.examples, "examples")[0].items():
            if not isinstance(kind, type) or not isinstance(example, kind):
                wrong = (*wrong, f"examples of {called(kind)}: found {said(example)}, expected one of its instances")
        if wrong:
            raise TypeError(f"World: {'; '.join(wrong)}")
