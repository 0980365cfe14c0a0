"""The REST API of the run inspector."""
