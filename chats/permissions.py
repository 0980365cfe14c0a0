"""Who may do what with a chat: its participants only, by their role in its workspace."""

from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import CharField, Exists, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import Combinable

from actors.models import Actor, AgentStatus
from chats.models import Chat, ChatActor, ChatGrant, ChatLink
from common.access import Fetch, annotate_rights, replace_not_found
from common.errors import Forbidden, NotFound
from workspaces.models import Role
from workspaces.permissions import (
    AGENT,
    WorkspaceVerb,
    build_role_expression,
    compute_workspace_verbs,
    get_workspace_for,
)


class ChatVerb(StrEnum):
    SEE = "see"
    POST = "post"
    ADD_PARTICIPANT = "add_participant"
    REMOVE_PARTICIPANT = "remove_participant"
    RENAME = "rename"
    SET_WAKE = "set_wake"
    STOP_OWN_RUN = "stop_own_run"
    STOP_ANY_RUN = "stop_run"
    RETRY_RUN = "retry_run"


EVERYBODY = frozenset(ChatVerb) - {ChatVerb.STOP_ANY_RUN}
ROLE_VERBS = {
    Role.EDITOR.value: frozenset(ChatVerb),
    Role.SUGGESTER.value: EVERYBODY,
    AGENT: EVERYBODY,
}


def _role(actor: Actor) -> Combinable:
    """A person's role is the workspace's; an agent's is to be one, also a public one, which has no workspace."""
    return Value(AGENT, CharField()) if actor.is_agent else build_role_expression(actor, "workspace_id")


def _is_participant(actor: Actor) -> Exists:
    able = Q(actor__is_active=True) | Q(actor__kind="agent", actor__status=AgentStatus.READY, actor__taken_down_at=None)
    return Exists(ChatActor.objects.filter(able, chat=OuterRef("pk"), actor=actor, ended_at=None))


def chats_with_rights(principals: list[Actor]) -> QuerySet[Chat]:
    """Return the chats in which all of them take part, with their roles and grants."""
    rows: QuerySet[Chat] = annotate_rights(Chat.objects.all(), principals, role=_role, grants=ChatGrant)
    for principal in principals:
        rows = rows.filter(_is_participant(principal))
    return rows


def chats_visible_to(actor: Actor) -> QuerySet[Chat]:
    """The chats that `actor` takes part in."""
    rows: Any = chats_with_rights([actor])
    visible: QuerySet[Chat] = rows.filter(role_0__isnull=False)
    return visible


def get_link_for(actor: Actor, link_id: UUID) -> ChatLink:
    """The link, for those who may invite into its chat. Raises `NotFound`, `Forbidden`."""
    with replace_not_found("link"):
        link = ChatLink.objects.select_related("chat").filter(pk=link_id).first()
        if link is None:
            raise NotFound("There is no such link.")
        get_chat_to_invite(actor, link.chat_id, role=link.role)
    return link


_fetch = Fetch(
    "chat",
    lambda principals: chats_with_rights(principals).select_related("workspace"),
    role_verbs=ROLE_VERBS,
    verbs=ChatVerb,
    # Who comes or goes changes the chat, and with it its version: nobody who was taken out meanwhile is let through.
    version="version",
    prepared=True,
)


def get_chat_for(
    actor: Actor, chat_id: UUID, verb: ChatVerb, *, on_behalf_of: Actor | None = None, lock: bool = False
) -> Chat:
    """The chat, when this may be done in it: by the actor and by the person it works for. Raises `NotFound`, `Forbidden`.

    `lock` holds the chat's row, and with it the order of everything in the chat, until the transaction ends.
    """
    return _fetch(actor, chat_id, verb, on_behalf_of=on_behalf_of, lock=lock)


def get_chat_to_invite(actor: Actor, chat_id: UUID, *, role: str = Role.SUGGESTER) -> Chat:
    """Return the chat if the actor takes part in it and may invite people of this role into its workspace.

    Only who may change roles invites editors. Raises `NotFound`, `Forbidden`.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    workspace = get_workspace_for(actor, chat.workspace_id, WorkspaceVerb.INVITE)
    if role != Role.SUGGESTER and WorkspaceVerb.CHANGE_ROLE not in compute_workspace_verbs(workspace):
        raise Forbidden("You may invite suggesters only.", hints=["Ask an editor to invite editors."])
    return chat
