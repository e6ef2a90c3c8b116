"""A recorded run that is judged more than once: its lines are kept, as a file's can be read only in their turn."""

from __future__ import annotations

from collections.abc import Callable

import attrs

from ..traces.recorded import Recorded

Again = Callable[[], Recorded]


def kept(recorded: Recorded) -> Again:
    """Gives the run, from its first line, as often as it is asked for. Raises what reading its lines raises."""
    lines = tuple(recorded.lines)

    def give() -> Recorded:
        return attrs.evolve(recorded, lines=iter(lines))

    return give
