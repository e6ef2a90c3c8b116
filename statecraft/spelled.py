"""How the values behind an answer are spelled wherever people read them: `name=value`, the value as JSON has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .codec import dump
from .guards import UNLIMITED, Scalar

EXACT: Final = 10.0**15
"""Below it, a float that is whole is told in full."""

SHOWN: Final = 400
"""Characters of one value."""


def spelled(values: Mapping[str, Scalar]) -> str:
    """All values, each with its name: `now=4, failing=false, tool="search", last=null`."""
    return ", ".join(f"{name}={scalar(value)}" for name, value in values.items())


def scalar(value: Scalar) -> str:
    """One value: as JSON, but for a float, which is told plainly (`47`, `0.3`, `inf`), and a limit that is none."""
    if type(value) is int and value == UNLIMITED:
        return "unlimited"
    if not isinstance(value, float):
        return shortened(dump(value).decode("utf-8", "backslashreplace"))
    return str(int(value)) if value.is_integer() and abs(value) < EXACT else f"{value:.10g}"


def shortened(text: str) -> str:
    """The text, cut where it is too long for a line."""
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
