"""The lens stores something that is no run of the inner machine."""

from correct import CLOSER, Door, Hall, Push, the_closer

from statecraft import inner


def with_key(run: Hall, event: Push, key: str) -> Hall:
    return run


inner(CLOSER, during=[Door.SHUT], get=the_closer, put=with_key)  # mistake
