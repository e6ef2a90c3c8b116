"""The record of a run: a chain of lines, each naming the hash of the one before, and content beside it by digest.

`Writer` writes a run of a `Journaled` machine to a `Store` (`FileStore`, `SqliteStore`, `MemoryStore`); `verify` says
whether a journal is whole, open or broken, and where.
"""

from .chain import Link, link, seal
from .file import FileStore
from .journaled import Journaled, listing, tables_of
from .opened import opened
from .records import FORMAT
from .sqlite import SqliteStore, runs_of
from .store import Durability, JournalError, MemoryStore, Store
from .tampering import Why
from .verify import Verdict, Verified, verify
from .writer import Writer

__all__ = [
    "FORMAT",
    "Durability",
    "FileStore",
    "JournalError",
    "Journaled",
    "Link",
    "MemoryStore",
    "SqliteStore",
    "Store",
    "Verdict",
    "Verified",
    "Why",
    "Writer",
    "link",
    "listing",
    "opened",
    "runs_of",
    "seal",
    "tables_of",
    "verify",
]
