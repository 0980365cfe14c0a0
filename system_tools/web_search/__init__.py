"""The tool that searches the web."""
