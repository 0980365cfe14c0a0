"""Django's PostgreSQL backend, which finds out for nothing that a connection in the pool is dead."""
