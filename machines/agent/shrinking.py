"""A history made shorter, step by step, until it is short enough: by whom it was asked, and what was done.

The rules: what is cheap comes first. Old results are cleared; then the oldest part is summed up by the model, or
without one where that fails; and only where nothing else is left, large results are set aside. What was done is an
event, by which the same is done again, letter by letter, when the run is told again from its journal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from ..commands import Condense
from ..events import Condensed, Text, Usage
from ..ledger.observe import Keep, text_of
from ..message import CUT, UNREAD
from ..policy import History
from .attempts import caught
from .condensing import SUMMARY_TOKENS, mechanical_summary, summary_message, summary_request
from .parts import CHARS_A_TOKEN
from .transcript import Transcript
from .wire import Completion, Request

KEPT_RESULTS: Final = 8_000
"""Characters of the newest results that stay where a request was refused for its length."""

KEPT_SHARE: Final = 0.25
"""The share of a window that the newest messages keep, beside a summary of the older ones."""

ENOUGH: Final = 0.1
"""The share of a prompt that has to be freed where nobody says how much it is too long."""

INPUT_SHARE: Final = 0.5
"""The share of a window that a summariser is shown at most: what it is to shorten must fit itself."""

MECHANICAL_CHARS: Final = 8_000
"""Characters of a summary that was made without a model."""

TRIES: Final = 2
"""How often a model is asked for a summary, beside the retries of its provider."""

NOT_WHOLE: Final = CUT | UNREAD
"""Stop reasons of a reply that is no summary, whatever it says."""

Complete = Callable[[Request], Awaitable[object]]


class Shrinking:
    """One condensing: what it is to free, and what it has done so far."""

    def __init__(self, transcript: Transcript, window: int, prompt: int, history: History, *, pinned: str) -> None:
        self._transcript, self._window, self._prompt, self._history = transcript, window, prompt, history
        self._pinned = pinned
        self._keep = min(int(KEPT_SHARE * window), history.kept_tokens)
        self._steps: list[str] = []
        self._summary: str | None = None
        self._freed = self._dropped = 0
        self._usage = Usage()

    async def shrink(self, command: Condense, room: int, complete: Complete) -> None:
        """Make the history shorter, until it fits into `room` tokens, or so much shorter as helps."""
        wanted = max(self._prompt - room, 1) if command.why == "ahead" else self._too_long(command)
        history = self._history
        if history.prune:
            if command.why == "ahead":
                self._did("pruned", self._transcript.prune_tool_results(history.kept_results, history.least_pruned))
            else:
                self._did("cleared", self._transcript.prune(KEPT_RESULTS))
        if self._freed < wanted and history.condense:
            await self._sum_up(complete)
        if self._freed < wanted and history.spill and command.why != "ahead":
            self._did("spilled", self._transcript.spill_large_results(history.spilled_chars))

    def event(self, at: float, keep: Keep) -> Condensed:
        """What was done."""
        summary: Text | None = None if self._summary is None else text_of(self._summary, keep)
        return Condensed(
            at,
            self._freed,
            "summarised" in self._steps,
            tuple(self._steps),
            summary,
            self._dropped,
            self._keep if self._summary is not None else 0,
            self._usage,
            nothing_left=not self._freed,
            window=self._window,
        )

    def _too_long(self, command: Condense) -> int:
        """Tokens to be freed after a refusal: what is too much, where the provider says so."""
        if command.size is not None and command.window is not None and command.size > command.window:
            return command.size - command.window + 1
        return max(int(ENOUGH * self._prompt), 1)

    def _did(self, step: str, chars: int) -> None:
        if chars:
            self._freed += max(chars // CHARS_A_TOKEN, 1)
            self._steps.append(step)

    async def _sum_up(self, complete: Complete) -> None:
        most = max(int(INPUT_SHARE * self._window) * CHARS_A_TOKEN, 1)
        gone = self._transcript.droppable(self._keep)
        if not gone:
            return
        told = self._transcript.to_summarise(self._keep, most)
        written = await self._asked(summary_request(told, account=self._pinned), complete)
        for step, text in (("summarised", written), ("mechanical", mechanical_summary(gone, MECHANICAL_CHARS))):
            if text:
                summary = summary_message(text, account=self._pinned)
                freed = self._transcript.condense(summary, self._keep)
                if freed:
                    self._summary, self._dropped = summary, len(gone)
                    self._freed += freed
                    self._steps.append(step)
                    return

    async def _asked(self, request: Request, complete: Complete) -> str:
        """A model's summary; empty where it gives none that is whole."""
        request = _fitted(request, self._window)
        for _ in range(TRIES if self._history.summaries else 0):
            answer = await caught(lambda: complete(request))
            if isinstance(answer, Completion):
                self._usage = _with(self._usage, answer.usage)
                whole = answer.stop not in NOT_WHOLE and answer.usage.output < request.max_tokens
                if whole and answer.text.strip() and not answer.calls:
                    return answer.text
        return ""


def at_once(transcript: Transcript, step: str, history: History, at: float) -> tuple[Condensed, int]:
    """One step that needs no model, whatever the size of the history: as an event, and the characters freed."""
    if step == "pruned":
        freed = transcript.prune_tool_results(history.kept_results, history.least_pruned)
    else:
        freed = transcript.spill_large_results(history.spilled_chars)
    return Condensed(at, max(freed // CHARS_A_TOKEN, 1), steps=(step,)), freed


def told_again(transcript: Transcript, event: Condensed, summary: str | None, history: History) -> None:
    """Do to a transcript what the event says was done to it."""
    for step in event.steps:
        match step:
            case "pruned":
                transcript.prune_tool_results(history.kept_results, history.least_pruned)
            case "cleared":
                transcript.prune(KEPT_RESULTS)
            case "spilled":
                transcript.spill_large_results(history.spilled_chars)
            case _:
                transcript.condense(summary or "", event.kept)


def _fitted(request: Request, window: int) -> Request:
    tokens = min(SUMMARY_TOKENS, max(window // 4, 1))
    return Request(request.system, request.messages, request.tools, tokens, request.no_tools)


def _with(one: Usage, other: Usage) -> Usage:
    return Usage(one.input + other.input, one.output + other.output, one.cached + other.cached, one.usd + other.usd)
