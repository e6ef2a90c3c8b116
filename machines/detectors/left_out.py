"""What the roster does not hold: guards that were left out, with what covers them, and what no guard can see."""

from __future__ import annotations

from typing import Final

import attrs


@attrs.frozen
class LeftOut:
    """A guard that was left out: what it would count, why it is not here, which detectors see what it was for.

    `beside`: what else covers it, outside of the roster; empty where nothing has to.
    """

    name: str
    shape: str
    why: str
    covered_by: tuple[str, ...]
    beside: str = ""


@attrs.frozen
class Unseen:
    """Something that no guard here can see: why it cannot, and whose job it is."""

    name: str
    shape: str
    why: str
    job: str


LEFT_OUT: Final = (
    LeftOut(
        "sleep",
        "a command that sleeps before it tries again",
        "commands that sleep side by side are right to; what is wrong is that the same comes back, whatever was slept",
        ("spread_duplicate", "fruitless_tool", "same_tool"),
        "a tool's idle time-out, where a command is silent for too long",
    ),
    LeftOut(
        "call_hash",
        "a call whose signature comes again, whatever it brings",
        "it stops a poll whose status moves, and misses a search in other words for the same nothing; it is the policy "
        "call-hash",
        ("consecutive_duplicate", "spread_duplicate", "cycle"),
    ),
    LeftOut(
        "source_count",
        "a count of what was read or run that has stopped growing",
        "it grows with every page that is read again, so a run that goes in circles looks like one that gets on",
        ("stalled_work", "no_progress"),
    ),
    LeftOut(
        "tool_count",
        "one tool too many times, whatever it was asked and whatever it said",
        "a list that is worked through calls one tool as often as it has items",
        ("fruitless_tool", "same_tool", "same_error"),
    ),
    LeftOut(
        "wording",
        "a reply that sounds like the one before it, or sounds finished",
        "wording is no fact: other words for the same standstill pass, the same words for new work do not",
        ("monologue", "no_progress"),
        "the message's rules, which decide by facts whether it may end a run",
    ),
)
"""Guards that were left out, the one that others had and took away first."""

UNSEEN: Final = (
    Unseen(
        "direction",
        "steady, well-formed, wrong progress",
        "every result is new, so every turn counts as progress; new is not nearer",
        "the task's own count (goal), the facts that a host gives of an answer, a person",
    ),
    Unseen(
        "the first act",
        "a first call that destroys something",
        "a guard counts repetitions, and by the second call the harm is done",
        "the tool's contract: arguments are checked before anything runs",
    ),
    Unseen(
        "a tool that lies",
        "a tool that reports success and did nothing, or something else",
        "what a tool reports is all that the ledger knows",
        "the dispatch layer: a digest of what was touched (state), typed errors, what a run has to write (requires)",
    ),
)
"""What none of them can see."""
