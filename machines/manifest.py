"""What a tool declares of itself. The model never sees it; the ledger and the guards rest on it.

A tool that declares nothing is an ordinary read: its answers count when they are new, and it is exempt from nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import attrs

from statecraft import Scalar


class Kind(StrEnum):
    """What a tool does to the world."""

    READ = "read"
    WRITE = "write"
    SEARCH = "search"
    COMMAND = "command"
    WAIT = "wait"
    THINK = "think"
    OTHER = "other"


class Work(StrEnum):
    """What a run is for: answers are judged by their evidence, builds and edits by what they leave behind."""

    ANSWER = "answer"
    BUILD = "build"
    EDIT = "edit"
    OTHER = "other"


@attrs.frozen
class Wait:
    """When asking again is waiting: while the field holds a waiting value and time is left. Times in seconds.

    `progress_field` is a dotted path into the result, or the name of an element in a text that is no JSON
    (`<status>running</status>`); `*` is the whole of it. A wait without a longest time is as long as the run's own.
    """

    progress_field: str
    waiting_values: tuple[Scalar, ...] = ()
    terminal_values: tuple[Scalar, ...] = ()
    max_wait_seconds: float | None = None
    min_interval_seconds: float | None = None


@attrs.frozen
class Consent:
    """A person has to consent to each call. `wait_seconds` is how long the answer is waited for (None: as the run may).

    `lasts_seconds`: for how long an approval holds, for calls of the same signature; None: for the one call it was
    given for, whenever that is taken up again.
    """

    wait_seconds: float | None = None
    lasts_seconds: float | None = None


@attrs.frozen
class Tool:
    """One tool's manifest; field by field as the neutral trace's `run.tools` has it.

    `identity`, `target`, `source` and `topic` name the arguments that say what a call is, touches, cites and is about.
    `may_be_empty` is True for every argument, or names those that may be empty. `fruitless`: the answers, as JSON
    values, that mean that nothing was found. `error_prefix`: the beginning of an answer by which a foreign tool marks
    that its arguments were wrong; without it, no text is taken for an error. `idempotent`: a call sent twice under one
    key is done once.
    """

    kind: Kind = Kind.OTHER
    required: tuple[str, ...] = ()
    may_be_empty: bool | tuple[str, ...] = False
    volatile: tuple[str, ...] = ()
    repeats: bool = False
    idempotent: bool = False
    scratch: bool = False
    identity: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    source: tuple[str, ...] = ()
    family: str | None = None
    topic: tuple[str, ...] = ()
    look: bool = False
    fruitless: tuple[Any, ...] = ()
    poll: bool = False
    timeout_seconds: float | None = None
    idle_seconds: float | None = None
    error_prefix: str | None = None
    wait: Wait | None = None
    consent: Consent | None = None

    @property
    def repeatable(self) -> bool:
        """Whether a call that was under way when its process ended may be sent again: nothing can happen twice."""
        return self.idempotent or self.kind in CHANGES_NOTHING


CHANGES_NOTHING = (Kind.READ, Kind.SEARCH, Kind.THINK, Kind.WAIT)
"""Kinds that declare that a call changes nothing."""

UNDECLARED = Tool()


def wait_problems(wait: Wait, seconds: float | None = None) -> list[str]:
    """What is wrong with a declared wait, one line each; `seconds`: the time of the run that is to wait, if limited."""
    found = [
        f"{name}: found {values!r}, expected a list of values"
        for name, values in (("waiting_values", wait.waiting_values), ("terminal_values", wait.terminal_values))
        if isinstance(values, str)
    ]
    if found:
        return found
    if not wait.progress_field:
        found.append("progress_field: found nothing, expected a path into the result, or * for the whole of it")
    if not wait.terminal_values:
        found.append("terminal_values: found none, expected the values at which there is nothing more to wait for")
    both = [value for value in wait.waiting_values if value in wait.terminal_values]
    if both:
        found.append(f"waiting_values and terminal_values: found {both[0]!r} in both, expected each in one of them")
    longest = wait.max_wait_seconds
    if longest is not None and not 0 < longest < float("inf"):
        found.append(f"max_wait_seconds: found {longest}, expected a number above 0, or none")
    elif longest is not None and seconds is not None and longest > seconds:
        found.append(f"max_wait_seconds: found {longest:g}, expected no more than the run's own {seconds:g}")
    least = wait.min_interval_seconds
    if least is not None and least < 0:
        found.append(f"min_interval_seconds: found {least}, expected 0 or more")
    return found


def consent_problems(consent: Consent) -> list[str]:
    """What is wrong with a declared consent, one line each."""
    named = (("wait_seconds", consent.wait_seconds), ("lasts_seconds", consent.lasts_seconds))
    return [
        f"{name}: found {value}, expected a number above 0, or none"
        for name, value in named
        if value is not None and not 0 < value < float("inf")
    ]


Tools = Mapping[str, Tool]
