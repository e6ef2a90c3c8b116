"""The chain: every line names the hash of the line before it, and ends with its own.

A line is a JSON object with sorted keys (orjson), to which its hash is appended as the last key: the SHA-256 of all
bytes before `,"hash":"`. What was written is what is hashed, so nothing is made canonical again to check it. `seq`
counts the lines from 0; `prev` is the hash of the line before, 64 zeros for the first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import attrs

from ..codec import BadData, load

START = "0" * 64  # what the first line names as the hash before it
_KEY = b',"hash":"'
_END = b'"}'
_SEAL = len(_KEY) + 64 + len(_END)


def seal(body: bytes) -> tuple[bytes, str]:
    """The JSON object with its hash appended, and the hash (hex)."""
    hashed = body[:-1]
    digest = hashlib.sha256(hashed).hexdigest()
    return b"".join((hashed, _KEY, digest.encode(), _END)), digest


@attrs.frozen
class Link:
    """One line as the chain sees it. `record` is None where the line is no JSON object; `seq` -1 where it names none.

    `hash` is what the line says, `sealed` whether that is what its bytes give.
    """

    record: Mapping[str, Any] | None
    seq: int
    prev: str
    hash: str
    sealed: bool

    @property
    def kind(self) -> str:
        """The kind of line; empty where it has none."""
        kind = self.record.get("kind") if self.record else None
        return kind if isinstance(kind, str) else ""


def link(line: bytes) -> Link:
    """The line, read without trusting it."""
    record = _record(line)
    stated = line[-_SEAL + len(_KEY) : -len(_END)]
    shaped = line[-_SEAL : -_SEAL + len(_KEY)] == _KEY and line.endswith(_END)
    sealed = shaped and hashlib.sha256(line[:-_SEAL]).hexdigest().encode() == stated
    seq = record.get("seq") if record else None
    prev = record.get("prev") if record else None
    return Link(
        record,
        seq if isinstance(seq, int) and not isinstance(seq, bool) else -1,
        prev if isinstance(prev, str) else "",
        stated.decode("ascii", "replace") if shaped else "",
        sealed,
    )


def _record(line: bytes) -> Mapping[str, Any] | None:
    try:
        found: Any = load(line)
    except BadData:
        return None
    return found if found.__class__ is dict else None
