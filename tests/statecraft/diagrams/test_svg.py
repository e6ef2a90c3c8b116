"""SVG through Graphviz, and what is said where it cannot be had."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from statecraft import Table
from statecraft.diagrams import GraphvizError, svg, taken

AnyTable = Table[Any, Any, Any, Any]


def test_without_graphviz_the_error_says_what_to_do(hall: AnyTable) -> None:
    with pytest.raises(
        GraphvizError, match="needs Graphviz, and its program 'no-such-program' is not on the PATH: install"
    ):
        svg(hall, program="no-such-program")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_an_error_of_graphviz_is_passed_on(hall: AnyTable, tmp_path: Path) -> None:
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho no memory >&2\nexit 3\n", encoding="utf-8")
    program.chmod(0o755)
    with pytest.raises(GraphvizError, match=r"-Tsvg ended with 3 on machine hall: no memory$"):
        svg(hall, program=str(program))


def test_with_graphviz_a_machine_and_its_run_are_drawn(hall: AnyTable, hall_answers: list[Any]) -> None:
    if shutil.which("dot") is None:
        pytest.skip("Graphviz is not installed")
    assert b"0 Push [strong] / Ring" in svg(hall)
    assert "×2".encode() in svg(hall, taken(hall_answers)) or b"&#215;2" in svg(hall, taken(hall_answers))
