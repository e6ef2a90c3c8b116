"""A scripted model server on localhost, for demonstrations and tests: real HTTP, every wire, faults on demand."""

from .moves import Drop, EchoKey, Garbage, Move, Refuse, Stall, Turn, call
from .received import Received
from .script import Script, by_run
from .server import ScriptedServer

__all__ = [
    "Drop",
    "EchoKey",
    "Garbage",
    "Move",
    "Received",
    "Refuse",
    "Script",
    "ScriptedServer",
    "Stall",
    "Turn",
    "by_run",
    "call",
]
