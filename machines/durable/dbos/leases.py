"""The leases of workers: who of them lives. A worker's bursts are handed on when its lease has run out.

DBOS takes up what a worker of the same name left, and names are not used twice here. The time is the database's own,
so that the clocks of workers need not agree.
"""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

from ...agent.lease import Leased

SWEEPER: Final = "#sweeper"
"""The lease of whoever looks after all others: one worker at a time does."""

_LEASES: Final = "statecraft_workers"
_NOW: Final = {
    "postgresql": "extract(epoch from clock_timestamp())",
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",
}


class Leases:
    """The leases in the database that DBOS has too. A name is `MACHINE/PROCESS/anything`."""

    def __init__(self, url: str) -> None:
        place = sa.make_url(url)
        sqlite = place.get_backend_name() == "sqlite"
        self._engine = sa.create_engine(place if sqlite else place.set(drivername="postgresql+psycopg"), pool_size=2)
        now = _NOW[self._engine.dialect.name]
        with self._engine.begin() as db:
            if sqlite:
                db.exec_driver_sql("PRAGMA journal_mode=wal")
            else:  # IF NOT EXISTS does not wait for another one who makes it
                db.execute(sa.text("SELECT pg_advisory_xact_lock(377094)"))
            db.execute(
                sa.text(
                    f"CREATE TABLE IF NOT EXISTS {_LEASES} (worker VARCHAR(400) PRIMARY KEY, ends DOUBLE PRECISION)"
                )
            )
        self._take = sa.text(
            f"INSERT INTO {_LEASES} (worker, ends) VALUES (:worker, {now} + :seconds)"
            " ON CONFLICT (worker) DO UPDATE SET ends = excluded.ends"
        )
        self._take_over = sa.text(
            f"INSERT INTO {_LEASES} (worker, ends) VALUES (:worker, {now} + :seconds)"
            f" ON CONFLICT (worker) DO UPDATE SET ends = excluded.ends WHERE {_LEASES}.ends <= {now}"
        )
        self._over = sa.text(f"DELETE FROM {_LEASES} WHERE ends <= {now} AND worker <> :sweeper")

    def take(self, worker: str, seconds: float) -> None:
        """Have a lease for so many seconds from now, or renew it."""
        with self._engine.begin() as db:
            db.execute(self._take, {"worker": worker, "seconds": seconds})

    def sweeps(self, seconds: float) -> bool:
        """Whether nobody else looks after the others for so many seconds; then whoever asks does."""
        with self._engine.begin() as db:
            return db.execute(self._take_over, {"worker": SWEEPER, "seconds": seconds}).rowcount == 1

    def give_up(self, worker: str) -> None:
        """Give a lease up."""
        with self._engine.begin() as db:
            db.execute(sa.text(f"DELETE FROM {_LEASES} WHERE worker = :worker"), {"worker": worker})

    def living(self) -> frozenset[str]:
        """Who has a lease, and is not a process of this machine that is gone."""
        with self._engine.begin() as db:
            db.execute(self._over, {"sweeper": SWEEPER})
            found = db.execute(sa.text(f"SELECT worker FROM {_LEASES}")).scalars().all()
        return frozenset(str(worker) for worker in found if not Leased(str(worker)).gone)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()
