"""The bodies of requests about the access to an agent, and their response rows."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from common.request_types import Name
from common.rest import Body
from events.rows import ActorRow, ApiTokenRow, Row, TokenScope, WebhookRow


class AccessBody(Body):
    runs_outside: bool


class AccessRow(Row):
    """`runs_outside`: an outside program answers for the agent, so messages wake no run."""

    runs_outside: bool


class AgentTokenBody(Body):
    """The token expires after `days`; null: never. The scope `read` can only read."""

    name: Name
    scope: TokenScope = TokenScope.FULL
    days: Literal[7, 30, 90, 365] | None = 90


class NewAgentTokenRow(Row):
    """A new token of an agent. `text` is the secret for the `Authorization` header; it is not returned again."""

    token: ApiTokenRow
    text: str


class WebhookBody(Body):
    url: str = Field(min_length=8, max_length=2000)


class EnabledBody(Body):
    is_enabled: bool


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
    """`after`: the id of a wake; only those after it are returned."""

    after: UUID | None = None
