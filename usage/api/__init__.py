"""REST of this app."""
