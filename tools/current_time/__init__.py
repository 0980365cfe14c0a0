"""The tool that tells the time anywhere."""
