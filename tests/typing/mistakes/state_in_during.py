"""An inner machine lives during a state of another machine."""

from correct import CLOSER, Command, Door, Hall, Spring, the_closer, with_closer

from statecraft import Inner, inner

inside: Inner[Hall, Door, Command] = inner(CLOSER, during=[Spring.SLACK], get=the_closer, put=with_closer)  # mistake
