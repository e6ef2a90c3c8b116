"""Writing to a disk so that what was written is whole: in one piece, or under another name until it is."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
import threading
from pathlib import Path

from .store import JournalError


def write(fd: int, data: bytes) -> None:
    """All of the data, in one write where the disk takes it so."""
    done = os.write(fd, data)
    while done < len(data):  # a full disk takes a part first, and says no to the rest
        done += os.write(fd, data[done:])


def sync(fd: int) -> None:
    """Force a file's data to the disk."""
    if sys.platform == "darwin":  # fsync alone leaves the data in the drive's cache
        fcntl.fcntl(fd, fcntl.F_FULLFSYNC)
    else:
        os.fdatasync(fd)


def sync_folder(folder: Path) -> None:
    """Force a folder's list of names to the disk."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def make_folder(folder: Path, *, power: bool) -> None:
    """Make a folder where there is none."""
    try:
        folder.mkdir()
    except FileExistsError:
        return
    if power:
        sync_folder(folder.parent)


def part_of(place: Path) -> Path:
    """The name under which this thread writes what is to become `place`. A killed process leaves it behind."""
    return place.with_name(f"{place.name}.{os.getpid()}-{threading.get_ident()}.part")


def write_part(place: Path, data: bytes, *, power: bool) -> Path:
    """Write the data beside `place`, to be renamed or linked to it. Nothing is left where that fails."""
    part = part_of(place)
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            if power:
                sync(file.fileno())
    except OSError:
        part.unlink(missing_ok=True)
        raise
    return part


def replace(place: Path, data: bytes, *, power: bool) -> None:
    """Write a file anew: whoever reads it, and whatever is killed meanwhile, finds the old one or the new one."""
    part = write_part(place, data, power=power)
    try:
        part.replace(place)
    except OSError:
        part.unlink(missing_ok=True)
        raise
    if power:
        sync_folder(place.parent)


def failed(path: Path, what: str, error: OSError) -> JournalError:
    """What is raised for an error of the disk."""
    full = error.errno in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
    hint = " (the disk is full, or a limit on file size is reached)" if full else ""
    return JournalError(f"{path}: {what}: {error.strerror or error}{hint}")
