"""A reading rests on a value that is no JSON scalar."""

from correct import Hall, Push

from statecraft import Reading


def tired(run: Hall, event: Push) -> Reading:
    return Reading("tired", run.pushes, 3, 5, 7, {"run": run})  # mistake
