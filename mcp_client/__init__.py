"""The client of MCP servers.

`session`, `transport` and `authorization` import the SDK. They are imported when they are first needed.
"""
