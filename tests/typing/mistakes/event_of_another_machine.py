"""An event outside the machine's alphabet is sent to it."""

from correct import HALL, Hall, Knock


def send(run: Hall) -> None:
    HALL.step(run, Knock())  # mistake
