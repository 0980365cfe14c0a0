"""Creating, revoking and using API tokens of people and agents."""

import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from actors.models import TOKEN_PREFIX, Actor, ApiToken
from actors.operators import check_may_manage
from actors.permissions import get_token_for
from common.clock import now
from common.errors import NotFound, QuotaReached
from common.operators import get_for_operator
from common.secrets import hash_secret
from events import audit
from events.publish import publish_rights_changed
from events.rows import TokenScope

MAX_TOKENS = 20
"""The maximum of unrevoked tokens of one person or agent."""

USE_INTERVAL = timedelta(minutes=1)
"""The precision of `last_used_at`."""


@transaction.atomic
def create_token(
    actor: Actor, *, name: str, days: int | None, scope: str = TokenScope.FULL, agent: Actor | None = None
) -> tuple[ApiToken, str]:
    """Create a token of the actor or, if given, of an `agent`. Return it with its text, which is not stored (SEC17).

    The caller checks the actor's right on the agent. The token expires after `days`; null: never. With the scope `read` it cannot
    change anything. Raises `QuotaReached`.
    """
    # The lock lets concurrent requests count the tokens one after the other.
    owner = agent or actor
    Actor.objects.select_for_update().get(pk=owner.pk)
    if ApiToken.unrevoked.filter(actor=owner).count() >= MAX_TOKENS:
        raise QuotaReached(
            f"There are {MAX_TOKENS} tokens already.",
            hints=["Revoke one that is no longer needed."],
        )
    text = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        actor=owner,
        name=name.strip(),
        prefix=text[: len(TOKEN_PREFIX) + 4],
        digest=hash_secret(text),
        scope=scope,
        created_by=actor if agent else None,
        expires_at=now() + timedelta(days=days) if days else None,
    )
    facts: dict[str, Any] = {"name": token.name, "days": days, "scope": scope}
    if agent:
        facts["agent"] = str(agent.pk)
    audit.record(actor, "token.created", workspace_id=owner.workspace_id, object_id=token.id, **facts)
    return token, text


@transaction.atomic
def revoke_token(actor: Actor, token_id: UUID, *, agent: Actor | None = None, as_operator: bool = False) -> ApiToken:
    """Revoke a token. Its sockets end at once, and requests by it are refused.

    The token belongs to the actor, to an `agent` on which the caller has checked the right, or, with `as_operator`, to anybody.
    Raises `NotFound`, `Forbidden`.
    """
    if as_operator:
        token = get_for_operator(actor, ApiToken, token_id)
        check_may_manage(actor, token.actor)
    else:
        token = get_token_for(agent or actor, token_id)
    _revoke(token, actor)
    return token


@transaction.atomic
def revoke_tokens(actor: Actor, person_id: UUID, *, as_operator: bool = False) -> None:
    """Revoke all tokens of the actor, or with `as_operator` of any person. Raises `NotFound`, `Forbidden`."""
    if as_operator:
        check_may_manage(actor, get_for_operator(actor, Actor, person_id))
    elif person_id != actor.pk:
        raise NotFound("There is no such person.")
    for token in ApiToken.unrevoked.filter(actor=person_id):
        _revoke(token, actor)


def revoke_tokens_of_maker(maker: Actor, workspace_id: UUID | None = None, *, by: Actor) -> None:
    """Revoke the tokens that a person made for agents of this workspace; for all agents if it is null."""
    tokens = ApiToken.unrevoked.filter(created_by=maker)
    if workspace_id is not None:
        tokens = tokens.filter(actor__workspace=workspace_id)
    for token in tokens:
        _revoke(token, by)


def _revoke(token: ApiToken, actor: Actor) -> None:
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now()):
        audit.record(actor, "token.revoked", object_id=token.id, name=token.name, owner=str(token.actor_id))
        publish_rights_changed(token.actor_id)


def record_token_use(token: ApiToken) -> None:
    """Store when a token was last used. It is written at most once a minute, and not with each request."""
    moment = now()
    if token.last_used_at and moment - token.last_used_at < USE_INTERVAL:
        return
    stale = Q(last_used_at=None) | Q(last_used_at__lte=moment - USE_INTERVAL)
    ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=moment)
