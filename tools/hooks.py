"""The hooks of tools, which call functions of the apps above. `config/hooks.py` lists these functions."""

from collections.abc import Sequence

from common.hooks import Hook
from tools.models import WorkspaceTool

# Called when approved tools of one MCP server are switched off, because the server describes them in another way. The server is
# locked, and an editor must approve the new descriptions.
tools_changed: "Hook[[Sequence[WorkspaceTool]]]" = Hook("tools_changed")
