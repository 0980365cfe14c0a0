"""This app over HTTP."""
