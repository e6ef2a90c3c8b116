"""The pytest plugin: the fixture `step_one`, row coverage of tables, and their mutation (see `mutating`).

`--statecraft-cov` measures every table that a test steps, `--statecraft-cov=MODULE` or `=MODULE:TABLE` those named,
stepped or not; `--statecraft-cov-fail-under=PCT` fails the session below so many percent of rows taken,
`--statecraft-cov-guards-fail-under=PCT` below so many percent of guards seen every way. `--statecraft-cov-pairs` also
reports which rows of one cell were seen to hold at once, and `--statecraft-cov-pairs-fail-under=PCT` is its limit.
`--statecraft-cov-diagram=FOLDER` draws each machine with what was seen of it. Only steps of this process are seen, so
it does not go together with pytest-xdist.

Every pytest session loads this module where statecraft is installed: it does nothing, and imports nothing else, until
an option or the fixture is used.
"""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from . import mutate_options

if TYPE_CHECKING:
    from ..heard import AnyTable
    from .measured import Found
    from .stepping import StepOne

OPTION = "--statecraft-cov"
ROWS_LIMIT = "--statecraft-cov-fail-under"
GUARDS_LIMIT = "--statecraft-cov-guards-fail-under"
PAIRS = "--statecraft-cov-pairs"
PAIRS_LIMIT = "--statecraft-cov-pairs-fail-under"
DIAGRAM = "--statecraft-cov-diagram"
NEEDS = {ROWS_LIMIT: OPTION, GUARDS_LIMIT: OPTION, PAIRS: OPTION, PAIRS_LIMIT: PAIRS, DIAGRAM: OPTION}


@pytest.fixture
def step_one() -> StepOne:
    """The function `statecraft.testing.step_one`: one transition of a table tested by one call."""
    from .stepping import step_one as function

    return function


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    mutate_options.add_options(parser, _percentage)
    group = parser.getgroup("statecraft", "row coverage of state machines")
    group.addoption(
        OPTION,
        action="append",
        nargs="?",
        const="",
        metavar="MODULE[:TABLE]",
        help="report which rows were taken and which guards were seen every way: of the named tables, or of all that "
        "are stepped; may be given several times",
    )
    group.addoption(
        PAIRS,
        action="store_true",
        default=None,
        help="report too which rows of one cell were seen to hold at once, so that their order was tested; a row "
        "without guards holds always, and is in no pair",
    )
    group.addoption(
        DIAGRAM,
        metavar="FOLDER",
        help="draw each machine, with the rows that were taken, as NAME.dot, NAME.mmd and, by Graphviz, NAME.svg",
    )
    limits = {ROWS_LIMIT: "rows were taken", GUARDS_LIMIT: "guards were seen every way", PAIRS_LIMIT: "pairs were seen"}
    for option, what in limits.items():
        group.addoption(option, type=_percentage, metavar="PCT", help=f"fail if fewer than PCT percent of the {what}")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to record, if asked to."""
    _no_path_taken_for_a_value(config.invocation_params.args)
    mutate_options.configure(config, _importable)
    for option, needed in NEEDS.items():
        if config.getoption(option) is not None and config.getoption(needed) is None:
            raise pytest.UsageError(f"{option} needs {needed}")
    named: list[str] | None = config.getoption(OPTION)
    if named is None:
        return
    if hasattr(config, "workerinput") or config.getoption("dist", "no") != "no":
        raise pytest.UsageError(f"{OPTION} sees the steps of one process only: leave out -n and --dist of pytest-xdist")
    config.pluginmanager.register(_Session(config, named), "statecraft-coverage")


def _percentage(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number <= 100:
        raise ArgumentTypeError(f"expected a number from 0 to 100, found {text!r}")
    return number


def _folder(config: pytest.Config) -> Path | None:
    """Where diagrams are to be written, made at once: what cannot be is said before any test has run."""
    named: str | None = config.getoption(DIAGRAM)
    if named is None:
        return None
    folder = config.invocation_params.dir / named
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{DIAGRAM}={named}: cannot be made a folder: {error.strerror}") from error
    return folder


def _no_path_taken_for_a_value(args: Sequence[object]) -> None:
    """`--statecraft-cov tests` names a module, not the folder to collect; nobody who writes it means that."""
    for option, value in pairwise(args):
        if option in (OPTION, mutate_options.OPTION) and Path(str(value).partition("::")[0]).exists():
            raise pytest.UsageError(
                f"{option} {value}: expected {option}=MODULE, found a path; to collect it, write it before {option}"
            )


@contextmanager
def _importable(folders: Iterable[str]) -> Generator[None]:
    """While the block runs modules are looked for in the folders too, after all other places."""
    added = [folder for folder in dict.fromkeys(folders) if folder not in sys.path]
    sys.path += added
    try:
        yield
    finally:
        sys.path[:] = [folder for folder in sys.path if folder not in added]


class _Session:
    """What `--statecraft-cov` adds to one test session."""

    def __init__(self, config: pytest.Config, named: list[str]) -> None:
        from .measured import Measured
        from .recorder import listening

        self._folders = (str(config.invocation_params.dir), str(config.rootpath))
        self._named = [name for text in named for name in text.split(",") if name]
        self._limits: list[float | None] = [config.getoption(one) for one in (ROWS_LIMIT, GUARDS_LIMIT, PAIRS_LIMIT)]
        self._tables: tuple[AnyTable, ...] | None = None
        self._measured = Measured(pairs=bool(config.getoption(PAIRS)))
        self._found: Found | None = None
        self._diagrams = _folder(config)
        self._drawn: tuple[str, ...] = ()
        recorded = ExitStack()
        recorded.enter_context(listening(self._measured.hear))
        config.add_cleanup(recorded.close)

    def pytest_collection_finish(self) -> None:
        """Look up the names: now the folders of the tests can be imported from, and no test has run in vain.

        They may also lie where pytest was called, as for `statecraft check`, or in its root folder.
        """
        from ..named import NotNamed, machines

        try:
            with _importable(self._folders):
                self._tables = tuple(table for name in self._named for table in machines(name).tables)
        except NotNamed as error:
            raise pytest.UsageError(f"{OPTION}={error}") from error

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Turn a session that would pass into one that fails, where too little was seen."""
        if self._tables is None or session.config.getoption("collectonly"):
            return
        self._found = self._measured.found(self._tables if self._named else None)
        if self._diagrams is not None:
            from .coloured import draw

            self._drawn = draw(self._found.coverage, self._diagrams)
        if exitstatus == pytest.ExitCode.OK and self._found.too_little(self._limits):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Write the report."""
        if self._found is None:
            return
        for title, lines in self._found.sections():
            terminalreporter.section(title)
            for line in lines:
                terminalreporter.write_line(line)
        for line in self._drawn:
            terminalreporter.write_line(line)
        for line in self._found.too_little(self._limits):
            terminalreporter.write_line(f"FAIL: {line}", red=True, bold=True)
