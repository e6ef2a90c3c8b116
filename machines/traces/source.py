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


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines of UTF-8 text, blank ones too: number from 1, text without its line break. Raises BadTrace.

    One line at a time is in memory. A byte order mark before the first is dropped.
    """
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = (line.removeprefix(_BOM) if number == 1 else line).decode()
            except UnicodeDecodeError as error:
                found = f"bytes that are not UTF-8, at byte {error.start + 1}"
                raise BadTrace(path, line=number, found=found, expected="text") from None
            yield number, text.removesuffix("\n").removesuffix("\r")


def content(path: Path) -> bytes:
    """All of a file, without a byte order mark. Raises BadTrace."""
    with opened(path) as stream:
        return stream.read().removeprefix(_BOM)


def value_of(path: Path, data: bytes, expected: str) -> Json:
    """The value of the JSON text that is a file's content. Raises BadTrace where it is none."""
    try:
        return read_json(data)
    except JsonError as error:
        found = "an empty file" if not data.strip() else str(error)
        raise BadTrace(path, found=found, expected=expected) from None


def document(path: Path) -> JsonObject:
    """The one JSON object that a file holds, read whole. Raises BadTrace."""
    value = value_of(path, content(path), "one JSON object")
    if not isinstance(value, dict):
        raise BadTrace(path, found="JSON that is no object", expected="one JSON object")
    return value
