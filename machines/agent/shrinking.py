"""A history made shorter, step by step, until it is short enough: by whom it was asked, and what was done.

The rules: what is cheap comes first. Old results that the model has seen are cleared; then the oldest part is summed up
by the model, or without one where that fails or cannot be paid; and only where nothing else is left, large results are
set aside, seen or not. What cannot be set aside is cleared unseen, as the last resort. What was done is an
event, by which the same is done again, letter by letter, when the run is told again from its journal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from ..commands import Condense
from ..events import Condensed, StopReason, Text, Usage, together
from ..ledger.observe import Keep, text_of
from ..message import CUT, UNREAD
from ..policy import History
from .attempts import caught
from .condensing import mechanical_summary, summary_message, summary_request
from .given import is_sound, is_sound_refusal
from .parts import CHARS_A_TOKEN, tokens_of
from .transcript import Transcript
from .wire import Completion, Refused, Request

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

LEAST_SUMMARY: Final = 128
"""Tokens: a window that leaves less for a summary cannot hold one."""

TRIES: Final = 2
"""How often a model is asked for a summary."""

FIRST_WAIT, LONGEST_WAIT = 1.0, 30.0
"""Seconds before it is asked again: where no refusal says how long, and at most."""

NOT_WHOLE: Final = CUT | UNREAD | {StopReason.PAUSE}
"""Stop reasons of a reply that is no summary, whatever it says."""

Complete = Callable[[Request], Awaitable[object]]


class Shrinking:
    """One condensing: what it is to free, and what it has done so far."""

    def __init__(
        self,
        transcript: Transcript,
        window: int,
        prompt: int,
        history: History,
        *,
        pinned: str,
        affords: Callable[[int, Usage], bool],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._affords, self._sleep = affords, sleep
        self._failed: list[str] = []  # what summaries were refused for
        self._transcript, self._window, self._prompt, self._history = transcript, window, prompt, history
        self._pinned = pinned
        self._keep = min(int(KEPT_SHARE * window), history.kept_tokens)
        self._steps: list[str] = []
        self._summary: str | None = None
        self._freed = self._dropped = 0
        self._usage = Usage()

    async def shrink(self, command: Condense, room: int, complete: Complete) -> None:
        """Make the history shorter, until it fits into `room` tokens, or so much shorter as helps."""
        wanted = self._too_long(command, room)
        history, ahead = self._history, command.why == "ahead"
        if history.prune:
            self._step("pruned" if ahead else "cleared")
        if self._freed < wanted and history.condense:
            await self._sum_up(complete)
        if self._freed < wanted and history.spill and not ahead:
            self._step("spilled")
        if self._freed < wanted and history.prune and not ahead:
            self._step("dropped")

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
            refused=tuple(self._failed),
            nothing_left=not self._freed,
            window=self._window,
        )

    def _too_long(self, command: Condense, room: int) -> int:
        """Tokens to be freed: what is too much, where that is known."""
        if command.why == "ahead":
            return max((self._prompt if command.size is None else command.size) - room, 1)
        if command.size is not None and command.window is not None and command.size > command.window:
            return command.size - command.window + 1
        return max(int(ENOUGH * self._prompt), 1)

    def _step(self, step: str) -> None:
        chars = step_of(self._transcript, step, self._history)
        if chars:
            self._freed += max(chars // CHARS_A_TOKEN, 1)
            self._steps.append(step)

    async def _sum_up(self, complete: Complete) -> None:
        most = max(int(INPUT_SHARE * self._window) * CHARS_A_TOKEN, 1)
        gone = self._transcript.droppable(self._keep)
        if not gone:
            return
        told = self._transcript.to_summarise(self._keep, most)
        request = summary_request(told, account=self._pinned, max_tokens=self._window // 4)
        written = await self._asked(request, complete)
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
        if request.max_tokens < LEAST_SUMMARY:
            return ""
        for number in range(TRIES if self._history.summaries else 0):
            if not self._affords(tokens_of(request.messages) + request.max_tokens, self._usage):
                break
            answer = await caught(lambda: complete(request))
            if isinstance(answer, Refused) and is_sound_refusal(answer):
                self._failed.append(answer.kind.value)
                if number + 1 < TRIES:
                    await self._sleep(min(answer.after or FIRST_WAIT, LONGEST_WAIT))
            if isinstance(answer, Completion) and is_sound(answer):
                self._usage = together(self._usage, answer.usage)
                whole = answer.stop not in NOT_WHOLE and answer.usage.output < request.max_tokens
                if whole and answer.text.strip() and not answer.calls:
                    return answer.text
        return ""


def at_once(transcript: Transcript, step: str, history: History, at: float) -> tuple[Condensed, int]:
    """One step that needs no model, whatever the size of the history: as an event, and the characters freed."""
    freed = step_of(transcript, step, history)
    return Condensed(at, max(freed // CHARS_A_TOKEN, 1), steps=(step,), counted=False), freed


def told_again(transcript: Transcript, event: Condensed, summary: str | None, history: History) -> None:
    """Do to a transcript what the event says was done to it."""
    for step in event.steps:
        if step in ("summarised", "mechanical"):
            transcript.condense(summary or "", event.kept)
        else:
            step_of(transcript, step, history)


def step_of(transcript: Transcript, step: str, history: History) -> int:
    """One step that needs no model, and the characters that it freed."""
    match step:
        case "pruned":
            return transcript.prune_tool_results(history.kept_results, history.least_pruned)
        case "cleared":
            return transcript.prune_tool_results(KEPT_RESULTS // CHARS_A_TOKEN, 0)
        case "spilled":
            return transcript.spill_large_results(history.spilled_chars)
        case _:
            return transcript.prune(KEPT_RESULTS)
