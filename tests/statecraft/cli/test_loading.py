"""What the words of a command line name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from statecraft.cli import BadInput, load
from statecraft.cli.loading import load_value


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the command is given; Python does not look there on its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])
    return tmp_path


def test_modules_are_found_where_the_command_is_given(here: Path) -> None:
    (here / "lies_here_of_tests.py").write_text("NUMBER = 7\n")
    assert load_value("lies_here_of_tests:NUMBER", lambda value: value == 7, "seven") == 7
    del sys.modules["lies_here_of_tests"]


@pytest.mark.parametrize(
    "target", ["gone_of_tests", "gone_of_tests:NAME", "statecraft.guards", "statecraft.guards:guard"]
)
def test_what_is_not_there_is_bad_input(here: Path, target: str) -> None:
    with pytest.raises(BadInput, match=f"^{target}: "):
        load(target)


@pytest.mark.parametrize("target", ["gone_of_tests", "gone_of_tests:NAME", "statecraft.guards:guard"])
def test_a_value_that_is_not_there_is_bad_input(here: Path, target: str) -> None:
    with pytest.raises(BadInput, match=target):
        load_value(target, lambda value: False, "nothing")


@pytest.mark.parametrize(
    ("target", "hint"),
    [
        ("./garage.py:GATE", ", for example garage:GATE"),
        ("garage.py", ", for example garage"),
        ("shop/garage.py:GATE", ", for example shop.garage:GATE"),
        ("./shop", ", for example shop"),
        ("/somewhere/garage.py:GATE", " of a module that Python finds from here"),
        ("../garage.py", " of a module that Python finds from here"),
        (".py", " of a module that Python finds from here"),
    ],
)
def test_a_path_is_answered_with_the_module_that_it_may_mean(here: Path, target: str, hint: str) -> None:
    with pytest.raises(BadInput) as caught:
        load(target)
    assert str(caught.value) == f"{target}: found a path, expected MODULE or MODULE:NAME{hint}"
