"""Whose is what: an API token is its person's own, and nobody else learns that it exists."""

from uuid import UUID

from actors.models import Actor, ApiToken
from common.errors import NotFound


def get_token_for(person: Actor, token_id: UUID) -> ApiToken:
    """One's own live token. Raises `NotFound`."""
    token = ApiToken.live.filter(pk=token_id, person=person).first()
    if token is None:
        raise NotFound("There is no such token.")
    return token
