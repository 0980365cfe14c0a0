"""The workspace tools of MCP servers."""
