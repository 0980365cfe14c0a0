"""Personal API tokens: what a person's programs sign in by."""

import secrets
from datetime import timedelta

from django.db.models import Q

from actors.models import TOKEN_PREFIX, Actor, ApiToken, TokenScope
from common.clock import now
from common.errors import LimitReached
from common.secrets import digest_of
from events import audit
from events.publish import rights_changed

MOST = 20
"""Live tokens of one person."""

USE_NOTED_EVERY = timedelta(minutes=1)


def create_token(*, person: Actor, name: str, days: int | None, scope: str = TokenScope.FULL) -> tuple[ApiToken, str]:
    """A new token and its text, which is told here and never again: only a hash of it is kept (SEC17).

    `days` null: until it is revoked. `scope` `read`: it cannot change anything. Raises `LimitReached` for who has `MOST`.
    """
    Actor.objects.select_for_update().get(pk=person.pk)  # two at once are counted one after the other
    if ApiToken.live.filter(person=person).count() >= MOST:
        raise LimitReached(f"You have {MOST} tokens.", hints=["Revoke one that is no longer needed."])
    text = TOKEN_PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        person=person, name=name.strip(), prefix=text[: len(TOKEN_PREFIX) + 4],
        digest=digest_of(text), scope=scope,
        expires_at=now() + timedelta(days=days) if days else None,
    )  # fmt: skip
    audit.record(person, "token.created", object_id=token.id, name=token.name, days=days, scope=scope)
    return token, text


def revoke_token(token: ApiToken, by: Actor) -> None:
    """End a token: no request and no socket by it any more, at once. Revoking it again does nothing."""
    if ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=now()):
        audit.record(by, "token.revoked", object_id=token.id, name=token.name, person=str(token.person_id))
        rights_changed(token.person_id)


def note_use(token: ApiToken) -> None:
    """Keep when it was last used, to the minute: a busy program does not write with each request."""
    moment = now()
    if token.last_used_at and moment - token.last_used_at < USE_NOTED_EVERY:
        return
    stale = Q(last_used_at=None) | Q(last_used_at__lte=moment - USE_NOTED_EVERY)
    ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=moment)
