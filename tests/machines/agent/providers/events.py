"""Events of a stream, given as values, and what a provider makes of them."""

from __future__ import annotations

import json
from typing import Any

from machines.agent.providers.provider import Wire
from machines.agent.providers.streamed.reading import Reading
from machines.agent.wire import Completion, Refused

Told = list[tuple[str, str]]


def heard(wire: Wire, events: list[Any]) -> tuple[Completion | Refused, Told]:
    """What a stream of these events comes to, and the pieces that are told. An event may be its text."""
    told: Told = []
    reading = Reading(wire.streamed, lambda channel, piece: told.append((channel, piece)))
    for event in events:
        if reading.take(event if isinstance(event, str) else json.dumps(event)):
            break
    return reading.outcome({}), told


def replied(wire: Wire, events: list[Any]) -> Completion:
    """The reply that a stream of these events is."""
    got, _ = heard(wire, events)
    assert isinstance(got, Completion), got
    return got
