"""What a model can take: from those who know it best down to a guess, each number by itself.

1. `registered`: what the application said with `register_model_limits`.
2. `learned`: what a provider named when it refused a request, for that endpoint and that exact model.
3. `provider`: the provider's own lookup, an optional method `model_limits(model) -> ModelLimits | None`, sync or async.
4. `table`: the table that comes with the package.
5. `default`: 128,000 tokens of window and 32,000 of reply.

`limits_now` never waits. Who asks the provider, and when, is in `limit_lookup.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any, Final

import attrs

from ..events import RefusalKind
from ..refusals.believed import believed
from .limit_table import in_table
from .model_ids import normal
from .wire import Provider, Refused

DEFAULT_WINDOW: Final = 128_000
"""Tokens of the window of a model that nothing knows: what most models that are served today have at least."""

DEFAULT_OUTPUT: Final = 32_000
"""Tokens of the longest reply of a model that nothing knows; a provider that takes fewer says so, which is learned."""


def _tokens(_: object, field: attrs.Attribute[int | None], value: object) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ValueError(f"{field.name}: found {value!r}, expected a whole number of tokens from 1 on, or None")


@attrs.frozen
class ModelLimits:
    """What a model takes, in tokens: its window, and the longest reply; None where that is not known.

    ValueError for a number below 1 or one that is not whole.
    """

    context_window: int | None = attrs.field(default=None, validator=_tokens)
    max_output: int | None = attrs.field(default=None, validator=_tokens)


class LimitSource(Enum):
    """Where a number comes from, the best source first."""

    REGISTERED = "registered"
    LEARNED = "learned"
    PROVIDER = "provider"
    TABLE = "table"
    DEFAULT = "default"


@attrs.frozen
class KnownLimits:
    """What is known of a model, in tokens, and where each number comes from."""

    context_window: int
    max_output: int
    window_from: LimitSource
    output_from: LimitSource


@attrs.frozen(eq=False)
class _Registered:
    model: str
    limits: ModelLimits


Key = tuple[str, str]


@attrs.define
class Memory:
    """All that this process knows beyond the table: `asked` is what providers said, `asking` who is being asked."""

    registered: list[_Registered] = attrs.field(factory=list[_Registered])
    learned: dict[Key, ModelLimits] = attrs.field(factory=dict[Key, ModelLimits])
    asked: dict[Key, ModelLimits] = attrs.field(factory=dict[Key, ModelLimits])
    asking: dict[Key, Any] = attrs.field(factory=dict[Key, Any])


_memory: Memory = Memory()


@contextmanager
def isolated_limits() -> Generator[None, None, None]:
    """Know nothing that the process has learned so far, and forget at the end what was learned within: for tests."""
    global _memory
    before, _memory = _memory, Memory()
    try:
        yield
    finally:
        _memory = before


def memory() -> Memory:
    """What this process knows now."""
    return _memory


def register_model_limits(
    model: str, context_window: int | None = None, max_output: int | None = None
) -> Callable[[], None]:
    """Say what a model takes, in tokens, for the rest of the process: this wins over every other source.

    `model` counts for exactly that id first, then for all that are the same without router, cloud and date. Of two that
    were registered for one id the later holds. A number that is left out comes from the next source. The answer takes
    the registration back; a second time it does nothing. ValueError for a number below 1, for none, or for no model.
    """
    registered = _memory.registered
    if not model.strip():
        raise ValueError(f"model: found {model!r}, expected the id of a model")
    if context_window is None and max_output is None:
        raise ValueError(f"limits of {model}: found none, expected context_window, max_output or both")
    one = _Registered(model, ModelLimits(context_window, max_output))
    registered.append(one)

    def take_back() -> None:
        if one in registered:
            registered.remove(one)

    return take_back


def learn(provider: Provider, *, context_window: int | None = None, max_output: int | None = None) -> None:
    """Keep what a provider named when it refused a request, in tokens: for its endpoint and its exact model.

    A number replaces the one that was learned before it; one that is too small is not believed.
    """
    key, learned = key_of(provider), _memory.learned
    before = learned.get(key, ModelLimits())
    learned[key] = ModelLimits(
        believed(context_window) or before.context_window,
        believed(max_output) or before.max_output,
    )


def learn_from(provider: Provider, refusal: Refused) -> None:
    """Keep the limit that a refusal names, if it names one."""
    if refusal.kind is RefusalKind.REPLY_BUDGET:
        learn(provider, max_output=refusal.limit)
    elif refusal.kind in (RefusalKind.PROMPT_TOO_LONG, RefusalKind.TOGETHER_TOO_LONG):
        learn(provider, context_window=refusal.limit)


def limits_now(provider: Provider) -> KnownLimits:
    """What is known of a provider's model by now. Never waits.

    Of a chain of providers, which has them in `providers`, each number is the smallest of any: whichever is asked must
    be able to take the request.
    """
    key = key_of(provider)
    sources = list(_registered(key[1]))
    if (learned := _memory.learned.get(key)) is not None:
        sources.append((LimitSource.LEARNED, learned))
    chain = chain_of(provider)
    if chain:
        known = [limits_now(one) for one in chain]
        window, window_from = min(((one.context_window, one.window_from) for one in known), key=_number)
        output, output_from = min(((one.max_output, one.output_from) for one in known), key=_number)
        sources += [(window_from, ModelLimits(context_window=window)), (output_from, ModelLimits(max_output=output))]
    else:
        if (asked := _memory.asked.get(key)) is not None:
            sources.append((LimitSource.PROVIDER, asked))
        if (found := in_table(key[1])) is not None:
            sources.append((LimitSource.TABLE, ModelLimits(*found)))
        sources.append((LimitSource.DEFAULT, ModelLimits(DEFAULT_WINDOW, DEFAULT_OUTPUT)))
    window, window_from = _first((one.context_window, source) for source, one in sources)
    output, output_from = _first((one.max_output, source) for source, one in sources)
    return KnownLimits(window, output, window_from, output_from)


def chain_of(provider: Provider) -> tuple[Provider, ...]:
    """The providers of a chain, in order; none where it is one alone."""
    return tuple(getattr(provider, "providers", ()))


def key_of(provider: Provider) -> Key:
    """The endpoint and the exact model."""
    url, model = getattr(provider, "url", None), getattr(provider, "model", None)
    return (
        url if isinstance(url, str) and url else provider.name,
        model if isinstance(model, str) and model else provider.name,
    )


def _registered(model: str) -> Iterator[tuple[LimitSource, ModelLimits]]:
    latest = tuple(reversed(_memory.registered))
    yield from ((LimitSource.REGISTERED, one.limits) for one in latest if one.model == model)
    if latest:
        name = normal(model)
        yield from ((LimitSource.REGISTERED, one.limits) for one in latest if normal(one.model) == name)


def _first(numbers: Iterable[tuple[int | None, LimitSource]]) -> tuple[int, LimitSource]:
    return next((number, source) for number, source in numbers if number is not None)


def _number(one: tuple[int, LimitSource]) -> int:
    return one[0]
