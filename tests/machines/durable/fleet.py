"""What every engine is asked in these tests, and what the tests do with its workers: start them, and kill them.

A fleet is one engine over one shelf. Its workers are real processes (`worker.py`); the model that they ask, and the
file in which their tools write down what they did, are the test's own and outlive them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import attrs

from machines.agent.scripted import Move, Received, ScriptedServer, Turn, call
from machines.agent.taking_up import retell
from machines.agent.wire import ResultPart
from machines.journaled import AGENT_RUN
from machines.letters import Letter
from machines.outcome import Outcome
from machines.standing import Standing, stand, standing_of
from statecraft.codec import dump
from statecraft.journal import Shelf, link, seal, verify
from statecraft.replay import replay

ROOT = Path(__file__).resolve().parents[3]
TESTS = "tests.machines.durable"


class Fleet(Protocol):
    """One engine over one shelf. `module` is where workers find its `serve`, `words` is what that is told."""

    place: str
    module: str
    words: list[str]

    def enlist(self, run: str, task: str) -> None:
        """Have a run begun by a worker."""
        ...

    def deliver(self, run: str, letter: Letter, id: str) -> bool:
        """Bring a letter to a run, whether a worker lives or not. False where one of that id lies there."""
        ...

    def close(self) -> None:
        """Give up what is open; workers are ended before."""
        ...


@attrs.frozen
class Effect:
    """What a tool has written down when it began: what, under which key, in which process, when."""

    what: str
    key: str
    process: int
    at: float


@attrs.define(eq=False)
class Yard:
    """One test's fleet, its workers, its model, and what its tools did."""

    fleet: Fleet
    server: ScriptedServer
    folder: Path
    scripts: dict[str, Sequence[Move]]
    shelf: Shelf
    workers: list[subprocess.Popen[bytes]] = attrs.field(factory=list["subprocess.Popen[bytes]"])

    def enlist(self, run: str, *moves: Move) -> None:
        """Enlist a run whose model makes these moves."""
        self.scripts[run] = moves
        self.fleet.enlist(run, run)  # its task is its name, by which the model knows it

    def start(self, *, at_once: int = 8, machine: str = "") -> subprocess.Popen[bytes]:
        """Start a worker process; every second one on trio. `machine`: the name of another one to believe to be on."""
        number = len(self.workers)
        backend = "trio" if number % 2 else "asyncio"
        settings = {
            "module": f"{TESTS}.{self.fleet.module}",
            "place": self.fleet.place,
            "words": [*self.fleet.words],
            "model": self.server.model("yard"),
            "effects": str(self.folder / "effects"),
            "gate": str(self.folder / "gate"),
            "backend": backend,
            "at_once": at_once,
            "machine": machine,
        }
        command = [sys.executable, "-W", "error", "-m", f"{TESTS}.worker", json.dumps(settings)]
        with (self.folder / f"worker{number}.log").open("wb") as log:
            worker = subprocess.Popen(
                command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=log, stderr=log, cwd=self.folder
            )
        self.workers.append(worker)
        return worker

    def kill(self, worker: subprocess.Popen[bytes]) -> float:
        """`kill -9`; when that was, by the wall clock."""
        worker.send_signal(signal.SIGKILL)
        worker.wait(10)
        return time.time()

    def stop(self, worker: subprocess.Popen[bytes]) -> int:
        """Ask a worker to stop, and wait for it; its exit status."""
        worker.send_signal(signal.SIGTERM)
        return worker.wait(20)

    def open_gate(self) -> None:
        """Let go the tools that hold."""
        (self.folder / "gate").touch()

    def effects(self) -> list[Effect]:
        """What the tools of all workers did, in order."""
        try:
            text = (self.folder / "effects").read_text()
        except FileNotFoundError:
            return []
        return [Effect(**json.loads(line)) for line in text.splitlines()]

    def processes(self) -> set[int]:
        """The processes whose tools did something."""
        return {effect.process for effect in self.effects()}

    def did(self) -> list[str]:
        """The same by name alone, sorted."""
        return sorted(effect.what for effect in self.effects())

    def stands(self, run: str) -> Standing | None:
        """How a run stands."""
        with closing(self.shelf.store(run)) as store:
            return standing_of(store)

    def state(self, run: str) -> str:
        """The state in which it stands."""
        stood = self.stands(run)
        return "" if stood is None else stood.state

    def said(self) -> str:
        """What all workers wrote to their logs."""
        return "\n".join(log.read_text() for log in sorted(self.folder.glob("worker*.log")))

    def until(self, holds: Callable[[], bool], what: str, seconds: float = 25.0) -> float:
        """Look until it holds; how many seconds that took. No worker may have died of itself meanwhile."""
        began = time.monotonic()
        while not holds():
            assert time.monotonic() - began < seconds, f"{what}: not within {seconds:g} s\n{self.said()}"
            dead = [worker.returncode for worker in self.workers if worker.poll() not in (None, 0, -signal.SIGKILL)]
            assert not dead, f"{what}: a worker ended by itself, {dead}\n{self.said()}"
            time.sleep(0.02)
        return time.monotonic() - began

    def ended(self, *runs: str, seconds: float = 25.0) -> float:
        """Wait until these runs have ended."""
        left = [*runs]

        def over() -> bool:
            while left and self.state(left[-1]) == "ended":
                left.pop()
            return not left

        return self.until(over, f"the end of {left[:5]}", seconds)

    def did_so_often(self, times: int) -> None:
        """Wait until the tools have done so much, or more."""
        self.until(lambda: len(self.effects()) >= times, f"{times} effects")

    def waits(self, run: str) -> float:
        """Wait until the run is put down."""
        return self.until(lambda: self.state(run) == "waiting", f"{run} put down")

    def outcome(self, run: str) -> Outcome:
        """How a run ended; its journal is whole, without gap or double, and replays as it was recorded."""
        with closing(self.shelf.store(run)) as store:
            found = verify(store)
            assert (found.verdict, found.detail) == ("whole", found.detail), found
            replayed = replay(store, AGENT_RUN)
            assert replayed.difference is None, replayed.difference
            outcome = retell(store).run.outcome
        assert outcome is not None
        return outcome

    def asked(self, run: str) -> int:
        """How often the run's model was asked."""
        return len(self.server.requests(run))

    def told(self, run: str) -> list[str]:
        """What the model was last told that its calls came to."""
        messages = self.server.requests(run)[-1].request.messages
        return [part.content for message in messages for part in message.parts if isinstance(part, ResultPart)]

    def lines(self, run: str) -> list[bytes]:
        """A run's journal."""
        with closing(self.shelf.store(run)) as store:
            return list(store.lines())

    def close(self) -> None:
        """End what still works."""
        self.open_gate()
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait(10)
        self.fleet.close()
        self.shelf.close()


