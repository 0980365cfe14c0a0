"""Rights on chats. Only participants have any: those of their role in the chat's workspace, and grants.

A chat between two agents has no person in it: the editors of its workspace have the rights of `READER` in it."""

from collections.abc import Collection, Iterable
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db.models import Case, CharField, Exists, OuterRef, Q, QuerySet, Value, When
from django.db.models.expressions import Combinable
from django.db.models.lookups import Exact

from actors.models import Actor, AgentStatus, Kind
from chats.models import Chat, ChatActor, ChatGrant, ChatLink, Message
from common.access import Fetch, annotate_rights, compute_verbs, replace_not_found
from common.errors import Forbidden, NotFound
from events.rows import Role
from workspaces.models import Membership
from workspaces.permissions import (
    AGENT,
    WorkspaceVerb,
    build_role_expression,
    compute_workspace_verbs,
    get_workspace_for,
)


class ChatVerb(StrEnum):
    """What an actor may do in a chat. `POST` covers all that adds to the conversation: messages, files, pins, votes, comparisons,
    corrections of summaries, notes of agents, the work of runs, and changes of one's own messages.

    A value is part of the name of a Django permission, such as `stop_run_chat`. These names are stored, so a renamed verb keeps its
    value.
    """

    SEE = "see"
    POST = "post"
    ADD_PARTICIPANT = "add_participant"
    REMOVE_PARTICIPANT = "remove_participant"
    RENAME = "rename"
    SET_RESPONSE = "set_response"
    STOP_OWN_RUN = "stop_own_run"
    STOP_ANY_RUN = "stop_run"
    RETRY_RUN = "retry_run"
    DECIDE_ANY_APPROVAL = "decide_approval"
    READ_REQUESTS = "read_requests"
    CHANGE_SCHEDULES = "change_schedules"
    WAKE_AGENT = "wake_agent"
    DELETE_ANY_MESSAGE = "delete_message"


READER = "reader"
"""The role of an editor of the workspace in a chat between two agents. It cannot post, but may do more than read."""

PARTICIPANT_VERBS = frozenset(ChatVerb) - {
    ChatVerb.STOP_ANY_RUN,
    ChatVerb.DECIDE_ANY_APPROVAL,
    ChatVerb.READ_REQUESTS,
    ChatVerb.CHANGE_SCHEDULES,
    ChatVerb.DELETE_ANY_MESSAGE,
}
ROLE_VERBS = {
    Role.EDITOR.value: frozenset(ChatVerb),
    Role.SUGGESTER.value: PARTICIPANT_VERBS,
    AGENT: PARTICIPANT_VERBS,
    READER: frozenset(
        {
            ChatVerb.SEE,
            ChatVerb.SET_RESPONSE,
            ChatVerb.STOP_ANY_RUN,
            ChatVerb.RETRY_RUN,
            ChatVerb.DECIDE_ANY_APPROVAL,
            ChatVerb.READ_REQUESTS,
            ChatVerb.WAKE_AGENT,
            ChatVerb.DELETE_ANY_MESSAGE,
        }
    ),
}
ROLES_THAT_POST = [role for role, verbs in ROLE_VERBS.items() if ChatVerb.POST in verbs]


def _build_role(actor: Actor) -> Combinable:
    """Return the expression for the role: of a person in the workspace; of an agent, also a public one, `AGENT`."""
    return Value(AGENT, CharField()) if actor.is_agent else build_role_expression(actor, "workspace_id")


def _build_is_participant(actor: Actor) -> Exists:
    able = Q(actor__is_active=True) | Q(actor__kind="agent", actor__status=AgentStatus.READY, actor__taken_down_at=None)
    return Exists(ChatActor.objects.filter(able, chat=OuterRef("pk"), actor=actor.pk, ended_at=None))


