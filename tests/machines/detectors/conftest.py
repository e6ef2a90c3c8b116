"""How a history is judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from .told import History, Verdict, told


@pytest.fixture(scope="session")
def judge() -> Callable[..., list[Verdict]]:
    """Judges a history: turn, verdict and rule of all that was decided; see `told`."""

    def verdicts(history: History, **more: Any) -> list[Verdict]:
        return [one.short for one in told(history, **more)]

    return verdicts
