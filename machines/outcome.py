"""How a run ended, and the account of what it did, left open and spent.

An outcome is made by rules from facts; what the agent says of itself is beside it, as its claim. `message_of` is what a
person is shown, and it is never empty: where the agent's own words are missing, or may not stand alone, the account
speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

import attrs

from statecraft import Scalar
from statecraft.spelled import spelled

from .events import ErrorKind, Text, Usage, Values


class TerminalStatus(StrEnum):
    """The five endings."""

    COMPLETED = "completed"
    PARTIAL = "partial"
    BLOCKED = "blocked"
    FAILED = "failed"
    CANCELLED = "cancelled"


class MessageKind(StrEnum):
    """What the last message is. A checkpoint is not among the endings: it can never end a run."""

    CHECKPOINT = "checkpoint"
    PARTIAL_ANSWER = "partial_answer"
    FINAL_ANSWER = "final_answer"
    FAILURE_REPORT = "failure_report"


class Fact(StrEnum):
    """What is true of an ending besides its status."""

    LIMIT_REACHED = "limit_reached"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    RECOVERY_EXHAUSTED = "recovery_exhausted"
    SIDE_EFFECTS_UNCONFIRMED = "side_effects_unconfirmed"
    UNVERIFIED = "unverified"
    STUCK = "stuck"


@attrs.frozen
class Change:
    """One call that changed something: the tool, what it touched, and the digest of that afterwards."""

    tool: str
    target: str | None
    state: bytes | None


@attrs.frozen
class LastResult:
    """One of the last results, as far as the account needs it."""

    tool: str
    value: Text | None
    error: ErrorKind | None


@attrs.frozen
class Reason:
    """Which rule ended the run, and the values that it saw."""

    by: str
    values: Values = ()

    @property
    def seen(self) -> str:
        """The values for a person to read."""
        return readable(dict(self.values))


def readable(values: Mapping[str, Scalar]) -> str:
    """The values of an evidence for a person: without the calls' signatures, which are looked up and not read."""
    return spelled({name: value for name, value in values.items() if name != "signatures"})


@attrs.frozen
class Account:
    """What a run did, left open and spent. `changes` holds the newest; `changes_in_all` counts every one.

    `unconfirmed`: calls that ran out of time, or were under way when their process ended, and nobody knows whether they
    took effect.
    """

    turns: int
    seconds: float
    usage: Usage
    changes: tuple[Change, ...]
    changes_in_all: int
    open_items: tuple[Text, ...]
    unanswered: tuple[str, ...]
    waiting_for: tuple[str, ...]
    last_results: tuple[LastResult, ...]
    unconfirmed: tuple[Change, ...] = ()


@attrs.frozen
class Outcome:
    """The typed outcome of a run.

    `message` is the agent's own text, if it left one; `stands_alone` says whether that text may be shown as it is, or
    only beneath the account, as a claim. `unfinished` is what it had written of an answer when it was stopped.
    """

    status: TerminalStatus
    kind: MessageKind
    reason: Reason
    facts: tuple[Fact, ...]
    account: Account
    message: Text | None = None
    stands_alone: bool = True
    unfinished: Text | None = None


def message_of(outcome: Outcome, text_of: Callable[[Text], str | None]) -> str:
    """What a person is shown: the agent's words where they may stand alone, else the account and the words beneath it.

    `text_of` looks a text up in the content store; a text that is gone is named as gone. Never empty.
    """
    words = None if outcome.message is None else text_of(outcome.message)
    gone = outcome.message is not None and words is None
    if words is not None and words.strip() and outcome.stands_alone:
        return words
    lines = list(account_lines(outcome, text_of))
    if words is not None and words.strip():
        lines += ["", "What the agent says of it (its claim, not checked):", words]
    elif gone:
        lines += ["", "The agent's own words are no longer in the content store."]
    begun = None if outcome.unfinished is None else text_of(outcome.unfinished)
    if begun is not None and begun.strip():
        lines += ["", "What it had written of an answer when it was stopped:", begun]
    return "\n".join(lines)


def account_lines(outcome: Outcome, text_of: Callable[[Text], str | None]) -> list[str]:
    """The account in plain lines: status and reason first, then what was done, left open, seen last and spent."""
    seen = outcome.reason.seen
    lines = [f"The run ended as {outcome.status.value}: {outcome.reason.by}" + (f" ({seen})" if seen else "") + "."]
    if outcome.facts:
        lines.append("Facts: " + ", ".join(fact.value.replace("_", " ") for fact in outcome.facts) + ".")
    return [*lines, *told_of(outcome.account, text_of)]


def told_of(account: Account, text_of: Callable[[Text], str | None]) -> list[str]:
    """What was done, left open, seen last and spent, in plain lines."""
    lines = [f"Changed: {_changes(account)}."]
    lines += [f"Left open in the plan: {_shown(text_of(item))}" for item in account.open_items]
    lines += [f"Not known whether it took effect: {_touched(change)}" for change in account.unconfirmed]
    lines += [f"Not answered: call {call}" for call in account.unanswered]
    lines += [f"Still waited for: {name}" for name in account.waiting_for]
    for result in account.last_results:
        said = "not seen" if result.value is None else _shown(text_of(result.value))
        failed = f" failed ({result.error.value})" if result.error else ""
        lines.append(f"Last result: {result.tool}{failed}: {said}")
    usage = account.usage
    money = f", {usage.usd:.4f} USD" if usage.usd else ""
    turns = f"{account.turns} turn{'' if account.turns == 1 else 's'}"
    lines.append(f"Spent: {turns}, {account.seconds:.0f} s, {usage.input + usage.output} tokens{money}.")
    return lines


def _touched(change: Change) -> str:
    return f"{change.tool} on {change.target or 'an undeclared target'}"


def _changes(account: Account) -> str:
    if not account.changes_in_all:
        return "nothing"
    shown = "; ".join(
        _touched(change) + (f" (now {change.state.hex()[:8]})" if change.state else "") for change in account.changes
    )
    more = account.changes_in_all - len(account.changes)
    return shown + (f"; and {more} before" if more else "")


def _shown(text: str | None, most: int = 160) -> str:
    if text is None:
        return "(its text is no longer in the content store)"
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= most else one_line[: most - 1] + "…"
