"""Ids of calls, told apart: a server may leave one out, give one twice, or count from the start in every reply."""

from __future__ import annotations

from collections.abc import Iterable

from ..wire import CallPart, Message, Part


def ids_in(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls in a transcript."""
    return {part.id for message in messages for part in message.parts if isinstance(part, CallPart)}


def told_apart(parts: Iterable[Part], messages: Iterable[Message]) -> tuple[Part, ...]:
    """The parts of a reply to `messages`, each call with an id that no other call has.

    The first call with an id keeps it, a later one gets a number behind it. Deterministic.
    """
    kept = tuple(parts)
    if not any(isinstance(part, CallPart) for part in kept):
        return kept
    used = ids_in(messages)
    apart: list[Part] = []
    for part in kept:
        if isinstance(part, CallPart):
            name = _free(part.id, used)
            used.add(name)
            part = part if name == part.id else CallPart(name, part.name, part.args)
        apart.append(part)
    return tuple(apart)


def _free(name: str, used: set[str]) -> str:
    if name and name not in used:
        return name
    stem, number = (name, 2) if name else ("call", len(used) + 1)
    while f"{stem}-{number}" in used:
        number += 1
    return f"{stem}-{number}"
