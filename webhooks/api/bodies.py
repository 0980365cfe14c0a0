"""The bodies of requests about the access to an agent, and their response rows."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from common.request_types import Name
from common.rest import Body
from events.rows import ActorRow, ApiTokenRow, Row, TokenScope, WebhookRow


class AccessBody(Body):
    runs_outside: bool
    """Whether an outside program answers for the agent, so that messages wake no run."""


class AccessRow(Row):
    """`runs_outside`: an outside program answers for the agent, so messages wake no run."""

    runs_outside: bool


class AgentTokenBody(Body):
    name: Name
    """The name by which people recognise the token."""
    scope: TokenScope = TokenScope.FULL
    """`read` can only read."""
    days: Literal[7, 30, 90, 365] | None = 90
    """The days after which it expires; null: never."""


class NewAgentTokenRow(Row):
    """A new token of an agent. `secret` is for the `Authorization` header; it is not returned again."""

    token: ApiTokenRow
    secret: str


class WebhookBody(Body):
    url: str = Field(min_length=8, max_length=2000)
    """The address to which events are sent."""


class EnabledBody(Body):
    is_enabled: bool
    """Whether events are sent to the webhook."""


class NewSecretRow(Row):
    """A webhook with its new secret, which is not returned again."""

    webhook: WebhookRow
    secret: str


class AgentSelfRow(Row):
    """The agent whose token sent the request, and its workspace."""

    actor: ActorRow
    workspace_id: UUID
    runs_outside: bool


class WakesQuery(Body):
    after: UUID | None = None
    """The id of a wake. Only those after it are returned."""
