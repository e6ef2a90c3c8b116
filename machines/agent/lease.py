"""The lease of a run in a shared place: while a process drives it, no other one does.

The chain alone keeps two writers apart; a lease keeps the second from ending what the first has under way. It is
renewed as long as the run is driven. One whose process is gone from this machine is free at once, any other when it
runs out. Whoever finds that somebody else has it now stops, and leaves the run as it stands. A file is locked by its
journal itself, and memory is nobody else's.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from socket import gethostname
from typing import Final, TypeVar
from uuid import uuid4

import anyio
import attrs

from statecraft.journal import FileStore, JournalError, MemoryStore, Overtaken, Store

from .attempts import first_leaf

T = TypeVar("T")

_LOG: Final = logging.getLogger("machines.agent")

LEASE_SECONDS: Final = 20.0
"""How long a lease holds that is not renewed: a dead worker's runs are free within it."""

RENEWED_SECONDS: Final = 6.0
"""How often it is renewed."""


def new_holder() -> str:
    """A name for this process at work on one run, of which there is no other."""
    return f"{_machine(gethostname())}/{os.getpid()}/{uuid4().hex[:12]}"


@cache
def _machine(host: str) -> str:
    """Where a process number means a process: this boot of the machine, and the space of numbers that this one is in.

    Two containers may have one host name, and each its own process 1.
    """
    boot = space = ""
    with suppress(OSError):  # not Linux
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
        space = str(Path("/proc/self/ns/pid").stat().st_ino)
    return ":".join(part for part in (host, boot, space) if part)


async def leased(
    store: Store,
    holder: str,
    clock: Callable[[], float],
    work: Callable[[], Awaitable[T]],
    lost: Callable[[], object],
) -> T:
    """Do the work while the run is leased. Raises `Overtaken` where somebody else is at work on it, or is now.

    `lost` is told before the work is broken off, so that it leaves the run as it stands.
    """
    if isinstance(store, MemoryStore | FileStore):
        return await work()
    _lease(store, holder, clock())
    done: list[T] = []
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(_renew, store, holder, clock, lost)
            done.append(await work())
            group.cancel_scope.cancel()
    except BaseExceptionGroup as error:
        raise _own(error) from None  # as the work alone raises it
    finally:
        with suppress(JournalError):  # then it runs out by itself
            store.release(holder)
        store.close()
    return done[0]


def _lease(store: Store, holder: str, at: float) -> None:
    other = store.lease(holder, LEASE_SECONDS, at)
    if other is not None and Leased(other).gone:
        store.release(other)
        other = store.lease(holder, LEASE_SECONDS, at)
    if other is not None:
        raise Overtaken(f"{store.name}: another process is at work on this run: {other}")


def _own(error: BaseExceptionGroup[BaseException]) -> BaseException:
    """What ended the work: that the lease was lost, before what came of that."""
    lost = error.subgroup(Overtaken)
    return first_leaf(error if lost is None else lost)


@attrs.frozen
class Leased:
    """Who holds a lease, by its name."""

    holder: str

    @property
    def own(self) -> bool:
        """Whether it is this process."""
        return self.holder.startswith(f"{_machine(gethostname())}/{os.getpid()}/")

    @property
    def gone(self) -> bool:
        """Whether the process was on this machine, and is no longer."""
        machine, _, rest = self.holder.partition("/")
        number = rest.partition("/")[0]
        if machine != _machine(gethostname()) or not number.isdecimal():
            return False
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            return True
        except (OSError, OverflowError, ValueError):  # it is there, and somebody else's; or no number of a process
            return False
        return False


async def _renew(store: Store, holder: str, clock: Callable[[], float], lost: Callable[[], object]) -> None:
    """Renew the lease, again and again; a place that is away for a moment is asked again while the lease holds."""
    until = clock() + LEASE_SECONDS
    pause = RENEWED_SECONDS
    while True:
        await anyio.sleep(pause)
        pause = RENEWED_SECONDS
        try:
            other = store.lease(holder, LEASE_SECONDS, clock())
        except JournalError as error:
            if clock() >= until:
                lost()
                raise
            _LOG.warning("the lease of a run was not renewed, and is tried again: %s", error)
            pause = 1.0
            continue
        if other is not None:
            lost()
            raise Overtaken(f"{store.name}: another process has taken this run over: {other}")
        until = clock() + LEASE_SECONDS
