"""The record of a run: a chain of lines, each naming the hash of the one before, and content beside it by digest.

`Writer` writes a run of a `Journaled` machine to a `Store` (`FileStore`, `SqliteStore`, `MemoryStore`); `verify` says
whether a journal is whole, open or broken, and where; `contents` whether what lies beside it is what it names. A
`Shelf` is where many runs lie (`shelf_at`); `postgres` has the one in PostgreSQL.
"""

from .chain import Link, link, seal
from .contents import Contents, contents
from .file import FileStore
from .journaled import Journaled, listing, tables_of
from .memory import MemoryShelf, MemoryStore
from .opened import opened, remove
from .records import FORMAT
from .shelf import FolderShelf, Shelf, SqliteShelf, shelf_at
from .sqlite import SqliteStore
from .sqlite_file import DATABASES, runs_of
from .store import Durability, JournalError, Overtaken, Store
from .tampering import Why
from .verify import Verdict, Verified, verify
from .writer import Writer

__all__ = [
    "DATABASES",
    "FORMAT",
    "Contents",
    "Durability",
    "FileStore",
    "FolderShelf",
    "JournalError",
    "Journaled",
    "Link",
    "MemoryShelf",
    "MemoryStore",
    "Overtaken",
    "Shelf",
    "SqliteShelf",
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
    "shelf_at",
    "tables_of",
    "verify",
]
