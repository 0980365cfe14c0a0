"""The whole product at once: web, worker, PostgreSQL, Valkey, and a scripted model over the wire."""
