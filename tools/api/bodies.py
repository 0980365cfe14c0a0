"""The bodies of requests about tools and their servers."""

from typing import Any, Literal
from uuid import UUID

from pydantic import Field

from common.request_types import Name, Revision
from common.rest import Body
from events.rows import Policy, ToolEffect
from tools.http.form import ToolForm
from tools.openapi.document import MAX_BYTES
from tools.openapi.operations import MAX_CHOSEN

TOOL_NAME = r"^[a-zA-Z0-9_-]+$"
Scheme = Literal["none", "bearer", "header", "basic", "query"]


class PolicyBody(Body):
    policy: Policy
    """Whether calls are made at once (`auto`), wait for a person (`ask`), or are not possible (`off`)."""


class NewServerBody(Body):
    kind: Literal["http", "openapi"]
    """`http`: tools are written by hand; `openapi`: they are made of a document's operations."""
    name: Name
    """The name that people see."""
    base_url: str = Field(min_length=1, max_length=400)
    """The address to which the paths of the tools are added."""
    auth: Scheme = "none"
    """How the credential is sent."""
    auth_name: str = Field(default="", max_length=80)
    """The header, the query parameter, or the user name."""
    credential: str = Field(default="", max_length=4000)
    """The token or password. It is stored encrypted and never returned."""
    headers: dict[str, str] = Field(default={}, max_length=20)
    """Further headers of each call, without secrets."""


class ServerBody(Body):
    """The fields to change; null: as before."""

    revision: Revision
    """The revision of the server that was read."""
    name: Name | None = None
    """The name that people see."""
    base_url: str | None = Field(default=None, min_length=1, max_length=400)
    """The address to which the paths of the tools are added."""
    auth: Scheme | None = None
    """How the credential is sent."""
    auth_name: str | None = Field(default=None, max_length=80)
    """The header, the query parameter, or the user name."""
    credential: str | None = Field(default=None, max_length=4000)
    """Null keeps the stored one if address and sign-in are unchanged; "" deletes it. It is never returned."""
    headers: dict[str, str] | None = Field(default=None, max_length=20)
    """Further headers of each call, without secrets."""


class NewToolBody(Body):
    name: str = Field(min_length=1, max_length=64, pattern=TOOL_NAME)
    """The name by which models call the tool."""
    title: str = Field(default="", max_length=120)
    """The name that people see."""
    form: ToolForm
    """What it does and which request it sends."""
    is_idempotent: bool = False
    """Whether a call that writes may be repeated when it is not known if it arrived."""
    timeout_s: float = Field(default=30.0, gt=0, le=120)
    """The seconds after which a call is given up."""


class ToolBody(Body):
    """The fields to change; null: as before."""

    revision: Revision
    """The revision of the tool that was read."""
    name: str | None = Field(default=None, min_length=1, max_length=64, pattern=TOOL_NAME)
    """The name by which models call the tool."""
    title: str | None = Field(default=None, max_length=120)
    """The name that people see."""
    form: ToolForm | None = None
    """What it does and which request it sends."""
    effect: ToolEffect | None = None
    """Whether a call only reads."""
    is_idempotent: bool | None = None
    """Whether a call that writes may be repeated when it is not known if it arrived."""
    timeout_s: float | None = Field(default=None, gt=0, le=120)
    """The seconds after which a call is given up."""
    is_enabled: bool | None = None
    """Whether agents can use the tool."""


class ToolApprovalBody(Body):
    hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    """The hash of the definition that the person has read."""
    effect: ToolEffect
    """Whether a call only reads."""


class ToolTestBody(Body):
    arguments: dict[str, Any] = Field(default={}, max_length=100)
    """The arguments of the call, as the tool's schema asks for."""


class DocumentBody(Body):
    """Either of the two."""

    url: str = Field(default="", max_length=2000)
    """The address of an OpenAPI document."""
    text: str = Field(default="", max_length=MAX_BYTES)
    """The text of an OpenAPI document, JSON or YAML."""


class ChosenOperationBody(Body):
    key: str = Field(min_length=1, max_length=400)
    """The key of the operation in the document that was read."""
    name: str = Field(min_length=1, max_length=64, pattern=TOOL_NAME)
    """The name by which models call the tool."""
    effect: ToolEffect | None = None
    """Whether a call only reads; null: by its method."""


class ImportOperationsBody(Body):
    job_id: UUID
    """The reading of the document (`POST …/openapi-documents`)."""
    operations: list[ChosenOperationBody] = Field(default=[], max_length=MAX_CHOSEN)
    """The operations of which tools are made."""
