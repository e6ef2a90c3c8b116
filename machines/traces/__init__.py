"""Importers of recorded runs: every format becomes the same values, one for each line of the neutral trace."""
