"""A run of another machine is stepped."""

from correct import HALL, Closer, Push


def send(run: Closer) -> None:
    HALL.step(run, Push(3))  # mistake
