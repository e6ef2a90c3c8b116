"""Which limits that a provider names are believed."""

from __future__ import annotations

from typing import Final

LEAST: Final = 1_000
"""Tokens: a smaller limit is not believed. No model has one, and a number that was misread often is."""


def believed(limit: int | None) -> int | None:
    """A limit that may be one, in tokens."""
    return None if limit is None or limit < LEAST else limit
