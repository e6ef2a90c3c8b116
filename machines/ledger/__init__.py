"""What a run has learned."""
