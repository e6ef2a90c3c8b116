"""A program that works beside a run's journal, for the tests that need another process.

    mate.py keep PLACE RUN                 one note after another for ever, each one's number printed once it is kept
    mate.py post PLACE RUN                 the same with letters
    mate.py same PLACE RUN WHO COUNT       that many letters under ids that others use too; which ones were taken
    mate.py lease PLACE RUN WHO COUNT      that many leases, of RUN-0, RUN-1, ...; which ones were got
    mate.py hold PLACE RUN WHO             one lease of ten seconds from 1000 on, and then nothing until it is killed

`same` and `lease` begin when a line comes in, and `same`, `lease` and `hold` print "ready" before.
"""

from __future__ import annotations

import sys
from itertools import count

from statecraft.journal import JournalError, shelf_at

SIZE = 200_000  # bytes of a note or a letter: many pages, so that a kill finds one half-written


def body_of(number: int) -> bytes:
    """What is kept as the number-th: every part of it says which one it is."""
    return (b"%09d " % number) * (SIZE // 10)


def main(verb: str, place: str, run: str, who: str = "", times: str = "0") -> None:
    shelf = shelf_at(place)
    store = shelf.store(run)
    match verb:
        case "keep":
            for number in count():
                store.keep("snapshot", body_of(number))
                print(number, flush=True)
        case "post":
            for number in count():
                store.post(f"letter {number}", body_of(number))
                print(number, flush=True)
        case "same":
            store.post(f"first of {who}", b"")
            _ready()
            print(*(number for number in range(int(times)) if store.post(f"letter {number}", who.encode())))
        case "lease":
            stores = [shelf.store(f"{run}-{number}") for number in range(int(times))]
            store.mail()
            _ready()
            print(*(number for number, each in enumerate(stores) if each.lease(who, 10, 1000) is None))
        case _:
            print(store.lease(who, 10, 1000) or "ready", flush=True)
            sys.stdin.readline()


def _ready() -> None:
    print("ready", flush=True)
    sys.stdin.readline()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except JournalError as error:
        print(error, file=sys.stderr)
        sys.exit(3)
