from __future__ import annotations

from collections.abc import Iterator

import pytest
import stamina


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Every test over sockets runs on both event loops."""
    return str(request.param)


@pytest.fixture(autouse=True)
def instant() -> Iterator[None]:
    """Waits between attempts take no time; as many attempts are made as the provider allows."""
    with stamina.set_testing(True, attempts=1_000, cap=True):
        yield
