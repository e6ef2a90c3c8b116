"""A guard that takes the run alone."""

from correct import Door, Hall, Push, row

from statecraft import Evidence, keep, seen


def greased(run: Hall) -> Evidence:
    return seen("greased", len(run.oil) > 0)


row(Door.SHUT, Push, Door.OPEN, keep, greased)  # mistake
