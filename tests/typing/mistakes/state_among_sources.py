"""One of several sources is a state of another machine."""

from correct import Door, Push, Spring, row

from statecraft import keep

row([Door.SHUT, Spring.SLACK], Push, Door.OPEN, keep)  # mistake
