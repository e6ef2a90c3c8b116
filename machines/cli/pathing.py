"""Ways through a run as recordings: a neutral trace each, and beside them the policy that each start runs under."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from statecraft.cli.pathing import Traces
from statecraft.proofs import Way

from ..events import GoalMeasured, PlanChanged, TurnEnded
from ..policy_file import policy_toml
from ..state import Phase
from ..traces.from_events import recording
from ..traces.neutral import dumps


def traces_of(ways: Sequence[Way[Any, Any]]) -> Traces:
    """`START-N.jsonl` for each way, `START.toml` for each start; what the lines do not carry is counted by ways."""
    files: dict[str, bytes] = {}
    lacks: Counter[str] = Counter()
    for number, way in enumerate(ways, 1):
        name = way.start.replace(" ", "_")
        made = recording(way.run, way.events)
        lacks.update((*made.left_out, *read_otherwise(way)))
        files.setdefault(f"{name}.toml", policy_toml(way.run.policy).encode())
        files[f"{name}-{number:03d}.jsonl"] = b"".join(dumps(line) + b"\n" for line in made.lines)
    notes = [f"not in the traces: {what} ({count} way{'' if count == 1 else 's'})" for what, count in lacks.items()]
    told = "judge the traces of a start by its policy: statecraft audit --policy START.toml START-*.jsonl"
    return Traces(files, (*notes, told))


def read_otherwise(way: Way[Any, Any]) -> tuple[str, ...]:
    """What the lines carry, and an audit takes for something else: a recording shows no more than that it came."""
    found: list[str] = []
    if any(step.before.at is Phase.CONCLUDING for step in way.steps):
        found.append("the last reply of a stop: an audit has the account speak")
    if any(
        isinstance(one.event, TurnEnded) and isinstance(other.event, PlanChanged | GoalMeasured)
        for one, other in pairwise(way.steps)
    ):
        found.append("a plan or a goal right after a turn: an audit counts it to the turn")
    return tuple(found)
