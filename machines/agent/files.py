"""Tools for files below one folder: list, read, write. Nothing outside the folder is read or written.

A write is whole or has not happened: the text is encoded first, written beside the file under another name, and put in
its place in one step. A file keeps its mode.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar
from uuid import uuid4

import anyio.to_thread

from ..events import ErrorKind
from ..manifest import Kind, Tool
from .tools import AgentTool, ToolError, tool

MOST_CHARS: Final = 50_000
"""Characters of a file that one reading gives."""

MOST_ENTRIES: Final = 2_000
"""Entries of a folder that one listing gives."""

_MOST_BYTES: Final = 4 * MOST_CHARS  # the longest character of UTF-8 has four

T = TypeVar("T")


def file_tools(folder: Path | str, hidden: Iterable[Path | str] = ()) -> tuple[AgentTool, ...]:
    """The three tools, for one folder. What is `hidden`, and all below it, is not there for them.

    Hide what the run itself writes there, such as its journal. ValueError where that would hide the folder itself.
    """
    root = Path(folder).resolve()
    away = tuple(Path(path).resolve() for path in hidden)
    if any(root.is_relative_to(path) for path in away):
        raise ValueError(f"hidden: {root} itself would be hidden; expected places inside of it")

    def inside(path: str) -> Path:
        try:
            whole = (root / path).resolve()
        except (ValueError, OSError, RuntimeError) as error:  # a NUL, what no name can hold, a ring of links
            raise ToolError(ErrorKind.VALIDATION, f"{_shown(path)} is no path: {error}") from error
        if not whole.is_relative_to(root):
            raise ToolError(ErrorKind.PERMISSION, f"{path} is outside the folder")
        if any(whole.is_relative_to(hide) for hide in away):
            raise ToolError(ErrorKind.PERMISSION, f"{path} is not for the agent")
        return whole

    async def digest(path: str) -> str:
        return await _in_thread(path, lambda: _digest(inside(path)))

    @tool(manifest=Tool(kind=Kind.READ, look=True))
    async def list_files(path: str = ".") -> list[str]:
        """List the files and folders in a folder; folders end with a slash."""
        return await _in_thread(path, lambda: _listed(path, inside(path), away))

    @tool(manifest=Tool(kind=Kind.READ, source=("path",)))
    async def read_file(path: str) -> str:
        """Read a text file; a long one is cut off."""
        return await _in_thread(path, lambda: _read(path, inside(path)))

    @tool(
        manifest=Tool(kind=Kind.WRITE, target=("path",), required=("path", "content"), idempotent=True),
        digest=digest,
        alone=True,  # two writes of one file in one turn happen in the order in which they were asked for
    )
    async def write_file(path: str, content: str) -> str:
        """Write a text file, whole; folders on the way are made."""
        try:
            data = content.encode("utf-8")
        except UnicodeEncodeError as error:
            at = f"character {error.start} is half of a surrogate pair"
            raise ToolError(ErrorKind.VALIDATION, f"the content is no text: {at}; nothing was written") from error
        await _in_thread(path, lambda: _write(path, inside(path), data))
        return f"wrote {len(content)} characters to {path}"

    return list_files, read_file, write_file


async def _in_thread(path: str, work: Callable[[], T]) -> T:
    """Done in a thread, to its end: a cancel comes after it, so that no write goes on behind a run that is over."""

    def done() -> T:
        with _told(path):
            return work()

    return await anyio.to_thread.run_sync(done)


@contextmanager
def _told(path: str) -> Generator[None, None, None]:
    """What the system refuses, as a tool's error: in its words, and without the place of the folder on this machine."""
    try:
        yield
    except OSError as error:
        kind = ErrorKind.PERMISSION if isinstance(error, PermissionError) else ErrorKind.BUSINESS
        raise ToolError(kind, f"{path}: {error.strerror or error}") from error


def _listed(path: str, place: Path, away: tuple[Path, ...]) -> list[str]:
    if not place.is_dir():
        raise ToolError(ErrorKind.BUSINESS, f"{path} is no folder")
    with os.scandir(place) as entries:
        names = sorted(f"{e.name}/" if e.is_dir() else e.name for e in entries if Path(e.path).resolve() not in away)
    more = len(names) - MOST_ENTRIES
    return [*names[:MOST_ENTRIES], f"(and {more} more)"] if more > 0 else names


def _read(path: str, place: Path) -> str:
    if not place.is_file():
        raise ToolError(ErrorKind.BUSINESS, f"{path} is no file")
    with place.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
        size = os.fstat(file.fileno()).st_size
    whole = len(data) <= _MOST_BYTES
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(data, final=whole)
    if whole and len(text) <= MOST_CHARS:
        return text
    return f"{text[:MOST_CHARS]}\n(cut off after {MOST_CHARS} characters; the file has {size} bytes)"


def _write(path: str, place: Path, data: bytes) -> None:
    old = place.stat() if place.exists() else None
    if old is not None and not place.is_file():
        raise ToolError(ErrorKind.BUSINESS, f"{path} is no file")
    if old is not None and not os.access(place, os.W_OK):
        raise ToolError(ErrorKind.PERMISSION, f"{path} may not be written")
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f".{uuid4().hex}.part")
    try:
        with part.open("xb") as file:
            file.write(data)
            if old is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode))
        part.replace(place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _digest(place: Path) -> str:
    if not place.is_file():
        return hashlib.sha256(b"").hexdigest()
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _shown(path: str) -> str:
    return ascii(path[:200])
