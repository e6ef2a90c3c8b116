"""Exit codes and errors: one line each, and none of the program's own faults looks like a finding."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from cyclopts import App

from statecraft import BadTable
from statecraft.cli import BadInput, add, run
from statecraft.cli.texts import EXAMPLES, split

Verb = Callable[..., tuple[int, str, str]]


def raising(error: BaseException) -> App:
    app = App(name="statecraft", help_format="plaintext")

    def go() -> int:
        raise error

    app.command(go)
    return app


class Known(Exception):
    pass


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInput("x: found 1, expected 2"), 2, "statecraft: x: found 1, expected 2\n"),
        (BadInput("a\nb"), 2, "statecraft: a\nstatecraft: b\n"),
        (BadTable("hall", ["no row"]), 2, None),
        (Known("known"), 2, "statecraft: known\n"),
        (FileNotFoundError(2, "No such file", "x.toml"), 2, "statecraft: x.toml: No such file\n"),
        (OSError(28, "No space left on device"), 2, "statecraft: output: No space left on device\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(
    error: BaseException, code: int, said: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(raising(error), ["go"], bad=(Known,)) == code
    found = capsys.readouterr().err
    assert found == said or (said is None and "no row" in found)


def test_a_fault_of_the_program_has_a_code_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(raising(KeyError("a\nb")), ["go"]) == 70
    assert capsys.readouterr().err == (
        "statecraft: a fault of the program itself, KeyError: 'a\\nb'; "
        "STATECRAFT_TRACEBACK=1 in the environment shows where\n"
    )


def test_the_traceback_is_there_for_whoever_asks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STATECRAFT_TRACEBACK", "1")
    assert run(raising(KeyError("x")), ["go"]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_module_that_ends_the_program_does_not(verb: Verb, tmp_path: object) -> None:
    with open("ends_of_tests.py", "w", encoding="utf-8") as file:  # noqa: PTH123 - the command's own folder
        file.write("raise SystemExit(0)\n")
    code, _, err = verb("check", "ends_of_tests")
    assert (code, err.count("\n")) == (2, 1)
    assert "ends the program as it is imported" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("explain",), "explain: found no JOURNAL, expected one; see statecraft explain --help"),
        (("explain", "a", "b", "c"), "explain: found b c, expected nothing more; see statecraft explain --help"),
        (("explain", "--row"), "explain: --row: found no value, expected one; see statecraft explain --help"),
        (
            ("explain", "--row", "x", "a"),
            'explain: invalid value for --row: unable to convert "x" into int; see statecraft explain --help',
        ),
        (
            ("verify", "--jsn"),
            "verify: unknown option: --jsn. Did you mean --json?; see statecraft verify --help",
        ),
    ],
)
def test_wrong_words_are_said_with_where_help_is(verb: Verb, words: tuple[str, ...], said: str) -> None:
    assert verb(*words) == (2, "", f"statecraft: {said}\n")


def test_an_unknown_verb_points_to_the_help_of_the_program(verb: Verb) -> None:
    code, _, err = verb("nope")
    assert code == 2
    assert err.endswith("; see statecraft --help\n")
    assert ".;" not in err


@pytest.mark.parametrize("word", ["--journal", "--target"])
@pytest.mark.parametrize("name", ["explain", "replay", "check"])
def test_a_positional_word_is_no_option(verb: Verb, name: str, word: str) -> None:
    code, _, err = verb(name, word, "x")
    assert (code, f"unknown option: {word}" in err) == (2, True)


def test_a_docstring_is_split_into_paragraphs_that_flow_and_its_examples() -> None:
    def go() -> int:
        """Go there, or not.

        Two lines
        more.

        Examples:
            statecraft go
            statecraft go --far
        """
        return 0

    assert split(go) == ("Go there, or not.\n\nTwo lines more.", "Examples:\n  statecraft go\n  statecraft go --far\n")
    go.__doc__ = "Go."
    assert split(go) == ("Go.", "")


@pytest.mark.parametrize("width", [50, 100])
def test_the_help_shows_the_examples_and_breaks_no_line_early(
    width: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def go(far: bool = False) -> int:
        """Go.

        Some words that are longer than one
        line and were broken by hand.

        Examples:
            statecraft go
        """
        return int(far)

    monkeypatch.setenv("COLUMNS", str(width))
    app = App(name="statecraft", help_format="plaintext")
    add(app, go, "go")
    assert run(app, ["go", "--help"]) == 0
    out = capsys.readouterr().out
    assert f"{EXAMPLES}\n  statecraft go\n" in out
    paragraph = re.findall(r"Some words.*?by hand\.", out, re.DOTALL)[0].split("\n")
    assert len(paragraph) == (2 if width < 60 else 1)
