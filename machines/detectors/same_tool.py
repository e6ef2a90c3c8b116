"""One tool called too often with neither new arguments nor new results.

Incident: half a dozen folders were listed in one reply, over and over, with work between. No listing was made often
enough for a count of equal calls, and few turns held them, so that a count of the tool's barren turns saw little.

Counted among the last answers of the run. Tools that are polled by their own declaration are exempt.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from .. import window
from ..events import TurnEnded
from ..state import Run
from .limits import reading

NAME = "same_tool"


def same_tool(run: Run, event: TurnEnded) -> Reading:
    """How many answers in the window brought nothing new to an old call, of the tool that has most of them."""
    limits, held = run.policy.detectors.same_tool, run.turned.window
    counts = limits.enabled and not window.quiet(held)
    count = window.most_stale(held, limits.window, _exempt(run)) if counts else 0
    most = min(limits.window, run.policy.budget.most_answers - 1)  # the first was not made before
    return reading(NAME, count, limits, most, window=limits.window, of=run.turn)


def _exempt(run: Run) -> frozenset[bytes]:
    return frozenset(window.tool_key(name) for name, tool in run.tools.items() if tool.poll)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"Among the last {values.get('window')} calls, {values.get('now')} were of one tool, with arguments that it "
        f"had been given before and answers that it had given before. Other arguments, or another answer, would count "
        f"as progress. Use what it has said already, or finish and say what blocks."
    )
