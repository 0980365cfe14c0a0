"""The base class of the tools that are rows of a workspace."""

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from common.shared_slots import SharedSlots
from events.payloads import ServerTarget
from events.rows import Policy, ToolEffect
from tools.arguments import parse_arguments
from tools.fence import fence_lines
from tools.interface import Tool, ToolConfig, ToolContext
from tools.models import WorkspaceTool

MAX_CHARACTERS = 19_000
"""Characters of an answer that the model reads. A result has 20,000 at most, of which some are for the lines around them."""
MAX_ERROR_CHARACTERS = 1_000

call_slots = SharedSlots("calls of workspace tools", lambda: int(settings.TOOL_CALLS_AT_ONCE))
"""Calls of workspace tools that a process makes at the same time."""


class StoredTool(Tool):
    """A tool that is built from its row. Its results are texts from outside. Subclasses implement `run`, a coroutine.

    The caller has loaded `row.server` (`select_related`), so that a call makes no query.
    """

    def __init__(self, row: WorkspaceTool) -> None:
        self.row = row
        self.name = row.name
        self.effect: ToolEffect = "read" if row.effect == "read" else "write"
        self.is_idempotent = row.is_idempotent

    @property
    def description(self) -> str:
        return self.row.description

    @property
    def server_name(self) -> str:
        return self.row.server.name

    @property
    def default_policy(self) -> Policy:
        """The policy of a workspace that has set none: a call that writes waits for a person."""
        return Policy.AUTO if self.effect == "read" else Policy.ASK

    @property
    def is_available(self) -> bool:
        return self.row.is_enabled

    def describe_target(self, ctx: ToolContext, args: Any) -> ServerTarget:
        server, request = self.row.server, self.row.request or {}
        return ServerTarget(
            server=server.name,
            host=urlsplit(server.base_url).netloc,
            method=request.get("method", ""),
            path=request.get("path", ""),
            effect=self.effect,
        )

    def build_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = self.row.input_schema
        return schema

    def build_output_schema(self) -> dict[str, Any] | None:
        schema: dict[str, Any] | None = self.row.output_schema
        return schema

    def parse_arguments(self, arguments: str) -> dict[str, Any]:
        return parse_arguments(self.row.input_schema, arguments)

    def parse_config(self, custom_config: dict[str, Any]) -> ToolConfig:
        return self.Config.model_validate({"timeout_s": self.row.timeout_s, **custom_config})

    def build_config_schema(self) -> dict[str, Any]:
        schema = super().build_config_schema()
        schema["properties"]["timeout_s"]["default"] = self.row.timeout_s
        return schema

    def fence_answer(self, text: str) -> str:
        """Return the text of the server between two lines that mark it as such (SEC9)."""
        lines = fence_lines("answer", [text], authors="another server", citation=f"the name {self.row.server.name}")
        return "\n".join(lines)


def shorten(text: str, limit: int, left_out: int = 0) -> str:
    """Return the first `limit` characters of a text, and below them how many are left out. `left_out`: how many characters were
    left out before."""
    left_out += max(0, len(text) - limit)
    return f"{text[:limit]}\n[cut: {left_out:,} more characters]" if left_out else text
