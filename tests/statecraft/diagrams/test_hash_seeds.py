"""The text must not depend on the order in which Python walks a set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
from enum import Enum
from statecraft import Rows, Table, inner, keep
from statecraft.diagrams import dot, mermaid, taken

S = Enum("S", [f"STATE_{n}" for n in range(9)])
B = Enum("B", {f"B{n}": f"budget {n}" for n in range(9)})
Go = type("Go", (), {})
row = Rows()
states = list(S)
common = dict(events=[Go], initial=states[0], at=lambda run: run, move=lambda run, at: at)
kid = Table("kid", [row(states[:8], Go, states[8], keep)], final=states[8:], **common)
held = inner(kid, during=states[:5], get=lambda run, event: None, put=lambda run, event, to: run)
wants = [type(f"Command{n}", (), {}) for n in range(9)]
table = Table(
    "seeds",
    [row(states[:7], Go, states[7], keep, asks=wants, refills=[*B, held])],
    final=states[7:],
    budgets={b: 1 for b in B},
    purse=lambda run: {},
    pay=lambda run, purse: run,
    inners=[held],
    **common,
)
run = taken([(0, {"kid": (0, {})})], table)
print(mermaid(table), dot(table), mermaid(table, run), dot(table, run))
"""


def output(root: Path, seed: int) -> bytes:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, check=True).stdout


def test_two_hash_seeds_give_the_same_text(root: Path) -> None:
    first = output(root, 1)
    assert b"Command8" in first
    assert first == output(root, 2)
