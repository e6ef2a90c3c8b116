"""Searches in several processes, each from another start: a search is work for one core, and starts know no others.

A process loads what is searched by its name, as the command does, and answers what it found as text and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from queue import Empty
from signal import SIG_IGN, SIGINT, signal
from typing import Any

from ..proofs import Progress, Search, explore
from .loading import load
from .running import BadInput
from .searching import Walked, searched

SECONDS = 0.5
"""Between two looks at how far the processes have come."""

_told: Any = None


def apart(
    target: str, searches: Sequence[Search[Any, Any]], states: int, jobs: int, tell: Callable[[Progress], None] | None
) -> Iterator[Walked]:
    """The searches of the target, in the order of their starts, by `jobs` processes. They share `states`."""
    starts = [(number, start) for number, search in enumerate(searches) for start in search.starts]
    todo = list(enumerate(starts))
    found: dict[int, Walked] = {}
    running: dict[Future[Walked], tuple[int, int]] = {}
    left = states
    context = get_context("spawn")
    heard = context.Queue()
    with ProcessPoolExecutor(min(jobs, len(starts)), context, _begin, (heard,)) as pool, _ended_with_us():
        while todo or running:
            while todo and len(running) < jobs:
                place, (number, start) = todo.pop(0)
                share = max(1, left // (len(todo) + 1))
                left -= share
                running[pool.submit(_explored, target, number, start, share)] = place, share
            done, _ = wait(running, SECONDS, FIRST_COMPLETED)
            for one in done:
                place, share = running.pop(one)
                found[place] = one.result()
                left += max(0, share - found[place].size)
            _hear(heard, tell)
    yield from (found[place] for place in range(len(starts)))


@contextmanager
def _ended_with_us() -> Generator[None]:
    """Whatever ends the block ends the processes: they would be waited for else, however long they search."""
    try:
        yield
    except BaseException as error:
        for process in active_children():
            process.terminate()
        if isinstance(error, BrokenProcessPool):
            raise BadInput("--jobs: a process that searched was ended from outside; expected memory for all") from error
        raise


def _begin(heard: Any) -> None:
    global _told  # what a process of the pool is given when it begins
    _told = heard
    signal(SIGINT, SIG_IGN)  # a terminal sends it to all of them, and the first one tells what happened


def _explored(target: str, number: int, start: str, states: int) -> Walked:
    search = load(target).searches[number]
    return searched(search, explore(search, start, states=states, tell=_told.put))


def _hear(heard: Any, tell: Callable[[Progress], None] | None) -> None:
    try:
        while True:
            now = heard.get_nowait()
            if tell is not None:
                tell(now)
    except Empty:
        return
