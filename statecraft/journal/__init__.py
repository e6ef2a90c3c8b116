"""The record of a run: a chain of lines, each naming the hash of the one before, and content beside it by digest.

`Writer` writes a run of a `Journaled` machine to a `Store` (`FileStore`, `SqliteStore`, `MemoryStore`); `verify` says
whether a journal is whole, open or broken, and where; `contents` whether what lies beside it is what it names.
"""

from .chain import Link, link, seal
from .contents import Contents, contents
from .file import FileStore
from .journaled import Journaled, listing, tables_of
from .opened import opened, remove
from .records import FORMAT
from .sqlite import SqliteStore, runs_of
from .store import Durability, JournalError, MemoryStore, Store
from .tampering import Why
from .verify import Verdict, Verified, verify
from .writer import Writer

__all__ = [
    "FORMAT",
    "Contents",
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
    "contents",
    "link",
    "listing",
    "opened",
    "remove",
    "runs_of",
    "seal",
    "tables_of",
    "verify",
]
