"""The lens stores, but answers with the inner run."""

from correct import CLOSER, Closer, Door, Hall, Push, the_closer

from statecraft import inner


def with_closer(run: Hall, event: Push, closer: Closer) -> Closer:
    return closer


inner(CLOSER, during=[Door.SHUT], get=the_closer, put=with_closer)  # mistake
