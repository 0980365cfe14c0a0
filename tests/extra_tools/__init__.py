"""An app with tools for tests, one of which kills the process that calls it (RUN9)."""
