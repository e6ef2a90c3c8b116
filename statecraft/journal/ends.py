"""The end of a journal's file, found from its end: what it costs does not grow with what stands before."""

from __future__ import annotations

import os

from .chain import link

BLOCK = 1 << 16  # bytes that are read at once


def last_line(fd: int) -> tuple[bytes | None, int]:
    """The last whole line, and the offset at which whole lines end."""
    position = os.fstat(fd).st_size
    read = b""
    while position > 0:
        block = min(BLOCK, position)
        position -= block
        read = os.pread(fd, block, position) + read
        end = read.rfind(b"\n")
        start = read.rfind(b"\n", 0, end) if end >= 0 else -1
        if start >= 0:
            return read[start + 1 : end], position + end + 1
    end = read.rfind(b"\n")
    return (read[:end], end + 1) if end >= 0 else (None, 0)


def start_after(fd: int, after: int) -> int | None:
    """The offset of the line that follows the one numbered `after`; None where it cannot be told from the end.

    As many lines are counted back as the last line's number asks for, and the two lines between which that leads must
    have the numbers that belong there. Where they have not, some line is missing, doubled or changed.
    """
    last, end = last_line(fd)
    number = -1 if last is None else link(last).seq
    if number == after:
        return end
    if number < after:  # also where the last line names no number
        return None
    before = _newline_before(fd, end - 1, number - after)  # the newline of the line numbered `after`
    if before < 0:
        return None
    begin = _newline_before(fd, before, 1) + 1
    follows = os.pread(fd, _line_end(fd, before + 1) - before - 1, before + 1)
    here = os.pread(fd, before - begin, begin)
    return before + 1 if (link(here).seq, link(follows).seq) == (after, after + 1) else None


def _newline_before(fd: int, position: int, count: int) -> int:
    """The offset of the newline that is the `count`-th before `position`; -1 where there are fewer."""
    while position > 0:
        size = min(BLOCK, position)
        position -= size
        block = os.pread(fd, size, position)
        there = block.count(b"\n")
        if there < count:
            count -= there
            continue
        found = len(block)
        for _ in range(count):
            found = block.rfind(b"\n", 0, found)
        return position + found
    return -1


def _line_end(fd: int, position: int) -> int:
    """The offset of the first newline from `position` on, which there is."""
    while True:
        block = os.pread(fd, BLOCK, position)
        found = block.find(b"\n")
        if found >= 0 or not block:
            return position + max(found, 0)
        position += len(block)
