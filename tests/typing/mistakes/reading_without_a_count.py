"""A guard without a count cannot reach a level."""

from correct import strong

from statecraft import Level, reaches

reaches(strong, Level.STOP)  # mistake
