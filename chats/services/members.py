"""Who is in a chat: making one, coming and going."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db.models import Q

from actors.models import Actor, AgentStatus, Kind
from chats.models import Chat, ChatActor, InChat, Wake
from chats.seams import actor_left
from chats.services.changes import changed
from chats.services.holding import hold_chats
from chats.services.messages import system_line
from common.clock import now
from common.errors import Code, Conflict, Invalid, NotFound
from events import audit
from events.bells import ring
from events.publish import rights_changed
from workspaces.models import Workspace

MAX_MEMBERS = 200


def create_chat(*, workspace: Workspace, creator: Actor, title: str, member_ids: Sequence[UUID] = ()) -> Chat:
    """Make a chat from members, agents of the workspace and public agents, in the caller's transaction (§5.1).

    Raises `Invalid` when somebody named may not be in a chat of this workspace.
    """
    wanted = list(dict.fromkeys([creator.id, *member_ids]))
    if len(wanted) > MAX_MEMBERS:
        raise Invalid(f"A chat has at most {MAX_MEMBERS} members.")
    actors = {actor.id: actor for actor in _may_be_in(workspace, wanted)}
    if missing := [id for id in wanted if id not in actors]:
        raise Invalid("Somebody you named is not in this workspace.", data={"actor_ids": [str(id) for id in missing]})
    chat = Chat.objects.create(workspace=workspace, title=title.strip()[:120], created_by=creator)
    places = [ChatActor(chat=chat, actor=actors[id]) for id in wanted]
    joined = [system_line(chat.id, "MEMBER_JOINED", actor=creator, target=actors[id]) for id in wanted]
    chat.version = changed(chat.id, rows=[*joined, *places])
    audit.record(creator, "chat.created", workspace_id=workspace.id, object_id=chat.id, members=len(wanted))
    ring(wanted, "chats")
    return chat


def _may_be_in(workspace: Workspace, ids: Iterable[UUID]) -> Iterable[Actor]:
    """Those of `ids` who may take part in this workspace's chats."""
    person = Q(kind=Kind.HUMAN, is_active=True, memberships__workspace=workspace)
    agent = Q(kind=Kind.AGENT, status=AgentStatus.READY)
    ours = agent & (Q(workspace=workspace) | Q(is_public=True, taken_down_at=None))
    return Actor.objects.filter(person | ours, pk__in=ids).distinct()


def add_member(*, chat: Chat, adder: Actor, actor_id: UUID) -> ChatActor:
    """Bring somebody into a chat. Raises `NotFound` (not of this workspace), `Conflict` (`already_member`)."""
    actor = next(iter(_may_be_in(chat.workspace, [actor_id])), None)
    if actor is None:
        raise NotFound("There is nobody of that id in this workspace.")
    place = seat(chat, actor)
    if place is None:
        raise Conflict(f"{actor.name} is in this chat already.", code=Code.ALREADY_MEMBER)
    changed(chat.id, rows=[system_line(chat.id, "MEMBER_JOINED", actor=adder, target=actor), place])
    audit.record(adder, "chat.member_added", workspace_id=chat.workspace_id, object_id=chat.id, member=str(actor.id))
    ring([actor.id], "chats")
    rights_changed(actor.id)
    return place


def seat(chat: Chat, actor: Actor) -> ChatActor | None:
    """A place for `actor`, not yet written; null when they sit there already. Somebody who comes again keeps the row.

    The caller holds the chat (`get_chat_for(…, lock=True)`), so that two who seat the same actor come one after the other.
    """
    place = ChatActor.objects.filter(chat=chat, actor=actor).first()
    if place is None:
        return ChatActor(chat=chat, actor=actor)
    if place.ended_at is None:
        return None
    place.actor = actor
    return place.set(ended_at=None, joined_at=now())


def remove_member(*, chat: Chat, remover: Actor, actor_id: UUID) -> ChatActor:
    """Take somebody out of a chat, or leave it. What they hold and run here ends with it. Raises `NotFound`."""
    place = chat.places.select_related("actor").filter(actor_id=actor_id, ended_at=None).first()
    if place is None:
        raise NotFound("They are not in this chat.")
    changed(chat.id, rows=_leaving(chat, place, remover))
    audit.record(
        remover, "chat.member_removed", workspace_id=chat.workspace_id, object_id=chat.id, member=str(actor_id)
    )
    rights_changed(actor_id)
    ring([actor_id], "chats")
    return place


def _leaving(chat: Chat, place: ChatActor, remover: Actor) -> list[InChat]:
    place.set(ended_at=now())
    line = system_line(chat.id, "MEMBER_LEFT", actor=remover, target=place.actor)
    return [line, place, *actor_left(chat, place.actor, remover)]


def leave_workspace_chats(*, workspace: Workspace, actor: Actor, remover: Actor) -> None:
    """Take somebody out of every chat of a workspace that they leave."""
    for place in hold_places(actor, chat__workspace=workspace):
        changed(place.chat_id, rows=_leaving(place.chat, place, remover))


def hold_places(actor: Actor, **where: Any) -> list[ChatActor]:
    """The places that an actor has, each with its chat, which is held: for a change in all of them at once.

    They are asked for again when the chats are held: somebody may have left one meanwhile.
    """
    places = ChatActor.objects.filter(actor=actor, ended_at=None, **where)
    held = hold_chats(places.values_list("chat", flat=True))
    return list(places.filter(chat__in=held).select_related("chat__workspace", "actor").order_by("chat_id"))


def show_anew(actor: Actor, places: Iterable[ChatActor]) -> None:
    """Somebody's places (from `hold_places`) carry their name: who looks at them sees `actor` as it is now."""
    for place in places:
        place.actor = actor
        changed(place.chat_id, rows=[place.set()])


def rename_chat(*, chat: Chat, actor: Actor, title: str) -> Chat:
    """Give the chat another title (up to 120 characters; empty: it is named after its members)."""
    changed(chat.id, rows=[chat.set(title=title.strip()[:120])])
    audit.record(actor, "chat.renamed", workspace_id=chat.workspace_id, object_id=chat.id)
    ring(chat.places.filter(ended_at=None).values_list("actor_id", flat=True), "chats")
    return chat


def set_wake(*, chat: Chat, actor: Actor, agent_id: UUID, wake: str) -> ChatActor:
    """Say when an agent answers in this room. Raises `NotFound` when it is not here, `Invalid` for a person."""
    place = chat.places.select_related("actor").filter(actor_id=agent_id, ended_at=None).first()
    if place is None:
        raise NotFound("They are not in this chat.")
    if place.actor.is_human or wake not in Wake.values:
        raise Invalid("Only an agent can be set to answer when mentioned, or always.")
    changed(chat.id, rows=[place.set(wake=wake)])
    audit.record(actor, "chat.wake_set", workspace_id=chat.workspace_id, object_id=chat.id, agent=str(agent_id))
    return place
