"""A typed state-machine framework: a machine is one literal table, a guard answers with evidence, a step is a value."""

from typing import Final

from .guards import Evidence, Guard, Level, Reading, Scalar, guard, reaches, seen, used_up, value_is
from .step import Answer, Fault, Ignored, Refused, Step, Unhandled, keep
from .table import BadTable, Inner, Row, Rows, Table, ignore, inner, ordered, refuse
from .world import World

__version__: Final = "0.1.0"

__all__ = [
    "Answer",
    "BadTable",
    "Evidence",
    "Fault",
    "Guard",
    "Ignored",
    "Inner",
    "Level",
    "Reading",
    "Refused",
    "Row",
    "Rows",
    "Scalar",
    "Step",
    "Table",
    "Unhandled",
    "World",
    "__version__",
    "guard",
    "ignore",
    "inner",
    "keep",
    "ordered",
    "reaches",
    "refuse",
    "seen",
    "used_up",
    "value_is",
]
