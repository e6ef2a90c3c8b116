"""A journal in a file: JSON Lines in `NAME.jsonl`, content beside it in the folder `NAME.content`, a file each.

Notes, mail and lease lie beside it too, see `filed`.

A line is given to the operating system in one write, so that it survives `kill -9`; with durability "power" it is
forced to the disk as well. A line counts once its newline is there. One writer at a time: the file is locked (`flock`)
from `claim` to `close`, which other processes on the same machine see, and on most network file systems other machines.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from ..codec import digest_of
from .chain import link
from .disk import failed, make_folder, replace, sync, sync_folder, write
from .ends import last_line, start_after
from .filed import CONTENT, Beside, stem_of
from .records import looks_like_one
from .store import Durability, JournalError, Overtaken, checked, is_digest, refuse_seq


class FileStore:
    """One run in one file. Nothing is opened before it is needed; reading takes no lock."""

    def __init__(self, path: Path | str, durability: Durability = "process") -> None:
        self.path = Path(path)
        self.durability: Durability = durability
        self.folder = self.path.with_name(stem_of(self.path) + CONTENT)
        self.beside = Beside(self.path, power=durability == "power")
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
            raise failed(self.path, "cannot be opened for writing", error) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if fresh and os.fstat(fd).st_size and (line := last_line(fd)[0]) is not None:
                held = link(line).sealed
                what = "already holds a run" if held else "is no journal"
                raise JournalError(f"{self.path}: {what}, and is left as it is; expected another place")
            if self.durability == "power" and os.fstat(fd).st_size == 0:
                sync_folder(self.path.parent)
            last, self._size = last_line(fd)
            cut = os.pread(fd, os.fstat(fd).st_size - self._size, self._size)
            self._next = 0 if last is None else _number(self.path, last) + 1
            if last is None and cut and not looks_like_one(cut):
                raise JournalError(f"{self.path}: is no journal, and nothing is cut off it")
            if cut:
                os.ftruncate(fd, self._size)
        except BlockingIOError as error:
            os.close(fd)
            raise Overtaken(f"{self.path}: another writer is at work on this run") from error
        except OSError as error:
            os.close(fd)
            raise failed(self.path, "cannot be claimed", error) from error
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
            write(self._fd, data)
            if self.durability == "power":
                sync(self._fd)
        except OSError as error:
            self._take_back()
            raise failed(self.path, f"line {seq} could not be written", error) from error
        self._size += len(data)
        self._next += 1

    def _take_back(self) -> None:
        """Cut off a line whose writing failed, and give up the claim, as nobody knows what has reached the disk."""
        with contextlib.suppress(OSError):  # then the next claim finds it half-written, and cuts it off
            os.ftruncate(self._fd, self._size)
        self.close()

    def lines(self, after: int = -1) -> Iterator[bytes]:
        """The whole lines above `after`, found from the end; memory holds one at a time.

        Where the end does not tell where they begin, a line was changed. Then all are read, and only those that name a
        number up to `after` are left out.
        """
        try:
            with self.path.open("rb") as file:
                start = 0 if after < 0 else start_after(file.fileno(), after)
                file.seek(start or 0)
                for line in file:
                    if line.endswith(b"\n") and not (start is None and 0 <= link(line[:-1]).seq <= after):
                        yield line[:-1]
        except OSError as error:
            raise failed(self.path, "cannot be read", error) from error

    def last(self) -> bytes | None:
        """The last whole line, found from the end; None where there is no file yet, but what lies beside it."""
        try:
            with self.path.open("rb") as file:
                return last_line(file.fileno())[0]
        except FileNotFoundError:
            return None
        except OSError as error:
            raise failed(self.path, "cannot be read", error) from error

    def tail(self) -> bytes:
        """What follows the last newline."""
        try:
            with self.path.open("rb") as file:
                file.seek(last_line(file.fileno())[1])
                return file.read()
        except OSError as error:
            raise failed(self.path, "cannot be read", error) from error

    def put(self, content: bytes) -> str:
        """Write content to a file of its own, under another name until it is whole."""
        digest = digest_of(content)
        place = self.folder / digest
        if place.exists():
            return digest
        try:
            make_folder(self.folder, power=self.durability == "power")
            replace(place, content, power=self.durability == "power")
        except OSError as error:
            raise failed(self.path, f"the content {digest[:12]} could not be written", error) from error
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
            raise failed(self.path, f"the content {digest[:12]} cannot be read", error) from error

    def drop(self, digest: str) -> bool:
        """Delete the file that holds the content."""
        if not is_digest(digest):
            return False
        try:
            (self.folder / digest).unlink()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise failed(self.path, f"the content {digest[:12]} cannot be deleted", error) from error
        return True

    def keep(self, name: str, body: bytes | None) -> None:
        """Replace a note's file."""
        self.beside.keep(name, body)

    def kept(self, name: str) -> bytes | None:
        """A note from its file."""
        return self.beside.kept(name)

    def post(self, id: str, body: bytes) -> bool:
        """Write a letter to a file of its own."""
        return self.beside.post(id, body)

    def mail(self) -> list[tuple[str, bytes]]:
        """The letters by the time that each of them names."""
        return self.beside.mail()

    def unpost(self, id: str) -> None:
        """Delete a letter's file."""
        self.beside.unpost(id)

    def lease(self, holder: str, seconds: float, at: float) -> str | None:
        """Write the lease, unless another has it. The lock of `claim` is another thing, and is not taken."""
        return self.beside.lease(holder, seconds, at)

    def release(self, holder: str) -> None:
        """Empty one's own lease."""
        self.beside.release(holder)

    def close(self) -> None:
        """Unlock the file."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            os.close(fd)


def _number(path: Path, line: bytes) -> int:
    found = link(line)
    if found.seq < 0:
        raise JournalError(f"{path}: the last line is none of a journal, or was changed; expected its number `seq`")
    return found.seq


def _nth(lines: Iterator[bytes], number: int) -> bytes | None:
    return next((line for count, line in enumerate(lines) if count == number), None)
