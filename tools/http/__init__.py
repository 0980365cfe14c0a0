"""Workspace tools that send an HTTP request."""
