"""The hooks of tools, which call functions of the apps above. `config/hooks.py` lists these functions."""

from collections.abc import Sequence
from uuid import UUID

from common.hooks import CollectingHook, Hook
from tools.interface import Tool
from tools.models import WorkspaceTool

# Called when approved tools of one MCP server are switched off, because the server describes them in another way. The server is
# locked, and an editor must approve the new descriptions.
tools_changed: "Hook[[Sequence[WorkspaceTool]]]" = Hook("tools_changed")

# Called for names that no system tool has. Listeners return the tools of other apps that have them: public agents.
find_tools: "CollectingHook[[Sequence[str]], Tool]" = CollectingHook("find_tools")
# Called for the list of a workspace's tools. Listeners return the names of tools of other apps that its agents have.
list_names_in_use: "CollectingHook[[UUID], str]" = CollectingHook("list_names_in_use")
