"""A table as a picture, drawn by Graphviz where that is installed."""

from __future__ import annotations

import shutil
import subprocess

from .dot import dot
from .drawn import Taken
from .edges import AnyTable


class GraphvizError(RuntimeError):
    """Graphviz is not there, or it would not draw."""


def svg(table: AnyTable, taken: Taken | None = None, *, program: str = "dot") -> bytes:
    """The diagram that `dot` writes as SVG, or `GraphvizError`; its look may differ from one Graphviz to the next."""
    found = shutil.which(program)
    if found is None:
        raise GraphvizError(f"an SVG needs Graphviz, and its program {program!r} is not on the PATH: install Graphviz")
    run = subprocess.run([found, "-Tsvg"], input=dot(table, taken).encode(), capture_output=True, check=False)
    if run.returncode:
        said = run.stderr.decode(errors="replace").strip() or "it said nothing"
        raise GraphvizError(f"{found} -Tsvg ended with {run.returncode} on machine {table.name}: {said}")
    return run.stdout
