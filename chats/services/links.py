"""Invite links, by which people join a workspace and a chat."""

import secrets
from datetime import timedelta
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F

from actors.models import Actor
from chats.models import ChatLink
from chats.permissions import get_chat_to_invite, get_link_for
from chats.services.locking import lock_chat
from chats.services.participants import check_is_not_direct, join_chat, publish_chat_lists_changed
from common.clock import now
from common.errors import Code, Forbidden, Invalid, NotFound
from common.operators import get_for_operator
from common.quotas import check_quota
from common.secrets import hash_secret
from events import audit
from events.publish import publish_rights_changed
from events.rows import Role
from workspaces import services as workspaces
from workspaces.models import Workspace

MAX_HOURS = 24 * 90
MAX_USES = 1000


@transaction.atomic
def create_link(
    actor: Actor, chat_id: UUID, *, role: str, hours: int, max_uses: int | None | Literal["default"] = "default"
) -> tuple[ChatLink, str]:
    """Create an invite link. Return it with its URL, or only the path if `PUBLIC_URL` is not set. The URL is not stored.

    The link expires after `hours`. `max_uses` is the number of people who can join by it, null is any number; the default
    is one for editors and any number for suggesters. Raises `NotFound`, `Forbidden`, `Conflict`, `Invalid`, `QuotaReached`.
    """
    chat = get_chat_to_invite(actor, chat_id, role=role)
    check_is_not_direct(chat)
    if role not in Role.values:
        raise Invalid("A link is for an editor or a suggester.")
    if not 1 <= hours <= MAX_HOURS:
        raise Invalid(f"A link lives between 1 and {MAX_HOURS} hours.")
    if max_uses == "default":
        max_uses = 1 if role == Role.EDITOR else None
    if max_uses is not None and not 1 <= max_uses <= MAX_USES:
        raise Invalid(f"A link brings in between 1 and {MAX_USES} people, or any number.")
    check_quota("links", ChatLink.objects.filter(chat=chat).valid())
    token = secrets.token_urlsafe(24)
    link = ChatLink.objects.create(
        chat=chat,
        role=role,
        token_hash=hash_secret(token),
        created_by=actor,
        max_uses=max_uses,
        expires_at=now() + timedelta(hours=hours),
    )
    audit.record(actor, "link.created", workspace_id=chat.workspace_id, object_id=link.id, role=role, max_uses=max_uses)
    return link, f"{settings.PUBLIC_URL}/join/{token}"


@transaction.atomic
def revoke_link(actor: Actor, link_id: UUID, *, as_operator: bool = False) -> ChatLink:
    """Revoke an invite link. People who joined by it stay. Raises `NotFound`, `Forbidden`.

    `as_operator`: the actor is an operator, who need not be in the chat.
    """
    link = get_for_operator(actor, ChatLink, link_id) if as_operator else get_link_for(actor, link_id)
    if link.revoked_at is None:
        link.revoked_at = now()
        link.save(update_fields=["revoked_at"])
        audit.record(actor, "link.revoked", workspace_id=link.chat.workspace_id, object_id=link.id)
    return link


def get_invitation(token: str, *, reader: Actor | None = None) -> tuple[ChatLink, str]:
    """Return the link with this token, and the role that `reader` gets by it. Without a `reader`, the role of a new member.

    Raises `NotFound` (`link_dead`) if the link does not exist, has expired, was revoked or has reached `max_uses`, if its
    creator may not invite any more, or if `reader` was removed after the link was created.
    """
    link = _get_link(token)
    return link, _get_role(link, reader)


@transaction.atomic
def accept_link(actor: Actor, token: str) -> ChatLink:
    """Join the workspace of an invite link, with the role that `get_invitation` returns, and its chat.

    Accepting a link a second time changes nothing. Raises `NotFound` (`link_dead`), `QuotaReached`.
    """
    link = _get_link(token)
    # Locks are taken before rights are checked, so that a concurrent removal, demotion or use of the link is complete.
    Workspace.objects.select_for_update(no_key=True).get(pk=link.chat.workspace_id)
    chat = lock_chat(link.chat_id)
    link = _get_link(token, lock=True)
    role = _get_role(link, actor)
    is_new = workspaces.join_workspace(actor, link.chat.workspace_id, role=role, invited_by=link.created_by)
    # The actor is read again, so that the published row has their present name.
    participant = join_chat(chat, Actor.objects.get(pk=actor.pk), added_by=actor)
    if is_new or participant is not None:
        ChatLink.objects.filter(pk=link.pk).update(uses=F("uses") + 1)
        audit.record(actor, "link.used", workspace_id=link.chat.workspace_id, object_id=link.id)
        publish_rights_changed(actor.id)
        publish_chat_lists_changed([chat])
    return link


def _get_link(token: str, *, lock: bool = False) -> ChatLink:
    """Return the valid link with this token. Raises `NotFound` (`link_dead`)."""
    links = ChatLink.objects.select_related("chat__workspace", "created_by")
    if lock:
        links = links.select_for_update(of=("self",))
    link = links.filter(token_hash=hash_secret(token), revoked_at=None, expires_at__gt=now()).first()
    if link is None:
        raise _build_dead_link_error()
    return link


def _get_role(link: ChatLink, reader: Actor | None) -> str:
    """Return the role that `reader` gets by the link. Raises `NotFound` (`link_dead`)."""
    try:
        get_chat_to_invite(link.created_by, link.chat_id, role=link.role)
    except (NotFound, Forbidden) as error:
        raise _build_dead_link_error() from error
    role = link.role
    if reader is not None:
        role_of_reader = workspaces.get_role_by_link(
            link.chat.workspace, reader, role=link.role, created_at=link.created_at
        )
        if role_of_reader is None:
            raise _build_dead_link_error()
        role = role_of_reader
        participant = link.chat.participants.filter(actor=reader).first()
        if participant is not None and participant.ended_at is None:
            return role  # who is in the chat already does not use the link up
        if participant is not None and participant.removed_at is not None and participant.removed_at >= link.created_at:
            raise _build_dead_link_error()
    if link.max_uses is not None and link.uses >= link.max_uses:
        raise _build_dead_link_error()
    return role


def _build_dead_link_error() -> NotFound:
    return NotFound(
        "This link does not work any more.", code=Code.LINK_DEAD, hints=["Ask an editor of the team for a new one."]
    )
