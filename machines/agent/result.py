"""What a run returns, and the typed errors that it can be made to raise, one a reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, cast

import attrs

from ..events import Usage
from ..outcome import Account, Fact, MessageKind, Outcome, TerminalStatus

SAID: Final = 200
"""Characters of what came with a refusal that are shown."""


@attrs.frozen
class LastRefusal:
    """The refusal that a run ended by: HTTP's status (0 or less: no answer came), and what was said, in one line.

    `tokens` is about how long the request was, `window` how long it may be; None where nobody can tell.
    """

    status: int
    said: str
    tokens: int | None = None
    window: int | None = None

    @property
    def words(self) -> str:
        """Both in one line."""
        if self.status <= 0:
            return f"no answer: {self.said}" if self.said else "no answer"
        return f"HTTP {self.status}: {self.said}" if self.said else f"HTTP {self.status}"

    def with_sizes(self, tokens: int, window: int | None) -> LastRefusal:
        """The same; each size where the provider did not name it itself."""
        return attrs.evolve(
            self,
            tokens=tokens if self.tokens is None else self.tokens,
            window=window if self.window is None else self.window,
        )


def refused_by(status: int, body: str) -> LastRefusal:
    """A refusal by its status and body; of a JSON body, the error's own message and counts are taken."""
    error: Mapping[str, Any] = {}
    with suppress(ValueError, RecursionError):  # most bodies are JSON, and some are a page
        error = _object(_object(json.loads(body)).get("error"))
    message = error.get("message")
    line = " ".join((message if isinstance(message, str) and message.strip() else body).split())
    said = line if len(line) <= SAID else line[: SAID - 1] + "…"
    return LastRefusal(
        status, said, _count(error.get("n_prompt_tokens")), _count(error.get("n_ctx"))
    )  # as llama.cpp has it


class RunError(Exception):
    """A run did not end as completed. `result` is what it returned."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(result)
        self.result = result

    def __str__(self) -> str:
        result = self.result
        reason = result.outcome.reason
        by = "" if reason.by == result.status.value else f" by {reason.by}"
        seen = reason.seen
        refused = "" if result.refusal is None else f": {result.refusal.words}"
        return f"run {result.run} ended as {result.status.value}{by}" + (f" ({seen})" if seen else "") + refused


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
    """It could not go on. The errors below say why."""


class NoAnswer(RunFailed):
    """Nothing answered its requests."""


class ContextOverflow(RunFailed):
    """Its request does not fit the model's window, and nothing is left to condense."""

    @property
    def tokens(self) -> int | None:
        """About how long the request was."""
        return None if self.result.refusal is None else self.result.refusal.tokens

    @property
    def window(self) -> int | None:
        """How long it may be, where the provider said so."""
        return None if self.result.refusal is None else self.result.refusal.window


class MachineFault(RunFailed):
    """The machine itself is at fault: a guard or an effect raised. The reason names it."""


@attrs.frozen
class RunResult:
    """What a run returns. `output` is what a person is shown, never empty; `journal` says where its journal lies.

    `summary` is its account in lines, whatever `output` is; `refusal` the refusal that it ended by, if it ended by one.
    """

    run: str
    output: str
    outcome: Outcome
    todos: tuple[Mapping[str, Any], ...]
    journal: str
    summary: tuple[str, ...] = ()
    refusal: LastRefusal | None = None

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
        """Whether the model or the provider refused. A provider that never answered has not."""
        by = self.outcome.reason.by == "refused"
        return _status_of(self) > 0 if by else Fact.REFUSED in self.facts

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
        by = self.outcome.reason.by
        if by == "refused" and _status_of(self) <= 0:
            return NoAnswer(self)
        by_fact = next((error for fact, error in BY_FACT if fact in self.facts), None)
        return (BY_REASON.get(by) or by_fact or BY_STATUS[self.status])(self)


BY_REASON: Final[Mapping[str, type[RunError]]] = {
    "cancelled": RunCancelled,
    "fault": MachineFault,
    "context_overflow": ContextOverflow,
    "no_reply": NoAnswer,
    "refused": RunRefused,
    "withheld": RunRefused,
}
"""The rules that end a run by themselves. They come first: what is true besides may be left of what came before."""

BY_FACT: Final[tuple[tuple[Fact, type[RunError]], ...]] = (
    (Fact.LIMIT_REACHED, RunLimitReached),
    (Fact.STUCK, RunStuck),
    (Fact.TRUNCATED, RunTruncated),
    (Fact.RECOVERY_EXHAUSTED, RecoveryExhausted),
    (Fact.REFUSED, RunRefused),
)
"""What stopped a run, before how it is filed: the first that holds names the error. Last words may be refused too."""

BY_STATUS: Final[Mapping[TerminalStatus, type[RunError]]] = {
    TerminalStatus.PARTIAL: RunIncomplete,
    TerminalStatus.BLOCKED: RunBlocked,
    TerminalStatus.FAILED: RunFailed,
    TerminalStatus.CANCELLED: RunCancelled,
}


def _status_of(result: RunResult) -> int:
    status = dict(result.outcome.reason.values).get("status")
    return status if isinstance(status, int) else 0


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
