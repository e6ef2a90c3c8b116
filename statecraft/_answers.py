"""What a guard or a reading may answer, looked at as it answers: what a journal can keep and give back the same.

A float may be infinite or no number: a limit that is off is a value like any other, and the codec keeps both exactly.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from ._given import said
from .guards import Evidence, Reading, Scalar

_PLAIN = frozenset((str, int, float, bool, type(None)))
_COUNTS = ("now", "nudge", "stop", "most")


def is_evidence(found: Any) -> TypeGuard[Evidence]:
    """Whether it is plainly evidence that can be kept; where it is not, `wrong` has the last word."""
    if found.__class__ is not Evidence or found.holds.__class__ is not bool:
        return False
    for value in found.seen.values():  # noqa: SIM110  # a generator costs twice as much
        if value.__class__ not in _PLAIN:
            return False
    return True


def is_reading(found: Any) -> TypeGuard[Reading]:
    """The same of a reading."""
    if found.__class__ is not Reading:
        return False
    if not (found.now.__class__ is found.nudge.__class__ is found.stop.__class__ is found.most.__class__ is int):
        return False
    for value in found.seen.values():  # noqa: SIM110  # the same
        if value.__class__ not in _PLAIN:
            return False
    return True


def wrong(found: Any, wanted: type[Evidence] | type[Reading]) -> str:
    """What is wrong with an answer that has to be evidence, or a reading; empty where nothing is."""
    if found.__class__ is not wanted:
        return f"answered {type(found).__name__}, expected {wanted.__name__}"
    if isinstance(found, Reading):
        for key in _COUNTS:
            count: object = getattr(found, key)
            if not isinstance(count, int) or count.__class__ is bool:
                return f"answered {key}={said(count)}, expected an integer"
    elif found.holds.__class__ is not bool:
        return f"answered with {said(found.holds)} for whether it holds, expected True or False"
    for key, value in found.seen.items():
        if not isinstance(value, Scalar):  # an enum that is text is text
            return f"saw {key}, {said(value)}; expected text, a number, True, False or None"
    return ""
