"""The policies that ship: found by name, complete, and each with a head that says what it is."""

from __future__ import annotations

from pathlib import Path

import attrs
import pytest

from machines.policy import DEFAULT, Detectors, Progress, problems_of
from machines.policy_file import BadPolicy, keys_of, read_policy
from machines.policy_shipped import head_of, name_in, names, text_of, title_of
from machines.run import RUN
from machines.state import new_run
from machines.tables import TABLES
from statecraft.proofs import prove

OTHERS = [name for name in names() if name != "default"]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_these_are_there_the_default_first() -> None:
    assert names() == ("default", "call-hash", "distinct-progress", "first-match", "result-aware")


def test_the_default_by_its_name_is_the_default() -> None:
    assert read_policy(Path("default")) == DEFAULT
    assert keys_of(Path("default")) == ()


@pytest.mark.parametrize("name", names())
def test_each_has_a_title_and_says_more_beneath_it(name: str) -> None:
    first, gap, *more = head_of(name).splitlines()
    assert first == f"# {title_of(name)}"
    assert 20 < len(title_of(name)) <= 85
    assert gap == "#"
    assert more
    assert all(len(line) <= 120 for line in text_of(name).splitlines())


@pytest.mark.parametrize("name", OTHERS)
def test_each_differs_from_the_default_and_has_nothing_wrong(name: str) -> None:
    policy = read_policy(Path(name))
    assert policy != DEFAULT
    assert problems_of(policy) == []


@pytest.mark.parametrize("name", OTHERS)
def test_every_run_ends_under_each(name: str) -> None:
    report = prove(TABLES, {RUN.name: new_run("run", read_policy(Path(name)))})
    assert report.ok, report.lines


@pytest.mark.parametrize(
    ("name", "on"),
    [
        ("call-hash", {"spread_duplicate"}),
        ("result-aware", {"consecutive_duplicate", "cycle"}),
        ("distinct-progress", {"stalled_work", "monologue"}),
        (
            "first-match",
            {
                "validation_error",
                "empty_thought",
                "consecutive_duplicate",
                "spread_duplicate",
                "same_error",
                "search_escalation",
                "family",
                "fruitless_tool",
                "redundant_check",
            },
        ),
    ],
)
def test_each_has_these_detectors_on_and_no_other(name: str, on: set[str]) -> None:
    detectors = read_policy(Path(name)).detectors
    assert {f.name for f in attrs.fields(Detectors) if getattr(detectors, f.name).enabled} == on


def test_results_are_looked_at_by_all_but_one() -> None:
    assert [name for name in names() if not read_policy(Path(name)).progress.results] == ["call-hash"]
    assert Progress().results


def test_a_file_of_that_name_comes_before_the_policy_that_ships(tmp_path: Path) -> None:
    given = Path("first-match")
    assert name_in(given) == "first-match"
    (tmp_path / given).mkdir()
    assert name_in(given) == "first-match", "a folder is no policy file"
    (tmp_path / given).rmdir()
    (tmp_path / given).write_text("[budget]\nturns = 7\n")
    assert name_in(given) is None
    assert read_policy(given).budget.turns == 7


@pytest.mark.parametrize("given", ["policies/first-match", "./x/first-match", "first-match.toml", "First-Match", ""])
def test_only_a_word_of_its_own_is_a_name(given: str) -> None:
    assert name_in(Path(given)) is None


def test_a_name_that_is_none_is_told_those_that_are() -> None:
    with pytest.raises(BadPolicy) as caught:
        read_policy(Path("strict"))
    assert str(caught.value) == (
        "strict: No such file or directory, and no policy of that name; there are "
        "default, call-hash, distinct-progress, first-match, result-aware"
    )
    with pytest.raises(BadPolicy) as caught:
        read_policy(Path("there/strict"))
    assert str(caught.value) == "there/strict: No such file or directory"


def test_they_can_be_laid_over_another_policy() -> None:
    base = attrs.evolve(DEFAULT, budget=attrs.evolve(DEFAULT.budget, turns=9))
    assert read_policy(Path("call-hash"), base).budget.turns == 9
