"""How agent runs are journaled: the run's table, the type of its value, the codec, and the writer of one run."""

from __future__ import annotations

from typing import Final

from statecraft import Fault
from statecraft.codec import codec
from statecraft.journal import Journaled, JournalError, Store, Writer

from .commands import Command
from .events import Event, Text
from .run import RUN
from .state import ENDINGS, Run, hand_on
from .supervisor import Moved, NewLeg

AGENT_RUN: Final[Journaled[Run, Event, Command]] = Journaled(RUN, Run, codec(Run), hand_on)


class RunJournal:
    """One run's journal, written while the run is supervised. A run that breaks off leaves its journal open."""

    def __init__(self, store: Store, run: Run, *, host: str) -> None:
        self._store = store
        try:
            self._writer = Writer[Run, Event, Command].begin(
                store, AGENT_RUN, run.id, run, host=host, policy=run.policy
            )
        except BaseException:
            store.close()  # else the place would stay claimed as long as this process lives
            raise
        self.name = store.name
        self.lines = self._writer.next

    def keep(self, text: Text, content: str) -> None:
        """Keep a text beside the chain, under the digest that `text` has too."""
        del text
        self._store.put(content.encode("utf-8", "surrogatepass"))

    def text_of(self, text: Text) -> str | None:
        """A text that was kept; None where it is gone, or was changed."""
        try:
            content = self._store.get(text.digest)
        except JournalError:
            return None
        return None if content is None else content.decode("utf-8", "surrogatepass")

    def watch(self, move: Moved | NewLeg) -> None:
        """Write one step."""
        if isinstance(move, NewLeg):
            self._writer.leg(move.run)
        elif isinstance(move.answer, Fault):
            self._writer.fault(move.event, move.answer)
        else:
            self._writer.answer(move.event, move.answer)
        self.lines = self._writer.next

    def close(self, run: Run | None) -> None:
        """Close the journal; with a terminal record, if the run has ended."""
        try:
            if run is not None and run.at in ENDINGS:
                self._writer.end(run.at)
        finally:
            self._store.close()
