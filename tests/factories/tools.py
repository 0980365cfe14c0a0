"""Factories of rows of tools."""

from factory.declarations import Sequence
from factory.django import DjangoModelFactory

from events.rows import Policy, ServerKind
from tools.models import ServerAuthorization, ToolPolicy, ToolServer, WorkspaceTool


class ToolServerFactory(DjangoModelFactory[ToolServer]):
    """A server of `workspace` that needs no credential."""

    class Meta:
        model = ToolServer

    kind = ServerKind.HTTP
    name = Sequence(lambda number: f"Server {number}")
    base_url = "https://api.example.org"


class ServerAuthorizationFactory(DjangoModelFactory[ServerAuthorization]):
    """The sign-in of `signed_in_by` at `server`."""

    class Meta:
        model = ServerAuthorization

    authorization_server = {"issuer": "https://login.example.org"}


class WorkspaceToolFactory(DjangoModelFactory[WorkspaceTool]):
    """A tool of `server` in `workspace` that reads `/things` and has one argument, `query`."""

    class Meta:
        model = WorkspaceTool

    name = Sequence(lambda number: f"tool_{number}")
    description = "Find things."
    effect = "read"
    input_schema = {"type": "object", "properties": {"query": {"type": "string"}}, "additionalProperties": False}
    request = {"method": "GET", "path": "/things", "arguments": [{"name": "query", "where": "query"}], "body": "none"}


class ToolPolicyFactory(DjangoModelFactory[ToolPolicy]):
    """A policy of `workspace` for one tool."""

    class Meta:
        model = ToolPolicy

    tool = "current_time"
    policy = Policy.ASK
