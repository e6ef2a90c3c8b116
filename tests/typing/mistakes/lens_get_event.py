"""The lens can be asked with fewer events than the inner machine has."""

from correct import CLOSER, Closer, Door, Hall, Wind, with_closer

from statecraft import inner


def the_closer(run: Hall, event: Wind) -> Closer:
    return run.closer


inner(CLOSER, during=[Door.SHUT], get=the_closer, put=with_closer)  # mistake
