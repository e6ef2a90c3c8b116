"""The digest of a tool's answer: whether it says anything that the last ones did not."""

from __future__ import annotations

from collections.abc import Sequence

from .canonical import short_digest, spelling
from .strip import strip


def result_digest(value: object, error: str | None, volatile: Sequence[str] = (), keep: Sequence[str] = ()) -> bytes:
    """8 bytes that are the same for two answers of a tool that say the same, volatile parts aside.

    `value` is any JSON value, or the text of one; `error` is the class of the error, None for a success. `volatile` and
    `keep` are as in `strip`. A text that is no JSON object or array never equals another kind of value.
    """
    stripped = strip(value, volatile, keep)
    said = b"t" + stripped.encode("utf-8", "surrogatepass") if isinstance(stripped, str) else b"j" + spelling(stripped)
    if error is None:
        return short_digest(b"+" + said)
    kind = error.encode("utf-8", "surrogatepass")
    return short_digest(b"-%d:%b" % (len(kind), kind) + said)
