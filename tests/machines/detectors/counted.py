"""For each detector, and each way in which its limits may be in force, the history in which its count is `n`.

The last happening of each history is what makes the count `n`; before it the count is `n - 1`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import attrs

from machines.events import Condensed, ErrorKind
from machines.manifest import Kind, Tool

from .incidents import (
    AGAIN,
    ASKED,
    FAMILIES,
    LOST,
    READ,
    SEEN,
    SUNG,
    THINKS,
    about,
    failing,
    nothing_found,
    pages,
    refused,
    shell,
    thought,
    work,
)
from .told import Call, Happening, streamed


@attrs.frozen
class Counted:
    """A detector, where it nudges and stops (0: it never stops), and the history in which it counts `n`."""

    detector: str
    nudge: int
    stop: int
    history: Callable[[int], Sequence[Happening]]
    tools: Mapping[str, Tool] = attrs.field(factory=dict[str, Tool])
    note: str = ""

    @property
    def name(self) -> str:
        """What a test of it is called by."""
        return f"{self.detector} {self.note}".strip()


def failed(history: Sequence[list[Call]]) -> Sequence[Happening]:
    """The same calls, each of which fails in one way."""
    return [[(tool, args, ErrorKind.TRANSIENT) for tool, args, _ in turn] for turn in history]


def with_work(*turns: list[Call]) -> Sequence[Happening]:
    """The turns with work that is new between them."""
    return [one for number, turn in enumerate(turns) for one in (work(number), turn)][1:]


def silence(n: int) -> Sequence[Happening]:
    words: list[Call] = []
    return [words] * n


def reworded(n: int) -> list[list[Call]]:
    return [shell(number) for number in range(n)]


def laps(n: int) -> list[list[Call]]:
    return [pages(1), pages(2)] * n


def steps(n: int) -> list[list[Call]]:
    """Work that is new, and then `n` pages of a dozen that were read before, none of them lately."""
    return [pages(number) for number in [*range(12), *range(12)][: 12 + n]]


COUNTED: Sequence[Counted] = (
    Counted("validation_error", 3, 3, lambda n: [refused(number) for number in range(n)]),
    Counted("empty_thought", 2, 2, lambda n: [thought("{}")] * n, THINKS),
    Counted("consecutive_duplicate", 3, 4, lambda n: [ASKED] * n),
    Counted("consecutive_duplicate", 4, 7, lambda n: [LOST] * n, note="failing"),
    Counted("cycle", 3, 4, laps),
    Counted("cycle", 3, 4, lambda n: failed(laps(n)), note="failing"),
    Counted("spread_duplicate", 5, 10, lambda n: with_work(*[READ] * n)),
    Counted("spread_duplicate", 10, 20, lambda n: with_work(*[LOST] * n), note="failing"),
    Counted("spread_duplicate", 5, 10, lambda n: with_work(*[AGAIN] * n), {"jot": Tool(scratch=True)}, "scratch"),
    Counted("same_error", 6, 12, lambda n: [failing(number) for number in range(n)]),
    Counted("same_error", 6, 12, lambda n: with_work(*[failing(number) for number in range(n)]), note="spread"),
    Counted(
        "search_escalation",
        7,
        12,
        lambda n: [nothing_found(number) for number in range(n)],
        {"find": Tool(kind=Kind.SEARCH)},
    ),
    Counted("family", 5, 12, lambda n: [about(number) for number in range(n)], FAMILIES),
    Counted("monologue", 3, 4, silence),
    Counted("no_progress", 3, 4, lambda n: reworded(n + 1)),
    Counted("no_progress", 6, 8, lambda n: failed(reworded(n + 1)), note="failing"),
    Counted("stalled_work", 4, 4, steps),
    Counted("stalled_work", 8, 8, lambda n: failed(reworded(n + 1)), note="failing"),
    Counted("fruitless_tool", 4, 7, lambda n: with_work(*reworded(n + 1))),
    Counted("fruitless_tool", 8, 14, lambda n: failed(reworded(n + 1)), note="failing"),
    Counted("same_tool", 12, 24, lambda n: [READ] * (n + 1)),
    Counted("redundant_check", 1, 0, lambda n: [SEEN, work(0), SEEN][: 2 + n], {"look": Tool(look=True)}),
    Counted("chanting", 10, 10, lambda n: streamed(SUNG * n)),
    Counted("vain_condensing", 2, 3, lambda n: [work(0), Condensed(1.0, 9_000), *[Condensed(1.0, 0)] * n]),
)
