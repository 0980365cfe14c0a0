"""The launcher: it starts PostgreSQL, Valkey, web and worker as its child processes, and supervises them.

Nothing here imports Django, so that the launcher stays small and the servers run before the settings are read.
"""
