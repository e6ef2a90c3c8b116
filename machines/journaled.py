"""How agent runs are journaled: the run's table, the type of its value, the codec, and the writer of one run."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final

from statecraft import Fault
from statecraft.codec import codec
from statecraft.journal import Journaled, JournalError, Overtaken, Store, Writer

from .commands import Command
from .events import Event, Text
from .run import RUN
from .state import ENDINGS, Run, hand_on
from .supervisor import Moved, NewLeg


@contextmanager
def _given_up(store: Store) -> Generator[None, None, None]:
    """Give the store up where what is done in here fails: else it would stay claimed as long as this process lives."""
    try:
        yield
    except BaseException:
        store.close()
        raise


AGENT_RUN: Final[Journaled[Run, Event, Command]] = Journaled(RUN, Run, codec(Run), hand_on)


class RunJournal:
    """One run's journal, written while the run is supervised. A run that breaks off leaves its journal open."""

    def __init__(self, store: Store, writer: Writer[Run, Event, Command]) -> None:
        self._store, self._writer = store, writer
        self.name = store.name
        self.lines = writer.next

    @staticmethod
    def begin(store: Store, run: Run, *, host: str, started: float | None = None) -> RunJournal:
        """The journal of a run that begins; `started`: the wall clock at its time 0, in seconds since 1970."""
        with _given_up(store):
            writer = Writer[Run, Event, Command].begin(
                store, AGENT_RUN, run.id, run, host=host, policy=run.policy, started=started
            )
            return RunJournal(store, writer)

    @staticmethod
    def resume(store: Store, head: str) -> RunJournal:
        """The journal of a run that was left open, whose last line has the hash `head`.

        Raises `JournalError` where nothing can be written after it, and `Overtaken` where another line is the last now.
        """
        with _given_up(store):
            made = RunJournal(store, Writer[Run, Event, Command].resume(store, AGENT_RUN))
            if made.head != head:
                raise Overtaken(f"{store.name}: another process has driven this run since it was read")
            return made

    @property
    def head(self) -> str:
        """The hash of the last line."""
        return self._writer.prev

    @property
    def cut(self) -> bytes:
        """What was cut off when the journal was taken up: a part of a line that a dead writer left."""
        return self._writer.cut

    def take_up(self, by: str, at: float, in_flight: Sequence[dict[str, object]]) -> None:
        """Write that the process `by` has taken the run up, and what was in flight then."""
        self._writer.take_up(by, at, in_flight)
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
