"""The neutral trace, `statecraft.trace/1`: read from JSON Lines as a stream, and written a line at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .bad_trace import BadTrace
from .chunks import joined
from .clock import Clock
from .fields import FieldError, shown
from .json_text import JsonError, read_json
from .lines import FORMAT, Json, RunLine
from .parse import line_of
from .recorded import Numbered, Recorded, runs
from .source import numbered
from .write import dumps

__all__ = ["dumps", "read"]


def read(path: Path) -> Iterator[Recorded]:
    """The runs of a file; every `run` line starts one. Raises BadTrace at the first line that is wrong.

    One line at a time is in memory. Blank lines and fields that are not known are passed over.
    """
    return runs(path, FORMAT, joined(_lines(path)))


def _lines(path: Path) -> Iterator[Numbered]:
    clock = Clock()
    begun = False
    for number, data, closed in numbered(path):
        record = _record(path, number, data, closed)
        try:
            if not isinstance(record, dict):
                raise FieldError(None, shown(record), "an object")
            line = line_of(record, clock)
            if not begun and not isinstance(line, RunLine):
                raise FieldError("t", shown(record["t"]), '"run", as the first line')
        except FieldError as wrong:
            raise BadTrace(path, line=number, field=wrong.field, found=wrong.found, expected=wrong.expected) from None
        begun = True
        yield number, line
    if not begun:
        raise BadTrace(path, found="no line at all", expected="a run line")


def _record(path: Path, number: int, data: bytes, closed: bool) -> Json:
    try:
        return read_json(data)
    except JsonError as error:
        found = str(error) if closed else f"a last line that breaks off ({error})"
        raise BadTrace(path, line=number, found=found, expected="one JSON object on the line") from None
