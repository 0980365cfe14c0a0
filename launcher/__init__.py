"""A real PostgreSQL and a real Valkey as private child processes, and the launcher that keeps the whole stack together.

Nothing here imports Django: the launcher stays small, and the servers are up before the settings are read.
"""
