"""A reading is no guard until it reaches a level."""

from correct import tired

from statecraft import guard

guard(tired)  # mistake
