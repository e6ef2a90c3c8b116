"""Each mistake that a user may make is shown in the editor, by mypy strict and by pyright strict.

`mistakes/` holds one mistake a file; its line ends with `# mistake`. Where the mark stands on the first line of a
statement at the top of the file, it stands for the whole statement. A checker has to report that place and no other.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
CORRECT = HERE / "correct.py"
MISTAKES = sorted((HERE / "mistakes").glob("*.py"))
CHECKERS = ("mypy", "pyright")
MARK = "# mistake"

Reports = dict[Path, dict[int, str]]  # the first message on each reported line, by file


@pytest.fixture(scope="module")
def reports(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Reports]:
    """What each checker says of all files, in one run each."""
    files = [CORRECT, *MISTAKES]
    scratch = tmp_path_factory.mktemp("typing")
    return {"mypy": _mypy(root, files, scratch), "pyright": _pyright(root, files, scratch)}


@pytest.mark.parametrize("checker", CHECKERS)
def test_the_correct_program_is_clean(reports: dict[str, Reports], checker: str) -> None:
    assert reports[checker].get(CORRECT, {}) == {}


@pytest.mark.parametrize("checker", CHECKERS)
@pytest.mark.parametrize("file", MISTAKES, ids=lambda file: file.stem)
def test_the_mistake_is_reported_where_it_is_made(reports: dict[str, Reports], file: Path, checker: str) -> None:
    place = _marked(file)
    reported = reports[checker].get(file, {})
    assert reported.keys() & place, f"{checker} does not report {file.name}:{min(place)}; it says {reported}"
    elsewhere = {line: text for line, text in reported.items() if line not in place}
    assert not elsewhere, f"{checker} reports more than the one mistake of {file.name}"


def test_each_kind_of_mistake_has_a_file() -> None:
    kinds = {file.stem.removeprefix("annotated_").split("_")[0] for file in MISTAKES}
    assert kinds >= {
        "event",
        "target",
        "payload",
        "context",
        "guard",
        "effect",
        "lens",
        "state",
        "command",
        "evidence",
        "reading",
        "purse",
    }


def _marked(file: Path) -> set[int]:
    text = file.read_text(encoding="utf-8")
    marks = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]
    assert len(marks) == 1, f"{file.name} has {len(marks)} lines marked {MARK!r}, expected 1"
    for statement in ast.parse(text).body:
        if statement.lineno == marks[0]:
            return set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    return set(marks)


def _mypy(root: Path, files: list[Path], scratch: Path) -> Reports:
    options = ["--strict", "--explicit-package-bases", "--output=json", f"--cache-dir={scratch / 'mypy'}"]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", *options, *map(str, files)],
        cwd=scratch,
        env={**os.environ, "MYPYPATH": os.pathsep.join([str(root), str(HERE)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr  # 2 is a failure of mypy itself, 0 would mean no mistake
    found: Reports = {}
    for line in ran.stdout.splitlines():
        said: dict[str, Any] = json.loads(line)
        if said["severity"] == "error":
            _add(found, (scratch / said["file"]).resolve(), said["line"], said["message"])
    return found


def _pyright(root: Path, files: list[Path], scratch: Path) -> Reports:
    config = {
        "include": [os.path.relpath(file, scratch) for file in files],
        "extraPaths": [str(root), str(HERE)],
        "typeCheckingMode": "strict",
    }
    (scratch / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, "-p", str(scratch)],
        cwd=scratch,
        env={**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout + ran.stderr
    said: dict[str, Any] = json.loads(ran.stdout)
    assert said["summary"]["filesAnalyzed"] >= len(files)
    found: Reports = {}
    for one in said["generalDiagnostics"]:
        if one["severity"] == "error":
            _add(found, Path(one["file"]).resolve(), one["range"]["start"]["line"] + 1, one["message"])
    return found


def _add(found: Reports, file: Path, line: int, message: str) -> None:
    found.setdefault(file, {}).setdefault(line, message)
