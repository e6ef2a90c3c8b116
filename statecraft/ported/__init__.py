"""A machine of the `transitions` library, carried over into a module that holds it as one table.

In four steps, each a function of plain values: the machine is read (`read`, which alone knows that library), what it
never does is taken out (`settle`), the module is written (`write`), and the text is loaded (`loaded`).
"""

from .described import Ask, LeftOut, Move, NotPorted, Ported
from .loading import loaded
from .reading import is_machine, read
from .settling import settle
from .writing import Written, write

__all__ = [
    "Ask",
    "LeftOut",
    "Move",
    "NotPorted",
    "Ported",
    "Written",
    "is_machine",
    "loaded",
    "read",
    "settle",
    "write",
]
