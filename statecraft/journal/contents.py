"""The content beside a chain: is what the lines name there, and is it what was put there?

A line names content by its digest: in any object, a field `digest` that holds a SHA-256 in hex (64 digits). So does
`table` of the first line, whose content is the table's listing, which names those of the inner machines. Content may
be gone, as redaction deletes it; content under a digest that is not its own was changed. Content that no line names (a
text that was kept for an event which was never stepped) is looked at where it lies beside this one journal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeGuard

import attrs

from .chain import link
from .file import FileStore
from .store import JournalError, Store, is_digest


@attrs.frozen
class Contents:
    """How many different contents a journal's lines name, how many of them are gone, and which cannot be trusted.

    `altered` has the digests of those that are there and are not what was put there, or cannot be read.
    """

    named: int
    missing: int
    altered: tuple[str, ...]


def contents(store: Store) -> Contents:
    """Look at all content that the lines name. Memory holds the digests, and one content at a time."""
    seen: set[bytes] = set()
    altered: list[str] = []
    missing = 0
    for digest in _named(store):
        if (short := bytes.fromhex(digest)) in seen:
            continue
        seen.add(short)
        try:
            missing += store.get(digest) is None
        except JournalError:
            altered.append(digest)
    for digest in _lying(store):
        if bytes.fromhex(digest) not in seen:
            try:
                store.get(digest)
            except JournalError:
                altered.append(digest)
    return Contents(len(seen), missing, tuple(altered))


def _lying(store: Store) -> list[str]:
    """The digests of all content that lies beside a journal in a file; in SQLite it belongs to no run."""
    folder = store.folder if isinstance(store, FileStore) else None
    names = [path.name for path in folder.iterdir()] if folder is not None and folder.is_dir() else []
    return sorted(name for name in names if is_digest(name))


def _named(store: Store) -> Iterator[str]:
    for number, line in enumerate(store.lines()):
        record = link(line).record or {}
        if number == 0:
            yield from _listings(store, record.get("table"))
        yield from digests(record)


def digests(record: Mapping[str, Any]) -> Iterator[str]:
    """The digests of content that a line names."""
    todo: list[Any] = [record]
    while todo:
        here = todo.pop()
        if _is_object(here):
            named = here.get("digest")
            if isinstance(named, str) and is_digest(named):
                yield named
            todo.extend(here.values())
        elif _is_list(here):
            todo.extend(here)


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _listings(store: Store, digest: object) -> Iterator[str]:
    """The listing of the table, and those of its inner machines: a line `inner NAME ... DIGEST` names each."""
    if not isinstance(digest, str) or not is_digest(digest):
        return
    yield digest
    try:
        listing = store.get(digest) or b""
    except JournalError:
        return
    for line in listing.decode("utf-8", "replace").split("\n"):
        if line.startswith("inner "):
            yield from _listings(store, line.rpartition(" ")[2])
