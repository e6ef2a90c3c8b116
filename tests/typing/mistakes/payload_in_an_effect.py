"""An effect reads what the event does not carry."""

from correct import Hall, Push, Ring


def ring(run: Hall, event: Push) -> tuple[Hall, tuple[Ring, ...]]:
    return run, (Ring(event.times),)  # mistake
