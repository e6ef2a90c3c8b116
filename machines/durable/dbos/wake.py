"""A wake: why a run is to be driven, in a word that two who ask for the same share. A burst's row is named by it.

`12` is the wake of a run whose journal has twelve lines: its beginning (`0`), the end of a wait, a crash. `12.3` is its
third repetition, `letter-...` that of a letter, and `look-...` that of a look over all runs. What is asked for twice is
one row, so a wake that may have been lost can be asked for again at any time.
"""

from __future__ import annotations

import hashlib


def of_lines(lines: int) -> str:
    """The wake of a run whose journal has so many lines."""
    return str(lines)


def of_letter(id: str) -> str:
    """The wake of a letter by its id, which may be any text."""
    return f"letter-{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def of_look(now: float, every: float) -> str:
    """The wake of a look over all runs, the same for all who look within so many seconds.

    A run that was given up has a row of each name that it was woken by; this one is new.
    """
    return f"look-{int(now // max(every, 1.0))}"


def once(wake: str) -> str:
    """The wake without its repetitions."""
    return wake.partition(".")[0]


def times(wake: str) -> int:
    """How often it has been repeated."""
    return int(wake.partition(".")[2] or 0)


def again(wake: str) -> str:
    """The same wake once more, in a row of its own."""
    return f"{once(wake)}.{times(wake) + 1}"
