"""The module of tests that is written of paths: what it looks at, and that it needs no more work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from typing import Any

import attrs
import pytest

from statecraft import Rows, Table, inner, keep, refuse
from statecraft.proofs import Search, aim, aimed_paths
from statecraft.testing import commanded, led, path_module

ROOT = Path(__file__).parents[3]


class At(Enum):
    SHUT = auto()
    OPEN = auto()
    GONE = auto()


class Bolt(Enum):
    OUT = auto()
    BACK = auto()
    SAWN = auto()


@attrs.frozen
class Push:
    pass


@attrs.frozen
class Kick:
    pass


@attrs.frozen
class Ring:
    times: int


@attrs.frozen
class Knock:
    pass


@attrs.frozen
class Lock:
    at: Bolt = Bolt.OUT


@attrs.frozen
class Gate:
    at: At = At.SHUT
    lock: Lock = Lock()


def ring(run: Gate, event: object) -> tuple[Gate, tuple[Ring, ...]]:
    return run, (Ring(1),)


def ring_twice(run: Gate, event: object) -> tuple[Gate, tuple[Ring, ...]]:
    return run, (Ring(2),)


def knock(run: Gate, event: object) -> tuple[Gate, tuple[Knock, ...]]:
    return run, (Knock(),)


def at(run: Any) -> Any:
    return run.at


def move(run: Any, state: Any) -> Any:
    return attrs.evolve(run, at=state)


def lock_of(run: Gate, event: object) -> Lock:
    return run.lock


def with_lock(run: Gate, event: object, lock: Lock) -> Gate:
    return attrs.evolve(run, lock=lock)


def gate(target: At = At.OPEN, effect: Any = ring, bolt: Bolt = Bolt.BACK) -> Table[Gate, At, Push | Kick, Any]:
    """The gate, as it is or with something changed in it."""
    row, slide = Rows[Gate, At, Any](), Rows[Lock, Bolt, Any]()
    asks: Any = {ring: [Ring], ring_twice: [Ring], knock: [Knock]}.get(effect, [])
    lock = Table[Lock, Bolt, Push, Any](
        "lock",
        [slide(Bolt.OUT, Push, bolt, keep)],
        events=[Push],
        initial=Bolt.OUT,
        final=[Bolt.BACK, Bolt.SAWN],
        at=at,
        move=move,
    )
    return Table(
        "gate",
        [
            row(At.SHUT, Push, target, effect, asks=asks),
            row(At.OPEN, Push, At.GONE, keep),
            refuse([At.SHUT, At.OPEN], [Kick], "it is of iron"),
        ],
        events=[Push, Kick],
        initial=At.SHUT,
        final=[At.GONE],
        at=at,
        move=move,
        inners=[inner(lock, during=[At.SHUT], get=lock_of, put=with_lock)],
    )


GATE = gate()


def moves(run: Gate) -> list[Push | Kick]:
    return [Kick(), Push()]


def key(run: Gate) -> object:
    return run


def written() -> str:
    module = path_module(aimed_paths(aim(Search(GATE, {"new": Gate()}, moves, key))))
    assert module.missing == ()
    return module.text


def played(table: Table[Gate, At, Push | Kick, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the module that was written of the gate on another one."""
    text = written()
    monkeypatch.setattr(sys.modules[__name__], "GATE", table)
    known: dict[str, Any] = {}
    exec(text, known)
    test: Callable[..., None] = known["test_path"]
    for param in known["PATHS"]:
        test(*param.values)


def test_the_rows_stand_beside_the_states_and_the_kinds_of_commands() -> None:
    lines = [line.strip() for line in written().splitlines()]
    assert '[["gate 0 -> OPEN", "gate/lock 0 -> BACK"], ["gate 1 -> GONE"]],' in lines
    assert '[["Ring"], []],' in lines


def test_it_passes_on_the_table_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    played(GATE, monkeypatch)
    played(gate(effect=ring_twice), monkeypatch)  # the fields of a command are not looked at


@pytest.mark.parametrize(
    "changed",
    [gate(At.GONE), gate(effect=keep), gate(effect=knock), gate(bolt=Bolt.SAWN)],
    ids=["another target", "effect dropped", "another command", "another target inside"],
)
def test_a_change_that_keeps_the_rows_is_noticed(
    changed: Table[Gate, At, Push | Kick, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(AssertionError):
        played(changed, monkeypatch)


def test_what_is_no_step_is_told_by_its_name() -> None:
    answer = GATE.step(Gate(), Kick())
    assert (led(answer), commanded(answer)) == (["refused"], [])


def test_it_is_laid_out_as_ruff_would() -> None:
    ruff = Path(sys.executable).with_name("ruff")
    words = [str(ruff), "format", "--diff", "--config", str(ROOT / "pyproject.toml"), "--stdin-filename", "t.py", "-"]
    ran = subprocess.run(words, input=written(), text=True, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "")
