"""The lease of a run in a shared place: while a process drives it, no other one does.

The chain alone keeps two writers apart; a lease keeps the second from ending what the first has under way. It is
renewed as long as the run is driven. One whose process is gone from this machine is free at once, any other when it
runs out.
A file is locked by its journal itself, and memory is nobody else's.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from socket import gethostname
from typing import Final, TypeVar
from uuid import uuid4

import anyio
import attrs

from statecraft.journal import FileStore, JournalError, MemoryStore, Store

from .attempts import first_leaf

T = TypeVar("T")

LEASE_SECONDS: Final = 20.0
"""How long a lease holds that is not renewed: a dead worker's runs are free within it."""

RENEWED_SECONDS: Final = 6.0
"""How often it is renewed."""


def new_holder() -> str:
    """A name for this process at work on one run, of which there is no other."""
    return f"{gethostname()}/{os.getpid()}/{uuid4().hex[:12]}"


async def leased(store: Store, holder: str, clock: Callable[[], float], work: Callable[[], Awaitable[T]]) -> T:
    """Do the work while the run is leased. Raises `JournalError` where somebody else is at work on it."""
    if isinstance(store, MemoryStore | FileStore):
        return await work()
    _lease(store, holder, clock())
    done: list[T] = []
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_renew, store, holder, clock)
            done.append(await work())
            group.cancel_scope.cancel()
    except BaseExceptionGroup as error:
        raise first_leaf(error) from None  # as the work alone raises it
    finally:
        store.release(holder)
    return done[0]


def _lease(store: Store, holder: str, at: float) -> None:
    other = store.lease(holder, LEASE_SECONDS, at)
    if other is not None and Leased(other).gone:
        store.release(other)
        other = store.lease(holder, LEASE_SECONDS, at)
    if other is not None:
        raise JournalError(f"{store.name}: another process is at work on this run: {other}")


@attrs.frozen
class Leased:
    """Who holds a lease, by its name."""

    holder: str

    @property
    def own(self) -> bool:
        """Whether it is this process."""
        return self.holder.startswith(f"{gethostname()}/{os.getpid()}/")

    @property
    def gone(self) -> bool:
        """Whether the process was on this machine, and is no longer."""
        machine, _, rest = self.holder.partition("/")
        number = rest.partition("/")[0]
        if machine != gethostname() or not number.isdecimal():
            return False
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return True
        except OSError:  # it is there, and somebody else's
            return False
        return False


async def _renew(store: Store, holder: str, clock: Callable[[], float]) -> None:
    while True:
        await anyio.sleep(RENEWED_SECONDS)
        store.lease(holder, LEASE_SECONDS, clock())
