"""Whether a text that is no JSON was cut off: it is the beginning of some JSON object, and not the whole of one.

A call whose arguments were cut off may have been meant to say anything; one that is garbled in the middle is wrong as
it stands. The text is scanned once, and then closed in the few ways in which it can go on from where it stopped. This
says what happened to a text. It never makes arguments of one: what was cut off is not known.
"""

from __future__ import annotations

from typing import Final

from .canonical import loads

_CLOSES: Final = {"{": "}", "[": "]"}

_GOES_ON: Final = ("", "null", ":null", '"":null')
"""What may stand between the end of the text and the brackets that close it: nothing, a value, a pair's second half."""

_LITERALS: Final = ("true", "false", "null")

_OF_NUMBERS: Final = frozenset("+-.0123456789eE")


def is_cut_off(text: str) -> bool:
    """Whether the text is the proper beginning of a JSON object. Takes time in proportion to its length."""
    if not text.lstrip().startswith("{"):
        return False
    open_: list[str] = []
    in_string = escaped = False
    for letter in text:
        if in_string:
            if escaped:
                escaped = False
            elif letter == "\\":
                escaped = True
            elif letter == '"':
                in_string = False
        elif letter == '"':
            in_string = True
        elif letter in _CLOSES:
            open_.append(letter)
        elif letter in "}]":
            if not open_ or _CLOSES[open_.pop()] != letter:
                return False
            if not open_:
                return False  # the object is whole, and what follows it is not of it
    if not open_:
        return False
    end = "".join(_CLOSES[bracket] for bracket in reversed(open_))
    word = "" if in_string else _half_a_word(text)
    if word:
        return _is_json(text[: -len(word)] + "null" + end)
    stem = _without_half_an_escape(text) + '"' if in_string else text
    return any(_is_json(stem + more + end) for more in _GOES_ON)


def _without_half_an_escape(text: str) -> str:
    """The beginning of a string without an escape that has no end."""
    at = text.rfind("\\", max(0, len(text) - 5))
    if at < 0:
        return text
    before = at - len(text[:at].rstrip("\\")) if at else 0
    whole = before % 2 == 1  # it is itself escaped
    rest = text[at + 1 :]
    half = not rest or (rest[0] == "u" and len(rest) < 5)
    return text[:at] if half and not whole else text


def _half_a_word(text: str) -> str:
    """The literal or number at the end of the text, which may go on; empty where there is none."""
    word = text[len(text.rstrip("+-.0123456789eEaflnrstu")) :]
    begins = any(literal.startswith(word) for literal in _LITERALS) or set(word) <= _OF_NUMBERS
    return word if begins else ""


def _is_json(text: str) -> bool:
    try:
        loads(text)
    except (ValueError, RecursionError):
        return False
    return True
