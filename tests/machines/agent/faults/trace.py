"""A run told line by line, for whoever looks into one that went wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from statecraft.journal import link

from .record import Record


def trace(record: Record) -> Iterator[str]:
    """The scenario, what the server did and what came from outside, and each line of the journal."""
    drawn = record.scenario
    yield f"seed {drawn.seed}: {drawn.wire}{', streamed' if drawn.stream else ''}, on {drawn.loop}"
    for field in attrs.fields(type(drawn.policy)):
        if field.name != "detectors":
            yield f"  policy.{field.name}: {getattr(drawn.policy, field.name)}"
    yield f"  window and longest reply: {drawn.limits}; outlives its process: {drawn.outlives}; work: {drawn.work}"
    acts = [f"{act.what} at {act.during} {act.at}" for act in drawn.acts]
    yield f"  to come from outside: {', '.join(acts) or 'nothing'}"
    yield f"the server's moves: {', '.join(f'{n} {name}' for n, name in enumerate(record.moves))}"
    yield f"came from outside: {', '.join(record.acts) or 'nothing'}; {record.bursts} bursts"
    for raw in record.store.lines():
        yield _line(link(raw).record or {})
    yield f"shown: {record.message}"


def _line(said: Mapping[str, Any]) -> str:
    head = f"{said.get('seq'):>4} {said.get('kind')}"
    if said.get("event") is None:
        return head
    event = {
        name: value for name, value in said["event"].items() if name not in ("is", "at") and value not in (None, "", ())
    }
    commands = "".join(f"\n       asks {_short(command)}" for command in said.get("commands", ()))
    moved = f"{said.get('source')} -> {said.get('target')} by row {said.get('row')}"
    return f"{head} {said['event']['is']} {moved}: {_short(event)}{commands}"


def _short(value: object, most: int = 300) -> str:
    words = str(value)
    return words if len(words) <= most else words[: most - 1] + "…"
