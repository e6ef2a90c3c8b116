"""How agent runs are journaled: the run's table, the type of its value, and the codec for events and commands."""

from __future__ import annotations

from typing import Final

from statecraft.codec import codec
from statecraft.journal import Journaled

from .commands import Command
from .events import Event
from .run import RUN
from .state import Run, hand_on

AGENT_RUN: Final[Journaled[Run, Event, Command]] = Journaled(RUN, Run, codec(Run), hand_on)