def chats_with_rights(principals: list[Actor]) -> QuerySet[Chat]:
    """Return the chats that all `principals` are in, annotated with their roles and grants: `role_0` is the role of the first, null
    for a person who is not a member."""
    rows: QuerySet[Chat] = annotate_rights(Chat.objects.all(), principals, role=_build_role, grant_class=ChatGrant)
    for principal in principals:
        rows = rows.filter(_build_is_participant(principal))
    return rows


def chats_readable_by(principals: list[Actor]) -> QuerySet[Chat]:
    """Return the chats of `chats_with_rights`, and the chats between agents that these principals may read or work in.

    No person is in a chat between agents. Editors of its workspace may read it. Each agent in it may work there for any member of
    the workspace: then the agent is the first principal, and the member another one.
    """

    def build_role(principal: Actor) -> Combinable:
        if principal.is_agent:
            return _build_role(principal)
        role = build_role_expression(principal, "workspace_id")
        if principal is not principals[0]:
            return role  # that of the member for whom an agent works
        reader = Case(When(Exact(role, Value(Role.EDITOR.value)), then=Value(READER)), output_field=CharField())
        return Case(When(is_between_agents=True, then=reader), default=role, output_field=CharField())

    rows: QuerySet[Chat] = annotate_rights(Chat.objects.all(), principals, role=build_role, grant_class=ChatGrant)
    for principal in principals:
        is_participant = Q(_build_is_participant(principal))
        rows = rows.filter(is_participant if principal.is_agent else is_participant | Q(is_between_agents=True))
    return rows


def build_may_post(chat: str, agent: str, person: str) -> Case:
    """Return the expression for whether an agent may post in a chat and so may the person, if any, for whom it works, by their
    roles alone. `chat`, `agent` and `person` are columns of the outer query with their ids."""

    def may_post(*principals: Actor) -> Exists:
        rows = chats_readable_by(list(principals)).filter(pk=OuterRef(chat))
        return Exists(rows.filter(**{f"role_{number}__in": ROLES_THAT_POST for number in range(len(principals))}))

    # The subqueries for the rights of a principal are in the one for the chat, so `OuterRef` twice is the outer query.
    agent_id: Any = OuterRef(OuterRef(agent))
    person_id: Any = OuterRef(OuterRef(person))
    by, on_behalf_of = Actor(pk=agent_id, kind=Kind.AGENT), Actor(pk=person_id, kind=Kind.HUMAN)
    return Case(When(**{f"{person}__isnull": True}, then=may_post(by)), default=may_post(by, on_behalf_of))


def chats_visible_to(actor: Actor) -> QuerySet[Chat]:
    """Return the chats that the actor is in; `list_readable_chats` also has those between agents that an editor may read."""
    rows: Any = chats_with_rights([actor])
    visible: QuerySet[Chat] = rows.filter(role_0__isnull=False)
    return visible


def list_readable_chats(actor: Actor) -> QuerySet[Chat]:
    """Return the chats that the actor may read: those they are in and, for an editor, those between agents of the workspace."""
    rows: Any = chats_readable_by([actor])
    readable: QuerySet[Chat] = rows.filter(role_0__isnull=False)
    return readable


def find_readers(chats: Iterable[Chat]) -> dict[UUID, set[UUID]]:
    """Return the ids of the actors who read each chat: its participants, and the editors of its workspace if it is between agents.

    Two queries for any number of chats; one if none of them is between agents.
    """
    by_id = {chat.pk: chat for chat in chats}
    readers: dict[UUID, set[UUID]] = {id: set() for id in by_id}
    for chat_id, actor_id in ChatActor.objects.filter(chat__in=by_id, ended_at=None).values_list("chat_id", "actor_id"):
        readers[chat_id].add(actor_id)
    between_agents = [chat for chat in by_id.values() if chat.is_between_agents]
    if between_agents:
        workspaces = {chat.workspace_id for chat in between_agents}
        editors = Membership.objects.filter(workspace__in=workspaces, role=Role.EDITOR)
        for workspace_id, actor_id in editors.values_list("workspace_id", "actor_id"):
            for chat in between_agents:
                if chat.workspace_id == workspace_id:
                    readers[chat.pk].add(actor_id)
    return readers


