"""A script, and where each run that plays it stands."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence

import attrs

from .moves import Move, Refuse
from .received import Received

Script = Sequence[Move] | Callable[[Received], Move]
"""Moves in order, or a function of the request. A function may be called from several threads at once."""


def by_run(scripts: Mapping[str, Script]) -> Script:
    """A script in which each run has its own, by its name."""

    def move(received: Received) -> Move:
        script = scripts.get(received.run)
        return Refuse(404, f"the script has no run {received.run!r}") if script is None else move_of(script, received)

    return move


def move_of(script: Script, received: Received) -> Move:
    """What the script does with a request. One that is spent refuses for good."""
    if callable(script):
        return script(received)
    if received.number < len(script):
        return script[received.number]
    return Refuse(410, f"the script of run {received.run!r} is spent after {len(script)} moves")


@attrs.define(eq=False)
class Stage:
    """The runs that play a script side by side, each from its start: what each has asked, and how far it is.

    The last `keep` requests of a run are kept, None keeps all.
    """

    script: Script
    keep: int | None = None
    errors: list[Exception] = attrs.field(factory=list[Exception], init=False)
    _runs: dict[str, deque[Received]] = attrs.field(factory=dict[str, "deque[Received]"], init=False)
    _asked: dict[str, int] = attrs.field(factory=dict[str, int], init=False)
    _calls: dict[str, int] = attrs.field(factory=dict[str, int], init=False)
    _lock: threading.Lock = attrs.field(factory=threading.Lock, init=False)

    def enter(self, received: Received) -> Received:
        """Count and keep a request."""
        with self._lock:
            number = self._asked.get(received.run, 0)
            self._asked[received.run] = number + 1
            received = attrs.evolve(received, number=number)
            self._runs.setdefault(received.run, deque(maxlen=self.keep)).append(received)
            return received

    def move(self, received: Received) -> Move:
        """The next move of a run. A script that raises refuses, and the exception is kept."""
        try:
            return move_of(self.script, received)
        except Exception as error:  # noqa: BLE001  # a script is the user's, and its errors belong to the user's thread
            self.errors.append(error)
            return Refuse(500, f"the script raised {type(error).__name__}: {error}")

    def ids(self, run: str, count: int) -> list[str]:
        """Ids for so many calls, numbered through the run."""
        with self._lock:
            first = self._calls.get(run, 0) + 1
            self._calls[run] = first + count - 1
        return [f"call_{number}" for number in range(first, first + count)]

    def requests(self, run: str | None = None) -> tuple[Received, ...]:
        """The requests that were kept, of one run or of all, each run's in order."""
        with self._lock:
            runs = sorted(self._runs) if run is None else [run]
            return tuple(received for name in runs for received in self._runs.get(name, ()))
