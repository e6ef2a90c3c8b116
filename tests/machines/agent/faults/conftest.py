"""How a single seed is played again: `pytest tests/machines/agent/faults --seed N -s`."""

from __future__ import annotations

import pytest

from .tally import SHOWN


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=None, help="play the fault run of this seed alone, and tell all of it")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "one_seed" in metafunc.fixturenames:
        # The option is there only where this folder was named; a run of all tests reads this file too late for it.
        given = metafunc.config.getoption("--seed", default=None)
        metafunc.parametrize("one_seed", SHOWN if given is None else [given])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--seed", default=None) is not None:
        items[:] = [item for item in items if "one_seed" in getattr(item, "fixturenames", ())]


@pytest.fixture(autouse=True)
def told_again() -> None:
    """Here that is a check of each run, which says the seed."""
