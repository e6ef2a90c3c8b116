"""The committed diagrams are those of the tables."""

from __future__ import annotations

from pathlib import Path

from machines.tables import TABLES
from statecraft.diagrams import diagrams_of, drift


def test_the_committed_diagrams_are_those_of_the_tables(root: Path) -> None:
    assert drift(diagrams_of(TABLES), root / "diagrams") == ""