def build_is_read_by_all(actor_ids: Collection[UUID]) -> Q:
    """Return the condition for whether all these actors read the chat of a row, by the rule of `find_readers`."""
    chat = OuterRef(OuterRef("pk"))
    is_participant = Exists(ChatActor.objects.filter(chat=chat, actor=OuterRef("pk"), ended_at=None))
    editors = Membership.objects.filter(
        workspace__chats=chat, workspace__chats__is_between_agents=True, actor=OuterRef("pk"), role=Role.EDITOR
    )
    others = Actor.objects.filter(pk__in=actor_ids).exclude(is_participant).exclude(Exists(editors))
    return ~Q(Exists(others))


def compute_chat_verbs(chat: Chat) -> frozenset[ChatVerb]:
    """Return the rights on a chat of the actor for whom it was fetched (`chats_visible_to`, `list_readable_chats`)."""
    return compute_verbs(chat, 1, ROLE_VERBS, ChatVerb)


def get_link_for(actor: Actor, link_id: UUID) -> ChatLink:
    """Return the link if the actor may invite people with its role into its chat. Raises `NotFound`, `Forbidden`."""
    with replace_not_found("link"):
        link = ChatLink.objects.select_related("chat").filter(pk=link_id).first()
        if link is None:
            raise NotFound("There is no such link.")
        get_chat_to_invite(actor, link.chat_id, role=link.role)
    return link


_fetch = Fetch(
    "chat",
    lambda principals: chats_readable_by(principals).select_related("workspace"),
    role_verbs=ROLE_VERBS,
    verbs=ChatVerb,
    # Removing a participant raises the version. So if the version rose during a wait for the lock, rights are checked again.
    version="version",
)


def get_chat_for(
    actor: Actor, chat_id: UUID, verb: ChatVerb, *, on_behalf_of: Actor | None = None, lock: bool = False
) -> Chat:
    """Return the chat if the actor has this right on it and, if given, also the person for whom the actor works (`on_behalf_of`).

    `lock` locks the chat until the transaction ends, so that no other transaction changes a row of it. Raises `NotFound`,
    `Forbidden`.
    """
    return _fetch(actor, chat_id, verb, on_behalf_of=on_behalf_of, lock=lock)


def get_message_for(actor: Actor, message_id: UUID) -> Message:
    """Return the message if the actor may read its chat. Raises `NotFound`."""
    readable = list_readable_chats(actor).filter(pk=OuterRef("chat"))
    message = Message.objects.filter(Exists(readable), pk=message_id).first()
    if message is None:
        raise NotFound("There is no such message.")
    return message


def get_message_to_list_revisions(actor: Actor, message_id: UUID) -> Message:
    """Return the message if the actor may read its earlier texts: whoever may read the chat; of a deleted message, those who may
    delete any. Raises `NotFound`, `Forbidden`."""
    message = get_message_for(actor, message_id)
    if message.deleted_at is not None:
        get_chat_for(actor, message.chat_id, ChatVerb.DELETE_ANY_MESSAGE)
    return message


def get_chat_to_invite(actor: Actor, chat_id: UUID, *, role: str = Role.SUGGESTER) -> Chat:
    """Return the chat if the actor may see it and may invite people with this role into its workspace.

    Inviting an editor also takes the right to change roles. Raises `NotFound`, `Forbidden`.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.SEE)
    workspace = get_workspace_for(actor, chat.workspace_id, WorkspaceVerb.INVITE)
    if role != Role.SUGGESTER and WorkspaceVerb.CHANGE_ROLE not in compute_workspace_verbs(workspace):
        raise Forbidden("You may invite suggesters only.", hints=["Ask an editor to invite editors."])
    return chat
