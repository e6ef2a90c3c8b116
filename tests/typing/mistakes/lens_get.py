"""The lens finds something that is no run of the inner machine."""

from correct import CLOSER, Door, Hall, Push, with_closer

from statecraft import inner


def the_key(run: Hall, event: Push) -> str:
    return run.key


inner(CLOSER, during=[Door.SHUT], get=the_key, put=with_closer)  # mistake
