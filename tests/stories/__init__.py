"""Tests of the complete product: web, worker, PostgreSQL, Valkey, and a scripted model over HTTP."""
