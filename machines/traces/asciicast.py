"""`claude-code-asciicast`: a terminal, recorded while claude-code printed its stream-json records into it.

An asciicast of version 2: a header, then one event a line, `[seconds, code, text]`. What the terminal showed (code
`o`) is joined, and where a line of it holds records they are taken; the rest is the shell's, and so are the other
events. A record that breaks off ends the recording, as the process was killed; one that is followed by another is bad.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from attrs import define, field

from .bad_trace import BadTrace
from .claude_code import Record, lines_of
from .fields import shown
from .json_text import JsonError, read_first, read_json
from .lines import Json
from .loose import number_of, object_of
from .recorded import Recorded, runs, steady
from .source import numbered

NAME: Final = "claude-code-asciicast"

_VERSION: Final = 2
_RECORD: Final = re.compile(r'\{"type":"(?:assistant|result|system|user)"')
# One less than the longest text that _RECORD matches: so much of a text that holds none may begin one.
_BEGINNING: Final = len('{"type":"assistant"') - 1


def read(path: Path) -> Iterator[Recorded]:
    """The runs of a file: one for each session, and another for each `init` after a session's end.

    In memory are the lines of one turn and one record. Raises BadTrace for a file of another version, for an event
    that is none, and for a file without a record.
    """
    return runs(path, NAME, steady(lines_of(path, NAME, _records(path))))


@define
class _Screen:
    """What the terminal shows and is not yet taken: `parts` of a line, from where a record begins in it.

    `line`: of the file, where its event stands; `held`: there is one. Where there is none, `rest` is the last of what
    was shown, as a record may begin in it. `broken`: a record that broke off, and its line.
    """

    seconds: float = 0.0
    rest: str = ""
    parts: list[str] = field(factory=list[str])
    held: bool = False
    line: int = 0
    broken: tuple[int, JsonError] | None = None


def _records(path: Path) -> Iterator[Record]:
    screen = _Screen()
    for number, screen.seconds, shown_text in _shown(path):
        text, at = screen.rest + shown_text.replace("\r", ""), 0
        screen.rest = ""
        while True:
            if not screen.held:
                found = _RECORD.search(text, at)
                if found is None:
                    # A progress bar's line may never be closed: of what holds no record, only the last is kept.
                    screen.rest = text[max(at, len(text) - _BEGINNING) :]
                    break
                screen.held, screen.line, at = True, number, found.start()
            end = text.find("\n", at)
            screen.parts.append(text[at:] if end < 0 else text[at:end])
            if end < 0:
                break
            yield from _taken(path, screen)
            at = end + 1
    # A line break closes a record; what has none broke off, unless it is whole all the same.
    yield from _taken(path, screen)


def _taken(path: Path, screen: _Screen) -> Iterator[Record]:
    """The records of a line that is whole."""
    text, at = "".join(screen.parts), 0
    screen.parts, screen.held = [], False
    while found := _RECORD.search(text, at):
        try:
            says, at = read_first(text, found.start())
        except JsonError as error:
            screen.broken = screen.broken or (screen.line, error)
            return
        if screen.broken is not None:
            line, why = screen.broken
            raise BadTrace(path, line=line, found=str(why), expected="a whole record, as another follows")
        yield Record(screen.line, object_of(says), screen.seconds)


def _shown(path: Path) -> Iterator[tuple[int, float, str]]:
    """The texts that the terminal showed, each with the line of its event and its time in seconds."""
    header = True
    for number, data, whole in numbered(path):
        try:
            value = read_json(data)
        except JsonError as error:
            if not whole and not header:
                return
            raise BadTrace(path, line=number, found=str(error), expected="one event of an asciicast") from None
        if header:
            _check(path, number, value)
            header = False
            continue
        seconds, code, text = _event(path, number, value)
        if code == "o":
            yield number, seconds, text
    if header:
        raise BadTrace(path, found="an empty file", expected="the header of an asciicast")


def _check(path: Path, number: int, header: Json) -> None:
    if not isinstance(header, dict):
        raise BadTrace(path, line=number, found=shown(header), expected="the header of an asciicast, an object")
    if header.get("version") != _VERSION:
        found = shown(header["version"]) if "version" in header else "nothing"
        raise BadTrace(path, line=number, field="version", found=found, expected=str(_VERSION))


def _event(path: Path, number: int, value: Json) -> tuple[float, str, str]:
    if isinstance(value, list) and len(value) >= 3:
        seconds, code, text = number_of(value[0]), value[1], value[2]
        if seconds is not None and isinstance(code, str) and isinstance(text, str):
            return seconds, code, text
    raise BadTrace(path, line=number, found=shown(value), expected="an event [seconds, code, text]")
