"""One tool whose answers bring nothing new, whatever it is asked and whatever other tools do in between.

Incident: a shell command was reworded seven times for the same output, with a note taken after each; the notes were
news, so the run did not stand still, and no call was ever the same.

Counted in turns, tool by tool. While none of its calls succeeded the limits are wider. A result that is new among its
last ones clears it; a scratch tool and a thought are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading, worst

NAME = "fruitless_tool"


def fruitless_tool(run: Run, event: TurnEnded) -> Reading:
    """How many turns in a row in which it was called brought nothing new, of the tool that has come furthest."""
    limits, tools = run.policy.detectors.fruitless_tool, run.turned.tools
    most = run.policy.budget.most_turns
    once = most - 1  # the first success is new
    if not len(tools):  # a map of this kind is never false by itself
        return reading(NAME, 0, limits, once, of=run.turn)
    found = [
        reading(
            NAME,
            streak.barren,
            limits,
            most if streak.ok == 0 else once,
            failing=streak.ok == 0,
            tool=tool,
            of=run.turn,
        )
        for tool, streak in (sorted(tools.items()) if limits.enabled else ())
        if streak.barren
    ]
    return worst(NAME, found, limits, once)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"{values.get('tool')} has been asked in {values.get('now')} turns in a row and said nothing that it had not "
        f"said before, whatever it was asked. Only a new answer of it, a change in the world, or an item of the plan "
        f"closed would count as progress. Try something other than this tool, or finish and say what blocks."
    )