def script_of(scripts: Mapping[str, Sequence[Move]]) -> Callable[[Received], Move]:
    """A move by how many replies the transcript has, so that a request that is sent again gets the same one."""

    def move(received: Received) -> Move:
        replies = sum(message.role == "assistant" for message in received.request.messages)
        return scripts[received.run][replies]

    return move


def run_of(received: Received) -> str:
    """The run by its task."""
    return str(getattr(received.request.messages[0].parts[0], "text", ""))


def does(*calls: tuple[str, Mapping[str, Any]]) -> Turn:
    """A turn with these calls."""
    return Turn(calls=tuple(call(tool, args) for tool, args in calls))


FINISH = does(("finish", {"kind": "final", "text": "done"}))


def older(shelf: Shelf, run: str, name: str) -> None:
    """Put down beside a run that waits a copy of it under another name, as a table of other rules had made it."""
    with closing(shelf.store(run)) as store, closing(shelf.store(name)) as copy:
        prev = None
        copy.claim(fresh=True)
        for seq, line in enumerate(store.lines()):
            record = {key: value for key, value in (link(line).record or {}).items() if key != "hash"}
            record.update({"table": "0" * 64, "run": name} if prev is None else {"prev": prev})
            sealed, prev = seal(dump(record))
            copy.append(seq, sealed)
        stood = standing_of(store)
        assert stood is not None
        stand(copy, attrs.evolve(stood, run=name))
