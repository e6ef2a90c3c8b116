"""Hears every step of every table while a block runs.

`Table.step` is replaced on the class for as long as the block lasts and put back after it, so that a program which
records nothing pays nothing. A step that is taken inside another one (an inner machine's) is told by the outer step
alone. Steps taken in other processes are not heard.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ..heard import AnyTable
from ..step import Answer
from ..table import Table

_STEP = Table[Any, Any, Any, Any].step  # as it is while nobody hears: only this module replaces it
Hear = Callable[[AnyTable, object, Answer[Any, Any]], None]
Listen = Callable[[AnyTable, Any, object, Answer[Any, Any]], None]


def recording(hear: Hear) -> AbstractContextManager[None]:
    """While the block runs, `hear` is told (table, event, answer) of every step, one at a time in every thread."""
    return listening(lambda table, run, event, answer: hear(table, event, answer))


@contextmanager
def listening(listen: Listen) -> Generator[None]:
    """As `recording`, and told (table, run, event, answer): the run is the one before the step.

    What is stepped by the listener itself is not heard.
    """
    original = Table[Any, Any, Any, Any].step
    here = threading.local()
    one_at_a_time = threading.Lock()

    def step(table: AnyTable, run: Any, event: Any) -> Answer[Any, Any]:
        if getattr(here, "within", False):
            return original(table, run, event)
        here.within = True
        try:
            answer = original(table, run, event)
            with one_at_a_time:
                listen(table, run, event, answer)
        finally:
            here.within = False
        return answer

    _put(step)
    try:
        yield
    finally:
        _put(original)


@contextmanager
def unheard() -> Generator[None]:
    """While the block runs nobody is told of any step, whoever records around it."""
    heard = Table[Any, Any, Any, Any].step
    _put(_STEP)
    try:
        yield
    finally:
        _put(heard)


def _put(step: Callable[[AnyTable, Any, Any], Answer[Any, Any]]) -> None:
    setattr(Table, "step", step)  # noqa: B010  # type checkers refuse to see a method assigned
