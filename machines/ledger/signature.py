"""The signature of a call: which tool was called with what."""

from __future__ import annotations

from .canonical import short_digest, spelling_of_text


def signature(tool: str, args: str) -> bytes:
    """8 bytes that are the same for two calls of `tool` whose arguments say the same.

    `args` is the text that was received. Where it is JSON, key order, white space and the form of numbers do not
    matter; where it is not, the text itself counts, and never equals JSON. Any string is taken; nothing is raised.
    """
    name = tool.encode("utf-8", "surrogatepass")
    try:
        return short_digest(b"j" + spelling_of_text(args) + b"\0" + name)  # a spelling holds no NUL
    except ValueError:
        raw = args.encode("utf-8", "surrogatepass")
        return short_digest(b"t%d:" % len(raw) + raw + name)
