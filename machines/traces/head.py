"""The beginning and the end of a file, as far as recognising its format needs them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

from attrs import define, frozen

from .source import opened

_HEAD: Final = 1 << 14
_TAIL: Final = 1 << 12
_DEPTH: Final = 2

# One token of a JSON text: a string, a bracket or a sign, anything else. A string that is cut off is none.
_TOKEN: Final = re.compile(r'\s*("[^"\\]*(?:\\.[^"\\]*)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+)', re.DOTALL)

Outline: TypeAlias = Mapping[str, str]


@frozen
class Head:
    """What is seen of a file without reading it whole.

    `outline` holds the keys of its first JSON object and of the objects in it, as paths (`info.mini_version`), with
    the JSON text of their values where those are scalars and whole, else with the bracket or nothing; `listed` the
    same of the first object of a list, where the file is one. `text` is that of the first 16 KB, `tail` that of the
    last 4 KB. `what` says in words what the file begins with.
    """

    outline: Outline
    listed: Outline
    text: str
    tail: str
    what: str


def head_of(path: Path) -> Head:
    """The head of a file. Raises BadTrace where it cannot be read."""
    with opened(path) as stream:
        data = stream.read(_HEAD)
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _TAIL))
        tail = stream.read(_TAIL).decode("utf-8", "replace")
    text = data.decode("utf-8-sig", "replace").lstrip()
    if not text:
        return Head({}, {}, text, tail, "an empty file")
    inside = text[1:].lstrip() if text.startswith("[") else ""
    listed = dict(_outline(inside)) if inside.startswith("{") else {}
    if listed:
        return Head({}, listed, text, tail, f"a JSON list of objects with the keys {_some(listed)}")
    outline = dict(_outline(_first_object(text)))
    if outline:
        return Head(outline, {}, text, tail, f"JSON with the keys {_some(outline)}")
    return Head({}, {}, text, tail, "binary data" if b"\0" in data else f"text that begins with {text[:20]!r}")


def _some(outline: Outline) -> str:
    return ", ".join(list(outline)[:6])


def _first_object(text: str) -> str:
    """The text from the first line that begins with a brace; a terminal may have written others before it."""
    start = 0 if text.startswith("{") else text.find("\n{") + 1
    return text[start:] if text.startswith("{", start) else ""


@define
class _Frame:
    """A bracket that is open: whether it is an object's, and the key that stands before what comes next."""

    is_object: bool
    key: str | None = None


def _outline(text: str) -> Iterator[tuple[str, str]]:
    """The paths of a JSON object's keys and their values, as far as the text goes; not into lists."""
    frames: list[_Frame] = []
    for token in _tokens(text):
        frame = frames[-1] if frames else None
        if token in "}]":
            frames.pop()
            if not frames:
                return
        elif token == ",":
            frames[-1].key = None
        elif token != ":":
            if frame is not None and frame.is_object and frame.key is None:
                frame.key = token.strip('"')
                token = ""
            if frame is not None and len(frames) <= _DEPTH:
                path = [entry.key for entry in frames if entry.is_object and entry.key is not None]
                if len(path) == len(frames):
                    yield ".".join(path), token
            if token in ("{", "["):
                frames.append(_Frame(token == "{"))


def _tokens(text: str) -> Iterator[str]:
    end = 0
    for found in _TOKEN.finditer(text):
        if found.start() != end:
            return
        end = found.end()
        yield found[1]
