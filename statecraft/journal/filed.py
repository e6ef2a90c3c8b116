"""What lies beside a journal in a file: notes in `NAME.notes`, mail in `NAME.mail`, and the lease, `NAME.lease`.

A note is a file, written anew under another name. A letter is a file too, called after the digest of its id, which
holds when it came, the id and the body; it is written under another name and then linked, which of two that write the
same id only one can do. The lease is one line, until when and whose, changed under a lock on its file.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TypeVar

import attrs

from ..codec import digest_of
from .beside import checked_holder, checked_note, letter_id, letter_key
from .disk import failed, make_folder, replace, sync, sync_folder, write_part
from .store import JournalError, is_digest

T = TypeVar("T")

NOTES, MAIL, LEASE, CONTENT = ".notes", ".mail", ".lease", ".content"

_LETTER = re.compile(rb"(\d+) (\d+)\n", re.ASCII)  # when it came, in nanoseconds, and the bytes of its id, which follow
_LEASE_MOST = 1 << 12  # bytes; a lease is one line of less


def stem_of(path: Path) -> str:
    """What the names of all that lies beside a journal begin with."""
    return path.name.removesuffix(".jsonl")


@attrs.frozen
class Beside:
    """Notes, mail and lease of the journal at `path`. `power`: each is forced to the disk."""

    path: Path
    power: bool

    def keep(self, name: str, body: bytes | None) -> None:
        """Replace a note."""
        place = self._at(NOTES) / checked_note(name)
        with self._at_work(f"the note {name} could not be kept"):
            if body is None:
                place.unlink(missing_ok=True)
            else:
                make_folder(place.parent, power=self.power)
                replace(place, body, power=self.power)

    def kept(self, name: str) -> bytes | None:
        """A note."""
        place = self._at(NOTES) / checked_note(name)
        with self._at_work(f"the note {name} cannot be read"):
            return _found(place.read_bytes)

    def post(self, id: str, body: bytes) -> bool:
        """Write a letter. The folder is there while there is mail, and may be taken away just now."""
        key = letter_key(id)
        place = self._at(MAIL) / digest_of(key)
        letter = b"%d %d\n%b%b" % (time.time_ns(), len(key), key, body)
        with self._at_work("a letter could not be written"):
            while True:
                if place.exists():
                    return False
                make_folder(place.parent, power=self.power)
                with contextlib.suppress(FileNotFoundError):
                    return self._delivered(place, letter)

    def _delivered(self, place: Path, letter: bytes) -> bool:
        part = write_part(place, letter, power=self.power)
        try:
            os.link(part, place)
            if self.power:
                sync_folder(place.parent)
        except FileExistsError:
            return False
        finally:
            part.unlink(missing_ok=True)
        return True

    def mail(self) -> list[tuple[str, bytes]]:
        """All letters. One that is not as it was written is an error, as nobody can say what it asked for."""
        with self._at_work("the mail cannot be read"):
            places = letters_in(self._at(MAIL))
            found = [_letter(place, text) for place in places if (text := _found(place.read_bytes)) is not None]
        return [(letter_id(key), body) for _, key, body in sorted(found)]

    def unpost(self, id: str) -> None:
        """Delete a letter, and with the last one the folder."""
        place = self._at(MAIL) / digest_of(letter_key(id))
        with self._at_work("a letter could not be taken away"):
            place.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # there are others
            place.parent.rmdir()

    def lease(self, holder: str, seconds: float, at: float) -> str | None:
        """Write who has the run, and until when."""
        checked_holder(holder, seconds)
        with self._at_work("cannot be leased"), _locked(self._at(LEASE)) as fd:
            has = _lease(fd)
            if has is not None and has[1] != holder and has[0] > at:
                return has[1]
            _write_lease(fd, f"{at + seconds!r} {holder}\n".encode(), power=self.power)
        return None

    def release(self, holder: str) -> None:
        """Empty the file, which stays, as others may be waiting for its lock."""
        checked_holder(holder)
        if not self._at(LEASE).exists():
            return
        with self._at_work("its lease cannot be given up"), _locked(self._at(LEASE)) as fd:
            has = _lease(fd)
            if has is not None and has[1] == holder:
                _write_lease(fd, b"", power=self.power)

    def remove(self) -> None:
        """Delete all that lies beside the journal, with its content."""
        for ending in (CONTENT, NOTES, MAIL):
            shutil.rmtree(self._at(ending), ignore_errors=True)
        self._at(LEASE).unlink(missing_ok=True)

    def _at(self, ending: str) -> Path:
        return self.path.with_name(stem_of(self.path) + ending)

    @contextlib.contextmanager
    def _at_work(self, what: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise failed(self.path, what, error) from error


def letters_in(folder: Path) -> list[Path]:
    """The files of whole letters; none where there is no such folder."""
    try:
        return [Path(entry.path) for entry in os.scandir(folder) if is_digest(entry.name)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise failed(folder, "is no folder of letters, or cannot be read", error) from error


def _letter(place: Path, text: bytes) -> tuple[int, bytes, bytes]:
    head = _LETTER.match(text)
    end = head.end() + int(head[2]) if head else 0
    if not head or digest_of(text[head.end() : end]) != place.name:
        raise JournalError(f"{place}: is not the letter that was written there")
    return int(head[1]), text[head.end() : end], text[end:]


@contextlib.contextmanager
def _locked(place: Path) -> Generator[int]:
    fd = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield fd
    finally:
        os.close(fd)


def _lease(fd: int) -> tuple[float, str] | None:
    """Until when, and whose. None also for what cannot be read: only a loss of power leaves that, and no holder."""
    line, newline, _ = os.pread(fd, _LEASE_MOST, 0).partition(b"\n")
    until, _, holder = line.decode("utf-8", "replace").partition(" ")
    try:
        return (float(until), holder) if newline else None
    except ValueError:
        return None


def _write_lease(fd: int, line: bytes, *, power: bool) -> None:
    """In one write, which is whole or not there at a kill; what is left of a longer one stands behind its newline."""
    if line:
        os.pwrite(fd, line, 0)
    os.ftruncate(fd, len(line))
    if power:
        sync(fd)


def _found(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except FileNotFoundError:
        return None
