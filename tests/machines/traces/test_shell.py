"""Which recorded shell commands plainly write."""

from __future__ import annotations

import pytest

from machines.traces.shell import writes


@pytest.mark.parametrize(
    "command",
    [
        "mkdir -p out",
        "cat > notes.txt <<'END'\nhello\nEND",
        "echo x >> log",
        "cd src && cp a.py b.py",
        "sed -i 's/a/b/' f.py",
        "sudo mv a b",
        "git add -A && git commit -m done",
        "FOO=1 touch x",
        "printf x | tee out.txt",
        "pip install attrs",
        "/bin/rm -f x",
    ],
)
def test_a_command_that_changes_a_file_writes(command: str) -> None:
    assert writes(command)


@pytest.mark.parametrize(
    "command",
    [
        "ls -la",
        "cat notes.txt",
        ': "mkdir out"',
        "# cp a b",
        "python run.py 2>&1",
        "grep x f > /dev/null",
        "git status",
        "git diff HEAD",
        "sed -n '1,5p' f.py",
        "echo 'a > b'",
        "pip list",
        "test 3 -gt 2",
        "",
        "awk '$1 > 2' f",
    ],
)
def test_a_command_that_only_looks_or_does_nothing_does_not(command: str) -> None:
    assert not writes(command)
