"""A scripted model server on localhost, for demonstrations and tests: real HTTP, every wire, faults on demand."""

from .moves import (
    CutStream,
    Drop,
    EchoKey,
    ErrorInStream,
    Garbage,
    Move,
    Refuse,
    Stall,
    StallStream,
    Turn,
    Unstreamed,
    call,
)
from .received import Received
from .script import Script, by_run
from .server import ScriptedServer

__all__ = [
    "CutStream",
    "Drop",
    "EchoKey",
    "ErrorInStream",
    "Garbage",
    "Move",
    "Received",
    "Refuse",
    "Script",
    "ScriptedServer",
    "Stall",
    "StallStream",
    "Turn",
    "Unstreamed",
    "by_run",
    "call",
]
