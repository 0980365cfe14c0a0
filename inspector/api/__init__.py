"""The REST API of the inspector."""
