"""`check` and `diagram`: what they write, what they find, and what does not go together."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

Verb = Callable[..., tuple[int, str, str]]
Sailed = Callable[..., Path]

HALLS = """
from enum import Enum, auto

import attrs

from statecraft import Rows, Table, keep


class Door(Enum):
    OPEN = auto()
    SHUT = auto()


class Oil(Enum):
    DROP = "drops"


@attrs.frozen
class Push:
    pass


@attrs.frozen
class Hall:
    at: Door = Door.SHUT
    oil: int = 3


row = Rows[Hall, Door, object]()


def table(name, size=3):
    return Table(
        name,
        [row(Door.SHUT, Push, Door.OPEN, keep, spends=Oil.DROP)],
        events=[Push],
        initial=Door.SHUT,
        final=[Door.OPEN],
        at=lambda run: run.at,
        move=lambda run, at: attrs.evolve(run, at=at),
        budgets={Oil.DROP: size},
        purse=lambda run: {Oil.DROP: run.oil},
        pay=lambda run, left: attrs.evolve(run, oil=left[Oil.DROP]),
    )


GOOD = table("hall")
"""


@pytest.fixture
def halls(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Writes the module `halls_of_tests`, with more at its end."""
    monkeypatch.setattr(sys, "path", [entry for entry in sys.path if entry])

    def write(more: str = "") -> None:
        sys.modules.pop("halls_of_tests", None)
        (here / "halls_of_tests.py").write_text(HALLS + more)

    yield write
    sys.modules.pop("halls_of_tests", None)


def test_a_table_that_ends_is_proved(verb: Verb, halls: Callable[..., None]) -> None:
    halls()
    code, out, _ = verb("check", "halls_of_tests")
    assert (code, out.splitlines()[0]) == (0, "hall: ok")
    code, out, _ = verb("check", "halls_of_tests:GOOD", "--json")
    assert (code, json.loads(out)["tables"][0]["table"]) == (0, "hall")


def test_a_table_that_is_not_proved_is_a_finding(verb: Verb, halls: Callable[..., None]) -> None:
    halls("\nBAD = table('bad', lambda run: run.oil)\n")
    code, out, _ = verb("check", "halls_of_tests:BAD")
    assert (code, out.splitlines()[0]) == (1, "bad: NOT PROVED")


@pytest.mark.parametrize(
    ("size", "said"),
    [
        ("lambda run: run.grease", "raised AttributeError: 'Hall' object has no attribute 'grease' on the sample run"),
        ("lambda run: 'much'", ": found 'much', expected a whole number or None"),
    ],
)
def test_a_budget_that_cannot_be_had_is_bad_input(verb: Verb, halls: Callable[..., None], size: str, said: str) -> None:
    halls(f"\nBAD = table('bad', {size})\nSAMPLES = {{'bad': Hall()}}\n")
    code, out, err = verb("check", "halls_of_tests:BAD")
    assert (code, out) == (2, "")
    assert err.startswith("statecraft: halls_of_tests:BAD: table bad: the size of drops")
    assert said in err
    assert err.count("\n") == 1


def test_diagrams_are_written_and_checked(verb: Verb, here: Path) -> None:
    code, out, _ = verb("diagram", "ferry:FERRY")
    assert (code, out.splitlines()) == (0, ["drawn/ferry.dot", "drawn/ferry.mmd"])
    assert verb("diagram", "ferry:FERRY", "--check") == (0, "", "")
    (here / "drawn" / "ferry.mmd").write_text("")
    code, out, _ = verb("diagram", "ferry:FERRY", "--check")
    assert code == 1
    assert out.startswith("--- drawn/ferry.mmd")


@pytest.mark.parametrize(("form", "name"), [("mermaid", "ferry.mmd"), ("dot", "ferry.dot")])
def test_one_form_alone(verb: Verb, here: Path, form: str, name: str) -> None:
    assert verb("diagram", "ferry:FERRY", "--as", form, "--into", "p") == (0, f"p/{name}\n", "")
    assert [path.name for path in (here / "p").iterdir()] == [name]


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_tables_as_svg(verb: Verb, here: Path, sailed: Sailed) -> None:
    assert verb("diagram", "ferry:FERRY", "--as", "svg", "--into", "p") == (0, "p/ferry.svg\n", "")
    assert b"<svg" in (here / "p" / "ferry.svg").read_bytes()
    assert "<svg" in verb("diagram", "--journal", sailed("one.jsonl"), "--as", "svg")[1]


def test_without_graphviz_an_svg_is_bad_input(verb: Verb, monkeypatch: pytest.MonkeyPatch, here: Path) -> None:
    monkeypatch.setenv("PATH", str(here))
    code, out, err = verb("diagram", "ferry:FERRY", "--as", "svg")
    assert (code, out) == (2, "")
    assert "install Graphviz" in err


def test_a_run_is_drawn_over_its_machine(verb: Verb, sailed: Sailed) -> None:
    code, out, _ = verb("diagram", "--journal", sailed("one.jsonl"))
    assert code == 0
    assert "rows taken, ended in RETIRED" in out


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("\nBAD = table('two words/x')\n", "its name is the text 'two words/x', which cannot be a file's"),
        ("\nAGAIN = table('hall')\n", "two tables are called 'hall': each diagram needs a file of its own"),
    ],
)
@pytest.mark.parametrize("form", [(), ("--check",), ("--as", "svg")])
def test_tables_that_cannot_be_files_are_bad_input(
    verb: Verb, halls: Callable[..., None], more: str, said: str, form: tuple[str, ...]
) -> None:
    halls(more)
    code, out, err = verb("diagram", "halls_of_tests", *form)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--check", "--as", "dot"), "found --as beside --check, expected at most TARGET, --into"),
        (("ferry", "--journal", "x"), "found TARGET beside --journal, expected at most --as, --run, --of"),
        (("--into", "p", "--check", "--journal", "x"), "found --into, --check beside --journal, expected at most "),
        (("--run", "r", "--of", "o"), "found --run, --of without --journal, expected at most TARGET, --into, "),
    ],
)
def test_what_does_not_go_together_is_refused(verb: Verb, words: tuple[str, ...], said: str) -> None:
    code, out, err = verb("diagram", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"statecraft: diagram: {said}")


@pytest.mark.parametrize("more", [(), ("--check",)])
def test_diagrams_go_into_a_folder(verb: Verb, here: Path, more: tuple[str, ...]) -> None:
    (here / "file").write_text("")
    code, _, err = verb("diagram", "ferry", "--into", "file", *more)
    assert (code, err) == (2, "statecraft: file: found a file, expected a folder for the diagrams\n")
