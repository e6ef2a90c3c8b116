"""A Temporal server of one's own: on a free port of the loopback, its database in a folder of the test's."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

BINARY = shutil.which("temporal", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))

GUARD = """
import subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
sys.stdin.read()
server.kill()
server.wait()
"""
"""Ends the server when whoever holds the other end of its input has, however that was ended."""


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def command(binary: str, folder: Path, port: int) -> list[str]:
    """What starts the server, under a guard."""
    pragmas = ["--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=OFF"]
    quiet = ["--log-level", "never", "--disable-config-env", "--disable-config-file", "--headless"]
    place = ["--ip", "127.0.0.1", "--port", str(port), "--db-filename", str(folder / "temporal.db")]
    return [sys.executable, "-c", GUARD, binary, "server", "start-dev", *place, *quiet, *pragmas]


class DevServer:
    """A server that can be ended and started again, with what it knew."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._guard: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, and wait until it answers."""
        assert BINARY is not None
        self._guard = subprocess.Popen(
            command(BINARY, self.folder, self.port),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={"HOME": str(self.folder), "PATH": os.environ.get("PATH", "")},
            cwd=self.folder,
        )
        with start_blocking_portal("asyncio") as portal:  # the test may be in an event loop of its own
            portal.call(self._answers, self._guard)

    async def _answers(self, guard: subprocess.Popen[bytes]) -> None:
        """Wait until it does: a port that is open is not yet a server."""
        from temporalio.client import Client

        with anyio.fail_after(20.0):
            while True:
                try:
                    await Client.connect(self.address)
                    return
                except RuntimeError:
                    assert guard.poll() is None, "the server ended"
                    await anyio.sleep(0.02)

    def end(self) -> None:
        """End it as if its machine had lost power; nothing where it does not run."""
        if self._guard is not None:
            self._guard.communicate(timeout=20)
            self._guard = None


@contextmanager
def served(folder: Path) -> Generator[DevServer]:
    """A server, which has ended at the end. The test is skipped where there is none, or nothing that asks it."""
    pytest.importorskip("temporalio", reason="the package temporalio is not installed")
    if BINARY is None:
        pytest.skip("there is no program `temporal`, which is the server")
    server = DevServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.end()
