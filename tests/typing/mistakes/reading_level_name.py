"""A level that readings do not have."""

from correct import tired

from statecraft import Level, reaches

reaches(tired, Level.HALT)  # mistake
