"""A live table that behaves as a mutant of it while a block runs.

The table is changed in place, because tests, inner machines and programs hold it by itself. Its name, its listing and
its digest stay those of the table, so that nothing but behaviour tells the two apart. Rows that pay an inner machine
know it by itself, so what is spent and refilled stays as it was.

Other threads see the mutant too. What the program computed from the table before the block, it keeps.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from .mutants import Mutant

CHANGED = ("rows", "cells", "budgets", "quiet", "_cells", "engine")


@contextmanager
def altered(mutant: Mutant) -> Generator[None]:
    """While the block runs the mutant's table behaves as the mutant; after it, however it ends, as before."""
    table, shape = mutant.table, mutant.shape
    held: Any = vars(table)
    _ = table.digest, table.cells  # computed once and kept: now, while they are the table's own
    kept = {name: held[name] for name in CHANGED}
    blank = {cell: ("refuse", "its only row is removed") for cell, numbers in shape.cells.items() if not numbers}
    try:
        held["rows"], held["budgets"] = shape.rows, shape.budgets
        held["cells"] = {cell: numbers for cell, numbers in shape.cells.items() if numbers}
        held["quiet"] = {**table.quiet, **blank}
        held["_cells"] = {cell: name for cell, name in kept["_cells"].items() if cell not in blank}
        held["engine"] = table.wired()
        yield
    finally:
        held.update(kept)
