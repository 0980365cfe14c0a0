"""Django's PostgreSQL backend with a cheap health check of pooled connections."""
