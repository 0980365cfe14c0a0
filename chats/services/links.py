"""Links that bring people into a workspace and a chat (S0.1)."""

import hashlib
import secrets
from datetime import timedelta

from django.conf import settings
from django.db.models import F

from actors.models import Actor
from chats.models import Chat, ChatLink
from chats.services.changes import changed
from chats.services.holding import hold_chat
from chats.services.members import seat
from chats.services.messages import system_line
from common.clock import now
from common.errors import Code, Invalid, NotFound
from events import audit
from events.bells import ring
from events.publish import rights_changed
from workspaces import services as workspaces
from workspaces.models import Role, Workspace

MAX_HOURS = 24 * 90


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def create_link(*, chat: Chat, creator: Actor, role: str, hours: int) -> tuple[ChatLink, str]:
    """Make a link; returns it with its address, which is shown once and not kept. `hours`: until it expires."""
    if role not in Role.values:
        raise Invalid("A link is for an editor or a suggester.")
    if not 1 <= hours <= MAX_HOURS:
        raise Invalid(f"A link lives between 1 and {MAX_HOURS} hours.")
    token = secrets.token_urlsafe(24)
    link = ChatLink.objects.create(
        chat=chat, role=role, token_hash=_hash(token), created_by=creator, expires_at=now() + timedelta(hours=hours)
    )
    audit.record(creator, "link.created", workspace_id=chat.workspace_id, object_id=link.id, role=role)
    return link, f"{settings.PUBLIC_URL}/join/{token}"


def revoke_link(*, link: ChatLink, actor: Actor) -> ChatLink:
    """End a link at once. Whoever came in by it stays."""
    if link.revoked_at is None:
        link.revoked_at = now()
        link.save(update_fields=["revoked_at"])
        audit.record(actor, "link.revoked", workspace_id=link.chat.workspace_id, object_id=link.id)
    return link


def read_link(token: str, *, lock: bool = False) -> ChatLink:
    """The living link of this token. Raises `NotFound` (`link_dead`) when it never was, has expired or was revoked."""
    links = ChatLink.objects.select_related("chat__workspace", "created_by")
    if lock:
        links = links.select_for_update(of=("self",))
    link = links.filter(token_hash=_hash(token), revoked_at=None, expires_at__gt=now()).first()
    if link is None or not _maker_may_still_invite(link):
        raise NotFound(
            "This link does not work any more.", code=Code.LINK_DEAD, hints=["Ask an editor of the team for a new one."]
        )
    return link


def _maker_may_still_invite(link: ChatLink) -> bool:
    """A link is worth what its maker may do now: an editor who left or was demoted leaves no open door behind."""
    memberships = link.chat.workspace.memberships
    return memberships.filter(actor=link.created_by, actor__is_active=True, role=Role.EDITOR).exists()


def accept_link(*, token: str, actor: Actor) -> ChatLink:
    """Come in by a link: into the workspace with its role, unless a member already (who keeps theirs), and into the chat.

    Doing it twice changes nothing. Raises `NotFound` (`link_dead`).
    """
    link = read_link(token, lock=True)
    # Who is being taken out of the workspace at this moment is out first; else they would sit here without belonging.
    Workspace.objects.select_for_update(no_key=True).get(pk=link.chat.workspace_id)
    is_new = workspaces.join(workspace=link.chat.workspace, actor=actor, role=link.role, invited_by=link.created_by)
    chat = hold_chat(link.chat_id)
    # The row that tells of them carries their name as it is now, not as it was when they were let in at the door.
    place = seat(chat, Actor.objects.get(pk=actor.pk))
    if place is not None:
        changed(link.chat_id, rows=[system_line(link.chat_id, "MEMBER_JOINED", actor=actor, target=actor), place])
    if is_new or place is not None:
        ChatLink.objects.filter(pk=link.pk).update(uses=F("uses") + 1)
        audit.record(actor, "link.used", workspace_id=link.chat.workspace_id, object_id=link.id)
        rights_changed(actor.id)
        ring([actor.id], "chats")
    return link
