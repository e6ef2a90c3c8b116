"""A fresh inner run that is no run of the inner machine."""

from correct import CLOSER, Door, Hall, the_closer, with_closer

from statecraft import inner


def fresh(run: Hall) -> str:
    return "fresh"


inner(CLOSER, during=[Door.SHUT], get=the_closer, put=with_closer, fresh=fresh)  # mistake
