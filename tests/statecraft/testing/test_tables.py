"""The tables that a text names, and what is said where it names none."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from statecraft.testing.tables import NoTable, tables

LIGHT = """
from enum import Enum, auto
from attrs import evolve, frozen
from statecraft import Rows, Table, keep

class Light(Enum):
    RED = auto()
    GREEN = auto()

@frozen
class Go:
    pass

@frozen
class Run:
    at: Light

def build(name):
    return Table(name, [Rows()(Light.RED, Go, Light.GREEN, keep)], events=[Go], initial=Light.RED, final=[Light.GREEN],
                 at=lambda run: run.at, move=lambda run, state: evolve(run, at=state))

NUMBER = 7
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package of a user, `shop_of_tests`, that can be imported: tables in two of its modules, none in a third."""
    folder = tmp_path / "shop_of_tests"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "light.py").write_text(f"{LIGHT}\nONE = build('one')\nTWO = build('two')\nAGAIN = ONE\n")
    (folder / "more.py").write_text("from .light import ONE, build\nTHREE = build('three')\n")
    (folder / "none.py").write_text("THERE = 1\n")
    (folder / "__main__.py").write_text("raise SystemExit('this must not be run')\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "shop_of_tests"]:
        del sys.modules[name]


def names(text: str) -> list[str]:
    return [table.name for table in tables(text)]


def test_a_module_and_a_name_are_one_table(shop: Path) -> None:
    assert names("shop_of_tests.light:TWO") == ["two"]


def test_a_module_is_all_its_tables_each_once(shop: Path) -> None:
    assert names("shop_of_tests.light") == ["one", "two"]


def test_a_package_is_the_tables_of_all_its_modules_each_once(shop: Path) -> None:
    assert names("shop_of_tests") == ["one", "two", "three"]


def test_a_module_that_offers_tables_is_those(shop: Path) -> None:
    (shop / "offers.py").write_text("from .light import *\nTABLES = (TWO, build('made'))\n")
    assert names("shop_of_tests.offers") == ["two", "made"]
    assert names("shop_of_tests.offers:ONE") == ["one"]


def test_a_package_that_offers_tables_is_those_alone(shop: Path) -> None:
    (shop / "tables.py").write_text("from .light import *\nTABLES = (TWO,)\n")
    assert names("shop_of_tests") == ["two"]
    (shop / "__init__.py").write_text("from .light import ONE\nTABLES = (ONE,)\n")
    for name in ("shop_of_tests", "shop_of_tests.tables"):
        del sys.modules[name]
    importlib.invalidate_caches()
    assert names("shop_of_tests") == ["one"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "shop_of_tests.light:FOUR",
            "expected a table, found nothing of that name; tables there: ONE, TWO, AGAIN; looked in {shop}/light.py",
        ),
        (
            "shop_of_tests.light:NUMBER",
            "expected a table, found int; tables there: ONE, TWO, AGAIN; looked in {shop}/light.py",
        ),
        ("shop_of_tests.none:THERE", "expected a table, found int; tables there: none; looked in {shop}/none.py"),
        ("shop_of_tests.none", "expected a module that holds tables, found none; looked in {shop}/none.py"),
    ],
)
def test_where_there_is_no_such_table_the_file_is_named(shop: Path, text: str, message: str) -> None:
    with pytest.raises(NoTable) as caught:
        tables(text)
    assert str(caught.value) == f"{text}: {message.format(shop=shop)}"


@pytest.mark.parametrize("text", ["shop_of_tests.gone", "gone_of_tests", "gone_of_tests:ONE", "", ":ONE", ".light"])
def test_where_there_is_no_such_module_that_is_said(shop: Path, text: str) -> None:
    with pytest.raises(NoTable, match="expected MODULE:TABLE or MODULE, cannot import"):
        tables(text)


def test_a_module_that_does_not_import_is_named_with_its_error(shop: Path) -> None:
    (shop / "broken.py").write_text("1 / 0\n")
    with pytest.raises(NoTable) as caught:
        tables("shop_of_tests")
    assert str(caught.value) == (
        "shop_of_tests: expected MODULE:TABLE or MODULE, cannot import 'shop_of_tests.broken' "
        f"(ZeroDivisionError: division by zero); looked in {shop}/__init__.py"
    )
