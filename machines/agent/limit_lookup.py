"""Asking a provider what its model takes: once a process for each endpoint and model, and never for long.

Nothing here starts a task of its own. `look_up` asks the provider; `limits_for` does so only where a number would else
be a guess. A host that has a task group starts `look_up` in it where `can_look_up` says so: the table's numbers hold
until the provider's have come.
"""

from __future__ import annotations

import inspect
import logging
from typing import Any, Final

import anyio
import anyio.lowlevel
import attrs

from .attempts import Failure, attempt
from .limits import KnownLimits, LimitSource, ModelLimits, chain_of, key_of, limits_now, memory
from .wire import Provider

SECONDS: Final = 5.0
"""The time that a provider's own lookup may take; after it the model counts as one that the provider does not know."""

_LOG: Final = logging.getLogger("machines.agent")


@attrs.define(eq=False)
class _Asking:
    """A lookup that is out: who else wants it waits for `over`, in the same event loop (`loop`) alone."""

    loop: object
    over: anyio.Event


def can_look_up(provider: Provider) -> bool:
    """Whether `look_up` may make a number better: the provider has a lookup that nobody has asked yet.

    Not where both numbers were registered or learned: they hold whatever the provider says. Of a chain, whether it may
    for one of its providers.
    """
    if chain := chain_of(provider):
        return any(can_look_up(one) for one in chain)
    if not callable(getattr(provider, "model_limits", None)):
        return False
    known = limits_now(provider)
    if {known.window_from, known.output_from} <= {LimitSource.REGISTERED, LimitSource.LEARNED}:
        return False
    return key_of(provider) not in memory().asked


async def look_up(provider: Provider) -> KnownLimits:
    """What is known once the provider was asked: once a process for each endpoint and model, at most `SECONDS` long.

    Raises nothing: a lookup that fails is logged, and not tried again. One that is cancelled is. A lookup that is no
    coroutine must not block. Providers of a chain are asked one after the other.
    """
    chain = chain_of(provider)
    for one in chain:
        await look_up(one)
    if not chain and can_look_up(provider):
        await _ask(provider)
    return limits_now(provider)


async def limits_for(provider: Provider) -> KnownLimits:
    """What is known, and only where a number would be a guess, what is known once the provider was asked."""
    chain = chain_of(provider)
    for one in chain:
        await limits_for(one)
    known = limits_now(provider)
    guessed = LimitSource.DEFAULT in (known.window_from, known.output_from)
    return await look_up(provider) if guessed and not chain and can_look_up(provider) else known


async def _ask(provider: Provider) -> None:
    now, key, loop = memory(), key_of(provider), anyio.lowlevel.current_token()
    other: _Asking | None
    while (other := now.asking.get(key)) is not None:
        if other.loop != loop:
            return  # an event of another loop cannot be waited for: what is known must do
        with anyio.move_on_after(SECONDS) as waited:
            await other.over.wait()
        if waited.cancelled_caught:
            return
    if key in now.asked:
        return
    asking = now.asking[key] = _Asking(loop, anyio.Event())
    try:
        now.asked[key] = await _answer(provider, key[1])
    finally:
        now.asking.pop(key, None)
        asking.over.set()


async def _answer(provider: Provider, model: str) -> ModelLimits:
    async def asked() -> object:
        found: Any = getattr(provider, "model_limits")(model)  # noqa: B009  # it is in no protocol
        return await found if inspect.isawaitable(found) else found

    found = await attempt(asked, anyio.CancelScope(deadline=anyio.current_time() + SECONDS))
    if isinstance(found, Failure):
        why = f" within {SECONDS:g} seconds" if found.error is None else f": {type(found.error).__name__}"
        _LOG.warning("%s: its limits could not be looked up%s", provider.name, why)
        return ModelLimits()
    if isinstance(found, ModelLimits):
        return found
    if found is not None:
        kind = type(found).__name__
        _LOG.warning("%s: its lookup answered with %s, expected ModelLimits or None", provider.name, kind)
    return ModelLimits()
