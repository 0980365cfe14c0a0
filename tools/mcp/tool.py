"""The workspace tool that an MCP server has."""

import json
from typing import Any

from common.text import remove_invisible
from events.payloads import MCPResultData
from mcp_client.client import call_server_tool
from mcp_client.protocol import MCPError
from tools.interface import ToolContext, ToolError, ToolOutput
from tools.mcp.connecting import get_server_access, refresh_server
from tools.stored_tool import MAX_CHARACTERS, MAX_ERROR_CHARACTERS, StoredTool, call_slots, shorten


class MCPTool(StoredTool):
    """A tool whose call is sent to its MCP server, if the server still describes it as an editor has approved it (SEC31)."""

    async def run(self, ctx: ToolContext, args: dict[str, Any]) -> ToolOutput:
        try:
            async with call_slots.reserve():
                access = await get_server_access(self.row.server)
                result = await call_server_tool(
                    access.build_server(),
                    self.row.remote_name,
                    args,
                    pinned_hash=self.row.pinned_hash,
                    seconds=ctx.config.timeout_s,
                )
        except MCPError as error:
            if error.code in ("changed", "missing"):
                await refresh_server(self.row.server_id, ctx.on_behalf_of.pk if ctx.on_behalf_of else None)
            if error.code == "timeout":
                raise TimeoutError from error
            server_text = (
                f"\n{self.fence_answer(error.server_text[:MAX_ERROR_CHARACTERS])}" if error.server_text else ""
            )
            raise ToolError(f"{error}{server_text}", is_final=error.is_final or not self.can_repeat) from error
        if result.is_error:
            text = f"The tool failed.\n{self.fence_answer(shorten(result.text, MAX_ERROR_CHARACTERS))}"
            raise ToolError(text, is_final=not self.can_repeat)
        text = self.fence_answer(shorten(result.text or "(There is no text in the answer.)", MAX_CHARACTERS))
        if result.structured is None:
            return ToolOutput(text)
        value = remove_invisible(json.dumps(result.structured, ensure_ascii=False, indent=1))
        shown = shorten(value, MAX_CHARACTERS)
        data = MCPResultData(server=self.row.server.name, tool=self.row.remote_name, text=shown, is_cut=shown != value)
        return ToolOutput(text, data)
