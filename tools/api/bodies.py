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


class NewServerBody(Body):
    """`auth_name`: the header, the query parameter, or the user name. `credential` is stored encrypted and never returned."""

    kind: Literal["http", "openapi"]
    name: Name
    base_url: str = Field(min_length=1, max_length=400)
    auth: Scheme = "none"
    auth_name: str = Field(default="", max_length=80)
    credential: str = Field(default="", max_length=4000)
    headers: dict[str, str] = Field(default={}, max_length=20)


class ServerBody(Body):
    """What is null stays. `credential` null keeps the stored one if address and sign-in are unchanged; "" deletes it."""

    revision: Revision
    name: Name | None = None
    base_url: str | None = Field(default=None, min_length=1, max_length=400)
    auth: Scheme | None = None
    auth_name: str | None = Field(default=None, max_length=80)
    credential: str | None = Field(default=None, max_length=4000)
    headers: dict[str, str] | None = Field(default=None, max_length=20)


class NewToolBody(Body):
    name: str = Field(min_length=1, max_length=64, pattern=TOOL_NAME)
    title: str = Field(default="", max_length=120)
    form: ToolForm
    is_idempotent: bool = False
    timeout_s: float = Field(default=30.0, gt=0, le=120)


class ToolBody(Body):
    """What is null stays."""

    revision: Revision
    name: str | None = Field(default=None, min_length=1, max_length=64, pattern=TOOL_NAME)
    title: str | None = Field(default=None, max_length=120)
    form: ToolForm | None = None
    effect: ToolEffect | None = None
    is_idempotent: bool | None = None
    timeout_s: float | None = Field(default=None, gt=0, le=120)
    is_enabled: bool | None = None


class ToolApprovalBody(Body):
    """`hash`: of the definition that the person has read."""

    hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    effect: ToolEffect


class ToolTestBody(Body):
    arguments: dict[str, Any] = Field(default={}, max_length=100)


class DocumentBody(Body):
    """The address of an OpenAPI document, or its text."""

    url: str = Field(default="", max_length=2000)
    text: str = Field(default="", max_length=MAX_BYTES)


class ChosenOperationBody(Body):
    """`effect` null: that of its method."""

    key: str = Field(min_length=1, max_length=400)
    name: str = Field(min_length=1, max_length=64, pattern=TOOL_NAME)
    effect: ToolEffect | None = None


class ImportOperationsBody(Body):
    """`job_id`: of the reading of the document."""

    job_id: UUID
    operations: list[ChosenOperationBody] = Field(default=[], max_length=MAX_CHOSEN)
