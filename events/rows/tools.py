"""The rows of tools."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.db import models
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from events.row import Row
from events.rows.people import ActorRow
from mcp_client.protocol import MCPErrorCode

ToolEffect = Literal["read", "write"]
"""Whether the calls of a tool only read, or change something."""


class Policy(models.TextChoices):
    """Whether the calls of a tool are made at once, wait for the approval of a person, or are not possible."""

    AUTO = "auto", _("Auto")
    ASK = "ask", _("Ask first")
    OFF = "off", _("Off")


class ToolType(models.TextChoices):
    """Where a tool comes from: our code, a workspace, or an agent that is called as a tool."""

    SYSTEM = "system", _("System")
    WORKSPACE = "workspace", _("Workspace")
    AGENT = "agent", _("Agent")


class ServerKind(models.TextChoices):
    """How the tools of a server are described: by a form, an OpenAPI document, or the server itself (MCP)."""

    HTTP = "http", _("HTTP")
    OPENAPI = "openapi", _("OpenAPI")
    MCP = "mcp", _("MCP")


class AuthScheme(models.TextChoices):
    """How a request carries the credential of a server."""

    NONE = "none", _("None")
    BEARER = "bearer", _("Bearer token")
    HEADER = "header", _("Header")
    BASIC = "basic", _("User name and password")
    QUERY = "query", _("Query parameter")
    OAUTH = "oauth", _("Sign-in at the server")


class ServerState(models.TextChoices):
    """The result of the last test or listing of a server. `sign_in`: an editor must sign in there (OAuth)."""

    UNTESTED = "untested", _("Not tested")
    OK = "ok", _("Answers")
    FAILED = "failed", _("Failed")
    SIGN_IN = "sign_in", _("Needs a sign-in")


class OffReason(models.TextChoices):
    """Why a workspace tool is off: an editor switched it off or nobody has approved it yet (`editor`), its definition changed, or
    its server no longer has it."""

    EDITOR = "editor", _("Switched off")
    CHANGED = "changed", _("Changed")
    GONE = "gone", _("Gone")


class ToolRow(Row):
    """A tool that an agent can be given."""

    name: str
    description: str
    effect: ToolEffect
    schema_: dict[str, Any] = Field(alias="schema", serialization_alias="schema")
    output_schema: dict[str, Any] | None
    config_schema: dict[str, Any]


class ToolRequestArgumentRow(Row):
    """Where an argument goes in a request. `target`: its name there, if it is another one. `style`, `explode`: how a list or an
    object is written, by the names of OpenAPI."""

    name: str
    where: Literal["path", "query", "header", "body"]
    target: str = ""
    style: Literal["", "form", "spaceDelimited", "pipeDelimited", "deepObject", "json"] = ""
    explode: bool = False


class ToolRequestRow(Row):
    """The request of an HTTP tool (`tools.http.mapping.RequestMapping`). `is_from_root`: the path does not begin at the path of the
    server's address. `content_type`: of the body, if it is not that of its format."""

    method: str
    path: str
    arguments: list[ToolRequestArgumentRow] = []
    body: Literal["none", "json", "form", "whole"] = "none"
    is_from_root: bool = False
    content_type: str = ""


class ToolDefinitionRow(Row):
    """The definition of a tool that waits for the approval of an editor. `effect` is what its server says of it;
    `annotations`: what an MCP server says besides."""

    title: str
    description: str
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    effect: ToolEffect
    hash: str
    request: ToolRequestRow | None = None
    annotations: dict[str, Any] = {}


class WorkspaceToolRow(Row):
    """A tool of a workspace, also if it is off. `remote_name`: its name on the server. `hash`: of the approved description, empty
    if nobody has approved one; `pending` is a newer description, which nobody has approved yet. `request` is null
    for MCP; `annotations` are empty for all others."""

    id: UUID
    server_id: UUID
    name: str
    remote_name: str
    title: str
    description: str
    effect: ToolEffect
    input_schema: dict[str, Any]
    output_schema: dict[str, Any] | None
    is_enabled: bool
    off_reason: OffReason | None
    hash: str
    pending: ToolDefinitionRow | None
    policy: Policy
    is_idempotent: bool
    timeout_s: float
    request: ToolRequestRow | None
    annotations: dict[str, Any]
    revision: int


class ToolServerRow(Row):
    """A server of a workspace, with its tools and without its credential. `last_error`: why it failed, or what was left out of its
    list; `error_code`: why an MCP server failed. `signed_in_by`: the person whose rights on the server the agents have (OAuth);
    `can_sign_in`: it is known where to sign in (OAuth)."""

    id: UUID
    kind: ServerKind
    name: str
    base_url: str
    auth: AuthScheme
    auth_name: str
    credential_last4: str | None
    state: ServerState
    tested_at: datetime | None
    error_code: MCPErrorCode | None
    last_error: str
    can_sign_in: bool
    signed_in_by: str | None
    revision: int
    tools: list[WorkspaceToolRow]


class OfferedToolRow(ToolRow):
    """A tool that the agents of a workspace can be given: a system tool, one of its own, or a public agent, also if it is off.

    `agent` is the public agent, and `publisher_name` the workspace that published it; both are null for other tools, and an agent
    that comes with the release has no publisher. `server_name` is empty unless the workspace has added the tool. `is_available`: it
    is not switched off. `schema_tokens` estimates what its description costs in each request to a model.
    """

    tool_type: ToolType
    id: UUID | None
    title: str
    agent: ActorRow | None
    publisher_name: str | None
    server_name: str
    policy: Policy
    is_available: bool
    schema_tokens: int


class OperationRow(Row):
    """An operation of an OpenAPI document. `problem`: why it cannot become a tool; empty if it can."""

    key: str
    method: str
    path: str
    tag: str
    name: str
    summary: str
    effect: ToolEffect
    problem: str


class DocumentRow(Row):
    """An OpenAPI document that was read: the settings of a server that it suggests, its size in bytes, and its operations.
    `left_out`: how many more operations it has."""

    title: str
    version: str
    base_url: str
    auth: AuthScheme
    auth_name: str
    size: int
    operations: list[OperationRow]
    left_out: int


ToolJobState = Literal["waiting", "running", "done"]


class ToolJobRow(Row):
    """The reading of a document, or the test of a tool. `text`: the result of the test; `message`: why it failed."""

    id: UUID
    state: ToolJobState
    is_ok: bool
    message: str
    seconds: float
    text: str
    document: DocumentRow | None
