"""The help of every verb: examples, no noise, and words that agree with what the verb does."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from machines.cli.app import application
from statecraft import __version__

Statecraft = Callable[..., tuple[int, str, str]]
VERBS = sorted(name for name in application() if not name.startswith("-"))


def test_these_verbs_are_there() -> None:
    assert {"audit", "check", "demo", "detectors", "diagram", "explain", "policy", "replay", "verify"} <= set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("width", ["80", "140"])
def test_every_verb_shows_examples_of_itself(
    statecraft: Statecraft, verb: str, width: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    code, out, err = statecraft(verb, "--help")
    assert (code, err) == (0, "")
    _, heading, examples = out.partition("\nExamples:\n")
    assert heading
    shown = examples.strip("\n").split("\n")
    assert len(shown) >= 2
    assert all(f"statecraft {verb}" in line for line in shown)
    assert all(line.startswith("  ") for line in shown)


@pytest.mark.parametrize("verb", VERBS)
def test_no_flag_shows_a_default_and_no_positional_word_an_option(statecraft: Statecraft, verb: str) -> None:
    out = statecraft(verb, "--help")[1]
    assert "False" not in out
    assert not re.search(r"(JOURNAL|TARGET|FILE) --", out)


@pytest.mark.parametrize("verb", VERBS)
def test_every_example_that_can_be_read_is_a_right_command_line(statecraft: Statecraft, verb: str) -> None:
    application_ = application()
    examples = statecraft(verb, "--help")[1].partition("\nExamples:\n")[2].strip("\n").split("\n")
    for example in examples:
        words = shlex.split(example.rpartition("|")[2].partition(">")[0])
        assert words[0] == "statecraft"
        application_.parse_args(["./-" if word == "-" else word for word in words[1:]], exit_on_error=False)


def test_the_help_of_the_program_names_its_exit_codes_and_where_more_is(statecraft: Statecraft) -> None:
    code, out, _ = statecraft("--help")
    assert code == 0
    flat = " ".join(out.split())
    assert "Exit codes: 0 done, 1 what was asked for was found, 2 bad input, 3 put down and waiting, 70 a fault" in flat
    assert "statecraft COMMAND --help" in flat


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("audit", "judged by the budget that its recording names, or by none"),
        ("policy", 'A limit that is switched off is written "unlimited".'),
        ("policy", "A policy that ships is meant by its name where there is no such file"),
        ("detectors", "To take one out of the roster is one line in a policy file"),
        ("detectors", "detectors.cycle.enabled=false"),
        ("replay", "nothing is forecast"),
        ("verify", "one object a run, one a line"),
        ("diagram", "[default: diagrams]"),
    ],
)
def test_what_must_be_found_is_in_the_help(
    statecraft: Statecraft, verb: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert words in statecraft(verb, "--help")[1]


def test_the_version_is_the_distributions(statecraft: Statecraft, root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert __version__ == project["version"]
    assert statecraft("--version") == (0, f"{__version__}\n", "")
