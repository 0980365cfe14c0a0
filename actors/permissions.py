"""Rights on API tokens: a token is looked up by its owner. The caller checks who may act for an agent."""

from uuid import UUID

from actors.models import Actor, ApiToken
from common.errors import NotFound


def get_token_for(person: Actor, token_id: UUID) -> ApiToken:
    """Return a token of this person or agent that is not revoked. Raises `NotFound`."""
    token = ApiToken.unrevoked.filter(pk=token_id, actor=person).first()
    if token is None:
        raise NotFound("There is no such token.")
    return token
