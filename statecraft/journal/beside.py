"""What names may be given to what lies beside a journal, and to the runs of a shelf: the same ones everywhere.

So what one kind of store takes, every kind does, and a run can be carried from one to another.
"""

from __future__ import annotations

import re

LONGEST = 200  # characters of an id, a holder, or a run's name

_NOTE = re.compile("[a-z_]+")


def checked_note(name: str) -> str:
    """A note's name."""
    if not _NOTE.fullmatch(name):
        raise ValueError(f"a note's name: found {name[:LONGEST]!r}, expected letters a to z and _")
    return name


def letter_key(id: str) -> bytes:
    """A letter's id as bytes, which no two ids share. Any text is one, with NUL and lone surrogates as well."""
    if not 1 <= len(id) <= LONGEST:
        raise ValueError(f"a letter's id: found {len(id)} characters, expected 1 to {LONGEST}")
    return id.encode("utf-8", "surrogatepass")


def letter_id(key: bytes) -> str:
    """The id that the bytes are of."""
    return key.decode("utf-8", "surrogatepass")


def checked_holder(holder: str, seconds: float = 1.0) -> str:
    """Who leases, and for how long."""
    if not (1 <= len(holder) <= LONGEST and holder.isprintable()):
        raise ValueError(f"who holds a lease: found {holder[:LONGEST]!r}, expected 1 to {LONGEST} printable characters")
    if not seconds > 0:
        raise ValueError(f"a lease: found {seconds} seconds, expected more than 0")
    return holder


def is_run(name: str) -> bool:
    """Whether every shelf can call a run so: as a file, and as text in any database."""
    return 1 <= len(name) <= LONGEST and name.isprintable() and "/" not in name and not name.startswith(".")


def checked_run(name: str) -> str:
    """A run's name on a shelf."""
    if not is_run(name):
        raise ValueError(
            f"a run's name: found {name[:LONGEST]!r}, expected 1 to {LONGEST} printable characters without /, "
            "and no dot before them"
        )
    return name
