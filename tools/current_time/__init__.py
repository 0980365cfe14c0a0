"""The tool that returns the time at a place."""
