from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import stamina


@pytest.fixture(
    params=[pytest.param(("asyncio", {}), id="asyncio"), pytest.param(("trio", {}), id="trio")],
)
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(autouse=True)
def instant() -> Iterator[None]:
    """Waits between attempts take no time; as many attempts are made as the provider allows."""
    with stamina.set_testing(True, attempts=1_000, cap=True):
        yield
