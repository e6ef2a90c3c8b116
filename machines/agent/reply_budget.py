"""How long a reply may be: as long as the model can, and as there is room for."""

from __future__ import annotations

from typing import Final

from .limits import KnownLimits, ModelLimits

MOST: Final = 32_000
"""Tokens of a budget that nobody set. Who wants a longer reply sets one; a reply that is cut is continued."""

FLOOR: Final = 1_024
"""Tokens that are asked for although a prompt leaves fewer: less is no answer, and a count of a prompt may be too high.

Where the request really is too long the provider refuses it, and the run makes its history shorter.
"""


def reply_budget(limits: ModelLimits | KnownLimits, *, wanted: int | None, prompt: int | None) -> int:
    """Tokens of a reply's budget, at least 1. Pure.

    `wanted` is what was asked for, at most the model's own limit; None for that limit, at most `MOST`. `prompt` is the
    size of the prompt, None where nobody counted it: the budget fits into what it leaves of the window, but not below
    `FLOOR`, the window or what is wanted, whichever is least. A limit that is not known bounds nothing.
    """
    budget = MOST if wanted is None else max(wanted, 1)
    if limits.max_output is not None:
        budget = min(budget, limits.max_output)
    if limits.context_window is not None:
        left = limits.context_window - max(prompt or 0, 0)
        budget = min(budget, limits.context_window, max(left, FLOOR))
    return budget
