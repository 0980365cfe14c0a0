"""The services of tools: policies, servers, workspace tools, imports, and tests."""

from tools.services.imports import import_operations
from tools.services.servers import change_server, create_server, delete_server
from tools.services.workspace_tools import approve_tool, change_tool, create_tool, delete_tool, set_policy

__all__ = [
    "approve_tool",
    "change_server",
    "change_tool",
    "create_server",
    "create_tool",
    "delete_server",
    "delete_tool",
    "import_operations",
    "set_policy",
]
