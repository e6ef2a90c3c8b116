"""What a text names, and what is said where it names nothing of the kind."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from statecraft import Table, World
from statecraft.named import NotNamed, machines, value

LIGHT = """
from enum import Enum, auto
from attrs import evolve, frozen
from statecraft import Rows, Table, World, keep

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
    return [table.name for table in machines(text).tables]


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
            "expected a table, found nothing of that name; it has ONE, TWO, AGAIN; looked in {shop}/light.py",
        ),
        (
            "shop_of_tests.light:NUMBER",
            "expected a table, found int; it has ONE, TWO, AGAIN; looked in {shop}/light.py",
        ),
        ("shop_of_tests.none:THERE", "expected a table, found int; it has none; looked in {shop}/none.py"),
        ("shop_of_tests.none", "expected a module that holds tables, found none; looked in {shop}/none.py"),
    ],
)
def test_where_there_is_no_such_table_the_file_is_named(shop: Path, text: str, message: str) -> None:
    with pytest.raises(NotNamed) as caught:
        machines(text)
    assert str(caught.value) == f"{text}: {message.format(shop=shop)}"


@pytest.mark.parametrize("text", ["shop_of_tests.gone", "gone_of_tests", "gone_of_tests:ONE"])
def test_where_there_is_no_such_module_that_is_said(shop: Path, text: str) -> None:
    with pytest.raises(NotNamed, match=rf"^{text}: cannot import '{text.partition(':')[0]}' \(ModuleNotFoundError: "):
        machines(text)


@pytest.mark.parametrize("text", ["", ":", ":ONE", "shop_of_tests:", ".light"])
def test_a_text_of_another_form_is_refused(shop: Path, text: str) -> None:
    with pytest.raises(NotNamed) as caught:
        machines(text)
    assert str(caught.value) == f"{text!r}: expected MODULE or MODULE:NAME"


def test_a_module_that_does_not_import_is_named_with_its_error(shop: Path) -> None:
    (shop / "broken.py").write_text("1 / 0\n")
    with pytest.raises(NotNamed) as caught:
        machines("shop_of_tests")
    assert str(caught.value) == (
        "shop_of_tests: cannot import 'shop_of_tests.broken' "
        f"(ZeroDivisionError: division by zero); looked in {shop}/__init__.py"
    )


def test_a_name_of_a_package_is_looked_for_in_its_tables_too(shop: Path) -> None:
    (shop / "tables.py").write_text("from .light import *\nINSIDE = build('inside')\nTABLES = (TWO,)\nSIZE = 3\n")
    (shop / "__init__.py").write_text("OUTSIDE = 4\n")
    assert names("shop_of_tests:INSIDE") == ["inside"]
    assert value("shop_of_tests:SIZE", is_int, "a number") == 3
    assert value("shop_of_tests:OUTSIDE", is_int, "a number") == 4
    with pytest.raises(NotNamed) as caught:
        value("shop_of_tests:TABLES", is_int, "a number")
    assert str(caught.value) == (
        "shop_of_tests:TABLES: expected a number, found tuple; it has NUMBER, SIZE, OUTSIDE; "
        f"looked in {shop}/tables.py"
    )


@pytest.mark.parametrize("text", ["", "shop_of_tests.light", "shop_of_tests.light:"])
def test_a_value_needs_a_name(shop: Path, text: str) -> None:
    with pytest.raises(NotNamed) as caught:
        value(text, is_int, "a number")
    assert str(caught.value) == f"{text!r}: expected MODULE:NAME of a number"


def test_samples_come_with_the_tables(shop: Path) -> None:
    (shop / "offers.py").write_text("from .light import *\nTABLES = (TWO,)\nSAMPLES = {'two': Run(Light.RED)}\n")
    assert machines("shop_of_tests.light").samples == {}
    for text in ("shop_of_tests.offers", "shop_of_tests.offers:ONE", "shop_of_tests"):
        assert list(machines(text).samples) == ["two"]


def test_worlds_come_with_the_tables(shop: Path) -> None:
    (shop / "offers.py").write_text("from .light import *\nTABLES = (TWO,)\nWORLDS = {'two': World({})}\n")
    assert machines("shop_of_tests.light").worlds == {}
    for text in ("shop_of_tests.offers", "shop_of_tests.offers:ONE", "shop_of_tests"):
        assert machines(text).worlds == {"two": World({})}


