"""What a run returns, and the typed errors that it can be made to raise, one a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from ..events import Usage
from ..outcome import Account, Fact, MessageKind, Outcome, TerminalStatus


class RunError(Exception):
    """A run did not end as completed. `result` is what it returned."""

    def __init__(self, result: RunResult) -> None:
        self.result = result
        super().__init__(f"{result.status.value}: {result.outcome.reason.by}: {result.output.splitlines()[0][:200]}")


class RunLimitReached(RunError):
    """A budget was used up."""


class RunStuck(RunError):
    """A detector, or the third nudge, stopped it."""


class RunTruncated(RunError):
    """Its replies were cut off until no recovery was left."""


class RunRefused(RunError):
    """The model, or the provider, will not do it."""


class RecoveryExhausted(RunError):
    """Empty or paused replies until no recovery was left."""


class RunBlocked(RunError):
    """The agent says, or the facts say, that it cannot go on."""


class RunIncomplete(RunError):
    """It ended with part of an answer."""


class RunCancelled(RunError):
    """The host cancelled it."""


class RunFailed(RunError):
    """It could not get a reply, or its machine is at fault."""


@attrs.frozen
class RunResult:
    """What a run returns. `output` is what a person is shown, never empty; `journal` says where its journal lies."""

    run: str
    output: str
    outcome: Outcome
    todos: tuple[Mapping[str, Any], ...]
    journal: str

    @property
    def status(self) -> TerminalStatus:
        """How it ended."""
        return self.outcome.status

    @property
    def kind(self) -> MessageKind:
        """What its last message is."""
        return self.outcome.kind

    @property
    def facts(self) -> tuple[Fact, ...]:
        """What is true of the ending besides its status."""
        return self.outcome.facts

    @property
    def account(self) -> Account:
        """What it did, left open and spent."""
        return self.outcome.account

    @property
    def usage(self) -> Usage:
        """Tokens and money of all its replies."""
        return self.outcome.account.usage

    @property
    def ok(self) -> bool:
        """Whether it completed."""
        return self.status is TerminalStatus.COMPLETED

    @property
    def limited(self) -> bool:
        """Whether a budget stopped it."""
        return Fact.LIMIT_REACHED in self.facts

    @property
    def truncated(self) -> bool:
        """Whether a reply was cut off in the incident that it ended in."""
        return Fact.TRUNCATED in self.facts

    @property
    def refused(self) -> bool:
        """Whether the model or the provider refused."""
        return Fact.REFUSED in self.facts

    @property
    def error(self) -> Mapping[str, str] | None:
        """The type and message of the error that `raise_for_status` would raise; None where it completed."""
        found = self._error()
        return None if found is None else {"type": type(found).__name__, "message": str(found)}

    def raise_for_status(self) -> RunResult:
        """Raise the typed error of the reason, unless the run completed. Gives the result itself back."""
        found = self._error()
        if found is not None:
            raise found
        return self

    def _error(self) -> RunError | None:
        if self.ok:
            return None
        if self.status is TerminalStatus.CANCELLED:
            return RunCancelled(self)
        by_fact = next((error for fact, error in BY_FACT if fact in self.facts), None)
        return (by_fact or BY_STATUS[self.status])(self)


BY_FACT: tuple[tuple[Fact, type[RunError]], ...] = (
    (Fact.LIMIT_REACHED, RunLimitReached),
    (Fact.STUCK, RunStuck),
    (Fact.REFUSED, RunRefused),
    (Fact.TRUNCATED, RunTruncated),
    (Fact.RECOVERY_EXHAUSTED, RecoveryExhausted),
)
"""What stopped a run, before how it is filed: the first that holds names the error."""

BY_STATUS: Mapping[TerminalStatus, type[RunError]] = {
    TerminalStatus.PARTIAL: RunIncomplete,
    TerminalStatus.BLOCKED: RunBlocked,
    TerminalStatus.FAILED: RunFailed,
}
