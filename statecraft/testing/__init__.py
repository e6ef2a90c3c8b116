"""For tests of machines: one transition by one call, and which rows and guards a set of steps has covered.

The pytest plugin (`statecraft.testing.plugin`) offers both as a fixture and as options; nothing here needs pytest.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .coverage import Coverage, Covered, Tally, covered
    from .pairs import PairCoverage, Pairs, PairTally, pair_report
    from .questions import Wanted, Way, wanted
    from .recorder import recording
    from .reporting import report
    from .scripts import script
    from .source import Source, written
    from .stepping import StepOne, step_one
    from .table_list import Case, cases, table_test
    from .telling import told

__all__ = [
    "Case",
    "Coverage",
    "Covered",
    "PairCoverage",
    "PairTally",
    "Pairs",
    "Source",
    "StepOne",
    "Tally",
    "Wanted",
    "Way",
    "cases",
    "covered",
    "pair_report",
    "recording",
    "report",
    "script",
    "step_one",
    "table_test",
    "told",
    "wanted",
    "written",
]

# Every pytest session imports this package on its way to the plugin, so what is not asked for is not imported.
_HOMES = {
    **dict.fromkeys(["Coverage", "Covered", "Tally", "covered"], "coverage"),
    **dict.fromkeys(["PairCoverage", "PairTally", "Pairs", "pair_report"], "pairs"),
    **dict.fromkeys(["Wanted", "Way", "wanted"], "questions"),
    **dict.fromkeys(["Source", "written"], "source"),
    **dict.fromkeys(["StepOne", "step_one"], "stepping"),
    **dict.fromkeys(["Case", "cases", "table_test"], "table_list"),
    "recording": "recorder",
    "report": "reporting",
    "script": "scripts",
    "told": "telling",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
