"""Files as bytes: lines with their numbers, or the whole, with an error for what cannot be opened."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from .bad_trace import BadTrace
from .json_text import JsonError, read_json
from .lines import Json, JsonObject

_BOM: Final = b"\xef\xbb\xbf"


@contextmanager
def opened(path: Path) -> Generator[BinaryIO]:
    """The file, open for reading. Raises BadTrace for a folder, a missing or an unreadable file."""
    try:
        if path.is_dir():
            raise BadTrace(path, found="a folder", expected="a file")
        with path.open("rb") as stream:
            yield stream
    except FileNotFoundError:
        raise BadTrace(path, found="no such file", expected="a file") from None
    except OSError as error:
        reason = error.strerror or error
        raise BadTrace(path, found=f"a file that cannot be read ({reason})", expected="a file") from None


def numbered(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Lines that are not blank: number from 1, bytes without white space around them, whether a newline closed it.

    One line at a time is in memory. A byte order mark before the first is dropped.
    """
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            text = (line.removeprefix(_BOM) if number == 1 else line).strip()
            if text:
                yield number, text, line.endswith(b"\n")


def document(path: Path) -> JsonObject:
    """The one JSON object that a file holds, read whole. Raises BadTrace."""
    with opened(path) as stream:
        data = stream.read()
    try:
        value: Json = read_json(data.removeprefix(_BOM))
    except JsonError as error:
        found = "an empty file" if not data.strip() else str(error)
        raise BadTrace(path, found=found, expected="one JSON object") from None
    if not isinstance(value, dict):
        raise BadTrace(path, found="JSON that is no object", expected="one JSON object")
    return value
