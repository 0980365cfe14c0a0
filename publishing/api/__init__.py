"""The REST API of publishing."""
