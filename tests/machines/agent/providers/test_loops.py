from __future__ import annotations

import gc

import anyio
import pytest

from machines.agent.providers import provider_for
from machines.agent.scripted import ScriptedServer, Turn
from machines.agent.wire import Completion, Message, Request, TextPart

GO = Request("", (Message("user", (TextPart("Go"),)),))


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_each_event_loop_has_a_client_of_its_own(backend: str) -> None:
    async def once() -> str:
        provider = provider_for(server.model())
        got = await provider.complete(GO)
        await provider.aclose()
        return got.text if isinstance(got, Completion) else got.body

    with ScriptedServer([Turn("one"), Turn("two")]) as server:
        assert [anyio.run(once, backend=backend) for _ in range(2)] == ["one", "two"]
    gc.collect()  # a connection that was left open would warn here


def test_a_model_on_this_machine_is_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)

    async def once() -> object:
        provider = provider_for(server.model())
        got = await provider.complete(GO)
        await provider.aclose()
        return got

    with ScriptedServer([Turn("ok")]) as server:
        assert isinstance(anyio.run(once), Completion)
