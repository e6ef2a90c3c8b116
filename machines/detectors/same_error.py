"""One tool that fails with one outcome, whatever it is asked.

Incident: an agent met a missing module by setting a path, reinstalling, cloning anew and writing a wrapper; every
command was another one, and every one ended with the same line.

An outcome is the error's class, exit code and last line that says what went wrong, without volatile parts; line numbers
stay, so an error that moves is another one. A success of the tool clears it.
"""

from __future__ import annotations

from collections.abc import Mapping

from statecraft import Reading, Scalar

from ..events import TurnEnded
from ..state import Run
from .limits import reading, worst

NAME = "same_error"


def same_error(run: Run, event: TurnEnded) -> Reading:
    """How often in a row a tool has failed with the same outcome, of the tool that has come furthest."""
    limits, tools = run.policy.detectors.same_error, run.turned.tools
    if not len(tools):  # a map of this kind is never false by itself
        return reading(NAME, 0, limits, run.policy.budget.most_answers, of=run.turn)
    found = [
        reading(NAME, streak.failures, limits, run.policy.budget.most_answers, tool=tool, of=run.turn)
        for tool, streak in (sorted(tools.items()) if limits.enabled else ())
        if streak.failures
    ]
    return worst(NAME, found, limits, run.policy.budget.most_answers)


def nudge(values: Mapping[str, Scalar]) -> str:
    """What the model is told."""
    return (
        f"{values.get('tool')} has now failed {values.get('now')} times in a row with the same error, whatever it was "
        f"asked. Another error, or a success, would count as progress. Deal with what the error says, try another way, "
        f"or finish and say what blocks."
    )
