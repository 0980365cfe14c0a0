"""Rights on API tokens: people have access to their own tokens only."""

from uuid import UUID

from actors.models import Actor, ApiToken
from common.errors import NotFound


def get_token_for(person: Actor, token_id: UUID) -> ApiToken:
    """Return a token of the person that is not revoked. Raises `NotFound`."""
    token = ApiToken.unrevoked.filter(pk=token_id, actor=person).first()
    if token is None:
        raise NotFound("There is no such token.")
    return token