def test_what_is_assumed_comes_with_the_tables_each_line_once(shop: Path) -> None:
    (shop / "offers.py").write_text("from .light import *\nTABLES = (TWO,)\nASSUMED = ('people sleep', 'it ends')\n")
    assert machines("shop_of_tests.light").assumed == ()
    for text in ("shop_of_tests.offers", "shop_of_tests.offers:ONE", "shop_of_tests"):
        assert machines(text).assumed == ("people sleep", "it ends")
    (shop / "others.py").write_text("ASSUMED = ['it ends', 'it rains']\n")
    assert machines("shop_of_tests").assumed == ("people sleep", "it ends", "it rains")


@pytest.mark.parametrize(
    ("offer", "message"),
    [
        ("TABLES = TWO", "TABLES: expected a list of tables, found Table"),
        ("SAMPLES = [Run(Light.RED)]", "SAMPLES: expected runs by the names of tables, found list"),
        ("WORLDS = [World({})]", "WORLDS: expected Worlds by the names of tables, found list"),
        ("WORLDS = {'two': 7}", "WORLDS: expected Worlds by the names of tables, found dict"),
        (
            "SEARCHES = [7]",
            "SEARCHES: expected a list of searches, each with its table or as a text MODULE:NAME, found list",
        ),
        ("ASSUMED = 'it ends'", "ASSUMED: expected a list of texts, found str"),
        ("ASSUMED = ['it ends', 7]", "ASSUMED: expected a list of texts, found list"),
    ],
)
def test_an_offer_of_another_form_is_refused_with_its_file(shop: Path, offer: str, message: str) -> None:
    (shop / "offers.py").write_text(f"from .light import *\n{offer}\n")
    with pytest.raises(NotNamed) as caught:
        machines("shop_of_tests.offers")
    assert str(caught.value) == f"shop_of_tests.offers: {message}; looked in {shop}/offers.py"


@pytest.mark.parametrize(
    ("offer", "message"),
    [
        ("SAMPLES = {'tow': Run(Light.RED)}", "SAMPLES: found 'tow', expected the name of a table: one, two"),
        ("WORLDS = {'': World({})}", "WORLDS: found '', expected the name of a table: one, two"),
        ("FACTS = [Other(build('one'))]", "FACTS: found one of a table 'one' that is none of this module's own"),
        ("SEARCHES = [Other(build('six'))]", "SEARCHES: found one of a table 'six' that is none of this module's own"),
    ],
)
def test_what_is_offered_for_no_table_of_the_module_is_refused(shop: Path, offer: str, message: str) -> None:
    other = "@frozen(eq=False)\nclass Other:\n    table: object\n"
    (shop / "offers.py").write_text(
        f"from .light import *\nfrom .light import ONE, TWO, build, frozen\n{other}\n{offer}\n"
    )
    with pytest.raises(NotNamed) as caught:
        machines("shop_of_tests.offers")
    assert str(caught.value) == f"shop_of_tests.offers: {message}"


@pytest.fixture
def not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's own `machines`, which was imported before ours or lies before it; what was loaded comes back after."""
    kept = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "machines"}
    for name in kept:
        del sys.modules[name]
    folder = tmp_path / "machines"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.invalidate_caches()
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "machines"]:
        del sys.modules[name]
    sys.modules.update(kept)


@pytest.mark.parametrize("text", ["machines", "machines:RUN", "machines.journaled:AGENT_RUN", "machines.run"])
def test_a_package_that_hides_our_machines_is_named_with_its_folder(not_ours: Path, text: str) -> None:
    with pytest.raises(NotNamed) as caught:
        machines(text)
    said = f"; looked in {not_ours}/__init__.py; the folder {not_ours} hides statecraft's own machines"
    assert str(caught.value).endswith(said)


def test_a_folder_without_a_package_hides_our_machines_too(tmp_path: Path, not_ours: Path) -> None:
    (not_ours / "__init__.py").unlink()
    sys.path[:] = [str(tmp_path)]  # Python takes any real package before a bare folder
    with pytest.raises(NotNamed) as caught:
        machines("machines")
    said = f"; looked in {not_ours}; the folder {not_ours} hides statecraft's own machines"
    assert str(caught.value).endswith(said)


def test_a_users_own_machines_are_as_good_as_any(not_ours: Path) -> None:
    (not_ours / "__init__.py").write_text(f"{LIGHT}\nONE = build('one')\n")
    assert names("machines") == names("machines:ONE") == ["one"]


def test_our_machines_hide_nothing() -> None:
    with pytest.raises(NotNamed) as caught:
        machines("machines:GONE")
    assert "hides" not in str(caught.value)
    assert all(isinstance(table, Table) for table in machines("machines").tables)
    assert "run" in [table.name for table in machines("machines").tables]


def is_int(value: object) -> bool:
    return isinstance(value, int)
