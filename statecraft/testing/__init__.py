"""For tests of machines: one transition by one call, and which rows and guards a set of steps has covered.

The pytest plugin (`statecraft.testing.plugin`) offers both as a fixture and as options. `cases` and `table_test`
need pytest; `events`, `runs`, `likely`, `machine_of` and `walk` need hypothesis; nothing else here needs either.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .at_once import Both
    from .coverage import Coverage, Covered, Tally, covered
    from .pairs import PairCoverage, Pairs, PairTally, pair_report
    from .paths import Module, commanded, led, path_module, taken
    from .questions import Wanted, Way, wanted
    from .recorder import recording
    from .reporting import report
    from .scripts import script
    from .searched import SearchCoverage, SearchTally
    from .source import Source, written
    from .stepping import StepOne, step_one
    from .strategies import NoStrategy, events, events_by_type, runs
    from .table_list import Case, cases, table_test
    from .telling import told
    from .walking import Broken, likely, machine_of
    from .walks import Unwalked, Walked, walk

__all__ = [
    "Both",
    "Broken",
    "Case",
    "Coverage",
    "Covered",
    "Module",
    "NoStrategy",
    "PairCoverage",
    "PairTally",
    "Pairs",
    "SearchCoverage",
    "SearchTally",
    "Source",
    "StepOne",
    "Tally",
    "Unwalked",
    "Walked",
    "Wanted",
    "Way",
    "cases",
    "commanded",
    "covered",
    "events",
    "events_by_type",
    "led",
    "likely",
    "machine_of",
    "pair_report",
    "path_module",
    "recording",
    "report",
    "runs",
    "script",
    "step_one",
    "table_test",
    "taken",
    "told",
    "walk",
    "wanted",
    "written",
]

# Every pytest session imports this package on its way to the plugin, so what is not asked for is not imported.
_HOMES = {
    **dict.fromkeys(["Coverage", "Covered", "Tally", "covered"], "coverage"),
    **dict.fromkeys(["PairCoverage", "PairTally", "Pairs", "pair_report"], "pairs"),
    **dict.fromkeys(["NoStrategy", "events", "events_by_type", "runs"], "strategies"),
    **dict.fromkeys(["Broken", "likely", "machine_of"], "walking"),
    **dict.fromkeys(["Unwalked", "Walked", "walk"], "walks"),
    **dict.fromkeys(["Module", "commanded", "led", "path_module", "taken"], "paths"),
    **dict.fromkeys(["Wanted", "Way", "wanted"], "questions"),
    **dict.fromkeys(["Source", "written"], "source"),
    **dict.fromkeys(["SearchCoverage", "SearchTally"], "searched"),
    **dict.fromkeys(["StepOne", "step_one"], "stepping"),
    **dict.fromkeys(["Case", "cases", "table_test"], "table_list"),
    "Both": "at_once",
    "recording": "recorder",
    "report": "reporting",
    "script": "scripts",
    "told": "telling",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        home = import_module(f".{_HOMES[name]}", __name__)
    except ModuleNotFoundError as error:
        if error.name != "hypothesis":
            raise
        raise ModuleNotFoundError(
            f"{__name__}.{name} needs hypothesis: install it beside statecraft", name="hypothesis"
        ) from error
    return getattr(home, name)
