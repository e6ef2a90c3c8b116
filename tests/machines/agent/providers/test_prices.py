from __future__ import annotations

import sys
from decimal import Decimal
from types import SimpleNamespace

import pytest

from machines.agent.providers import HttpProvider, Prices, provider_for
from machines.agent.providers.prices import catalogue_cost, cost_by
from machines.events import Usage

KEY = {"OPENAI_API_KEY": "sk-0123456789"}


@pytest.mark.parametrize(
    ("prices", "usd"),
    [
        (Prices(2, 8), 2 * 0.001 + 8 * 0.0001),
        (Prices(2, 8, 0.2), 2 * 0.0006 + 0.2 * 0.0004 + 8 * 0.0001),
        (Prices(2, 8, 0), 2 * 0.0006 + 8 * 0.0001),
        (Prices(0, 0), 0.0),
    ],
)
def test_a_cost_counts_each_token_at_its_price(prices: Prices, usd: float) -> None:
    assert cost_by(prices)(Usage(input=1_000, output=100, cached=400)) == pytest.approx(usd)


@pytest.mark.parametrize("wrong", [(-1, 0, None), (0, -1, None), (0, 0, -1)])
def test_a_price_is_not_below_nothing(wrong: tuple[float, float, float | None]) -> None:
    with pytest.raises(ValueError, match="must be >= 0"):
        Prices(*wrong)


def test_without_the_catalogue_no_money_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert catalogue_cost("openai", "m") is None
    provider = provider_for("openai:m", environ=KEY)
    assert isinstance(provider, HttpProvider)
    assert provider.cost is None


def test_the_catalogue_is_asked_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def calc_price(used: SimpleNamespace, *, model_ref: str, provider_id: str) -> SimpleNamespace:
        if model_ref != "known":
            raise LookupError(model_ref)
        assert provider_id == "openai"
        return SimpleNamespace(total_price=Decimal(used.input_tokens - used.cache_read_tokens) / 100)

    catalogue = SimpleNamespace(Usage=SimpleNamespace, calc_price=calc_price)
    monkeypatch.setitem(sys.modules, "genai_prices", catalogue)
    known = provider_for("openai:known", environ=KEY)
    assert isinstance(known, HttpProvider)
    assert known.cost is not None
    assert known.cost(Usage(input=5, output=9, cached=2)) == 0.03
    other = provider_for("openai:other", environ=KEY)
    assert isinstance(other, HttpProvider)
    assert other.cost is None
    given = provider_for("openai:known", environ=KEY, prices=Prices(1_000_000, 0))
    assert isinstance(given, HttpProvider)
    assert given.cost is not None
    assert given.cost(Usage(input=5)) == 5.0
