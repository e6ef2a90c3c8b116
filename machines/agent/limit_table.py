"""The built-in table of what models take, read when it is first asked.

`known_limits.json` is made by `make_limits.py`; the file names its source and date.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import orjson

from .model_ids import longest, normal

FILE: Final = Path(__file__).with_name("known_limits.json")
"""`source` and `date` in words, and `limits`: normal id to the tokens of the window and of the longest reply."""


def in_table(model: str) -> tuple[int, int] | None:
    """Tokens of the window and of the longest reply of a model; None where the table has nothing like it.

    The window is the most that a prompt may have, which for some of OpenAI's models is less than prompt and reply
    together may.
    """
    entries = _entries()
    name = longest(normal(model), entries)
    return None if name is None else entries[name]


@functools.cache
def _entries() -> Mapping[str, tuple[int, int]]:
    data: Any = orjson.loads(FILE.read_bytes())
    return {name: (window, output) for name, (window, output) in data["limits"].items()}
