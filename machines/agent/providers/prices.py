"""What a reply costs, so that a budget in dollars can act: by prices that are given, or by those of a catalogue."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final

import attrs

from ...events import Usage

Cost = Callable[[Usage], float | None]
"""From what a reply used to US dollars; None where nobody can tell."""

_MILLION: Final = 1_000_000


@attrs.frozen
class Prices:
    """US dollars for a million tokens: of what is sent, of what is replied, and of what came from a cache.

    Without a price of its own, what came from a cache costs as much as the rest. What a provider takes for writing into
    its cache counts as sent.
    """

    input: float = attrs.field(validator=attrs.validators.ge(0))
    output: float = attrs.field(validator=attrs.validators.ge(0))
    cached: float | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.ge(0)))


def cost_by(prices: Prices) -> Cost:
    """The cost by these prices."""
    cached = prices.input if prices.cached is None else prices.cached

    def cost(usage: Usage) -> float:
        fresh = usage.input - usage.cached
        return (fresh * prices.input + usage.cached * cached + usage.output * prices.output) / _MILLION

    return cost


def catalogue_cost(house: str, model: str) -> Cost | None:
    """The cost by the catalogue of the package genai-prices; None where that is not installed, or has no such model.

    Looks nothing up in the network: the catalogue is as old as the package.
    """
    try:
        catalogue: Any = import_module("genai_prices")
    except ImportError:
        return None

    def cost(usage: Usage) -> float | None:
        used = catalogue.Usage(input_tokens=usage.input, cache_read_tokens=usage.cached, output_tokens=usage.output)
        try:
            return float(catalogue.calc_price(used, model_ref=model, provider_id=house).total_price)
        except (LookupError, ValueError):
            return None

    return cost if cost(Usage(1, 1)) is not None else None
