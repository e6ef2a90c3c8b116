"""A journal in a file: JSON Lines in `NAME.jsonl`, content beside it in the folder `NAME.content`, a file each.

A line is given to the operating system in one write, so that it survives `kill -9`; with durability "power" it is
forced to the disk as well. A line counts once its newline is there. One writer at a time: the file is locked (`flock`)
from `claim` to `close`, which other processes on the same machine see, and on most network file systems other machines.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from ..codec import digest_of
from .chain import link
from .records import looks_like_one
from .store import Durability, JournalError, checked, is_digest, refuse_seq

_BLOCK = 1 << 16


class FileStore:
    """One run in one file. Nothing is opened before it is needed; reading takes no lock."""

    def __init__(self, path: Path | str, durability: Durability = "process") -> None:
        self.path = Path(path)
        self.durability: Durability = durability
        self.folder = self.path.with_name(self.path.name.removesuffix(".jsonl") + ".content")
        self._fd = -1
        self._size = 0  # bytes of whole lines
        self._next: int = 0  # the number that the next line has

    @property
    def name(self) -> str:
        """The path."""
        return str(self.path)

    def claim(self, *, fresh: bool = False) -> bytes:
        """Lock the file, creating it if there is none, and cut off what a dead writer left half-written."""
        if self._fd >= 0:
            return b""
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise _failed(self.path, "cannot be opened for writing", error) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if fresh and os.fstat(fd).st_size and (line := _last_line(fd)[0]) is not None:
                held = link(line).sealed
                what = "already holds a run" if held else "is no journal"
                raise JournalError(f"{self.path}: {what}, and is left as it is; expected another place")
            if self.durability == "power" and os.fstat(fd).st_size == 0:
                _sync_folder(self.path.parent)
            last, self._size = _last_line(fd)
            cut = os.pread(fd, os.fstat(fd).st_size - self._size, self._size)
            self._next = 0 if last is None else _number(self.path, last) + 1
            if last is None and cut and not looks_like_one(cut):
                raise JournalError(f"{self.path}: is no journal, and nothing is cut off it")
            if cut:
                os.ftruncate(fd, self._size)
        except BlockingIOError as error:
            os.close(fd)
            raise JournalError(f"{self.path}: another writer is at work on this run") from error
        except OSError as error:
            os.close(fd)
            raise _failed(self.path, "cannot be claimed", error) from error
        except JournalError:
            os.close(fd)
            raise
        self._fd = fd
        return cut

    def append(self, seq: int, line: bytes) -> None:
        """Write the line. If that fails, the file ends where it ended before."""
        self.claim()
        if seq != self._next:
            refuse_seq(self.name, seq, line, _nth(self.lines(), seq))
            return
        data = line + b"\n"
        try:
            _write(self._fd, data)
            if self.durability == "power":
                _sync(self._fd)
        except OSError as error:
            self._take_back()
            raise _failed(self.path, f"line {seq} could not be written", error) from error
        self._size += len(data)
        self._next += 1

    def _take_back(self) -> None:
        """Cut off a line whose writing failed, and give up the claim, as nobody knows what has reached the disk."""
        with contextlib.suppress(OSError):  # then the next claim finds it half-written, and cuts it off
            os.ftruncate(self._fd, self._size)
        self.close()

    def lines(self) -> Iterator[bytes]:
        """All whole lines; memory holds one at a time."""
        try:
            with self.path.open("rb") as file:
                for line in file:
                    if line.endswith(b"\n"):
                        yield line[:-1]
        except OSError as error:
            raise _failed(self.path, "cannot be read", error) from error

    def last(self) -> bytes | None:
        """The last whole line, found from the end."""
        try:
            with self.path.open("rb") as file:
                return _last_line(file.fileno())[0]
        except OSError as error:
            raise _failed(self.path, "cannot be read", error) from error

    def tail(self) -> bytes:
        """What follows the last newline."""
        try:
            with self.path.open("rb") as file:
                file.seek(_last_line(file.fileno())[1])
                return file.read()
        except OSError as error:
            raise _failed(self.path, "cannot be read", error) from error

    def put(self, content: bytes) -> str:
        """Write content to a file of its own, under another name until it is whole."""
        digest = digest_of(content)
        place = self.folder / digest
        if place.exists():
            return digest
        part = self.folder / f"{digest}.{os.getpid()}.part"
        try:
            self.folder.mkdir(exist_ok=True)
            with part.open("wb") as file:
                file.write(content)
                file.flush()
                if self.durability == "power":
                    _sync(file.fileno())
            part.replace(place)
            if self.durability == "power":
                _sync_folder(self.folder)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise _failed(self.path, f"the content {digest[:12]} could not be written", error) from error
        return digest

    def get(self, digest: str) -> bytes | None:
        """Content from its file."""
        if not is_digest(digest):
            return None
        try:
            return checked((self.folder / digest).read_bytes(), digest, self.name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _failed(self.path, f"the content {digest[:12]} cannot be read", error) from error

    def drop(self, digest: str) -> bool:
        """Delete the file that holds the content."""
        if not is_digest(digest):
            return False
        try:
            (self.folder / digest).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise _failed(self.path, f"the content {digest[:12]} cannot be deleted", error) from error
        return True

    def close(self) -> None:
        """Unlock the file."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def _write(fd: int, data: bytes) -> None:
    done = os.write(fd, data)
    while done < len(data):  # a full disk takes a part first, and says no to the rest
        done += os.write(fd, data[done:])


def _sync(fd: int) -> None:
    if sys.platform == "darwin":  # fsync alone leaves the data in the drive's cache
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(fd)


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _last_line(fd: int) -> tuple[bytes | None, int]:
    """The last whole line, and the offset at which whole lines end."""
    position = os.fstat(fd).st_size
    read = b""
    while position > 0:
        block = min(_BLOCK, position)
        position -= block
        read = os.pread(fd, block, position) + read
        end = read.rfind(b"\n")
        start = read.rfind(b"\n", 0, end) if end >= 0 else -1
        if start >= 0:
            return read[start + 1 : end], position + end + 1
    end = read.rfind(b"\n")
    return (read[:end], end + 1) if end >= 0 else (None, 0)


def _number(path: Path, line: bytes) -> int:
    found = link(line)
    if found.seq < 0:
        raise JournalError(f"{path}: the last line is none of a journal, or was changed; expected its number `seq`")
    return found.seq


def _nth(lines: Iterator[bytes], number: int) -> bytes | None:
    return next((line for count, line in enumerate(lines) if count == number), None)


def _failed(path: Path, what: str, error: OSError) -> JournalError:
    full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
    hint = " (the disk is full, or a limit on file size is reached)" if full else ""
    return JournalError(f"{path}: {what}: {error.strerror or error}{hint}")
