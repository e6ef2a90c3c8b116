"""Somebody else's code, awaited so that whatever it raises is a value; and what is said of it.

Cancellation passes through, but a cancelled future of that code's own is a failure like another.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

import anyio
import attrs

T = TypeVar("T")


@attrs.frozen
class Failure:
    """Somebody else's code did not do what it was asked: what it raised, None where its time was up."""

    error: BaseException | None


async def caught(work: Callable[[], Awaitable[T]]) -> T | Failure:
    """Await somebody else's code; what it raises is a value.

    Raises only what is meant for the run itself: a cancellation from outside, and what is no `Exception`. An asyncio
    task that awaits a future which somebody else cancelled gets the same exception as one that is cancelled; it is a
    failure like another where neither a scope around it nor the task itself was cancelled.
    """
    try:
        return await work()
    except anyio.get_cancelled_exc_class() as error:
        if _is_cancelled(error):
            raise
        return Failure(error)
    except Exception as error:  # noqa: BLE001  # whatever somebody else's code raises
        return Failure(first_leaf(error))


async def attempt(work: Callable[[], Awaitable[T]], scope: anyio.CancelScope) -> T | Failure:
    """As `caught`, within a scope that is not entered yet, whose deadline bounds it."""
    value: T | Failure = Failure(None)
    try:
        with scope:
            value = await caught(work)
    except Exception as error:  # noqa: BLE001  # what a group held beside the scope's own cancellation
        value = Failure(first_leaf(error))
    # The scope of a task that never awaited has had no chance to notice the time. Unwinding may raise, or return.
    return Failure(None) if scope.cancel_called or anyio.current_time() >= scope.deadline else value


def first_leaf(error: BaseException) -> BaseException:
    """What a task group of one would have raised: an interrupt or an exit first, a cancellation last."""
    if not isinstance(error, BaseExceptionGroup):
        return error
    leaves = [first_leaf(one) for one in cast("BaseExceptionGroup[BaseException]", error).exceptions]
    cancelled = anyio.get_cancelled_exc_class()

    def order(leaf: BaseException) -> int:
        return 0 if isinstance(leaf, KeyboardInterrupt | SystemExit) else 2 if isinstance(leaf, cancelled) else 1

    return min(leaves, key=order)


def said_of(error: BaseException, *, named: bool = True) -> str:
    """An exception in words, with its type's name; its own words may raise, and then the name is all."""
    name = type(error).__name__
    try:
        words = str(error)
    except Exception:  # noqa: BLE001  # an exception of somebody else's may fail even here
        words = ""
    return words if words and not named else f"{name}: {words}" if words else name


def _is_cancelled(error: BaseException) -> bool:
    """Whether somebody cancelled this task, or a scope around it, which on asyncio cancels its tasks.

    A scope that was cancelled and has not come to its tasks yet does so at their next wait: the exception is not its.
    """
    if not isinstance(error, asyncio.CancelledError):
        return True  # on trio nothing but a scope makes the exception
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
