"""Direct chats: the chat of two actors, unique for the pair in its workspace."""

from uuid import UUID

from django.db import transaction
from django.db.models import Q

from actors.models import Actor
from chats.models import Chat, ChatActor, build_pair_key
from chats.permissions import ChatVerb, get_chat_for
from chats.services.changes import save_changes
from chats.services.locking import lock_chat, lock_chat_sets
from chats.services.participants import list_allowed_actors, throttle_public_agents
from chats.services.responses import set_initial_responses
from common.clock import now
from common.errors import Conflict, Invalid, NotFound
from common.quotas import check_quota
from common.writing import RowUpdate, insert
from events import audit
from events.publish import publish_list_changed, publish_rights_changed
from workspaces.permissions import WorkspaceVerb, get_workspace_for


@transaction.atomic
def open_direct_chat(
    actor: Actor,
    workspace_id: UUID,
    other_id: UUID,
    *,
    agent_id: UUID | None = None,
    on_behalf_of: Actor | None = None,
) -> tuple[Chat, bool]:
    """Return the direct chat of the actor and `other_id` in a workspace, and whether it was created.

    Each is a member or an agent of the workspace, or a public agent. `agent_id`: an editor opens the chat of this agent and
    `other_id`, which must be an agent, too. `on_behalf_of` is the person for whom an agent opens the chat. Two calls at once return
    the same chat. Raises `NotFound`, `Forbidden`, `LimitReached`, `QuotaReached`, `Invalid`.
    """
    verb = WorkspaceVerb.CREATE_CHAT if agent_id is None else WorkspaceVerb.CREATE_AGENT  # only editors have the latter
    workspace = get_workspace_for(actor, workspace_id, verb, on_behalf_of=on_behalf_of)
    ids = [agent_id or actor.id, other_id]
    if ids[0] == ids[1]:
        raise Invalid("A direct chat is a chat of two.")
    throttle_public_agents(actor, ids)
    lock_chat_sets(ids, shared=True)
    pair = {allowed.id: allowed for allowed in list_allowed_actors(workspace, ids)}
    if len(pair) < len(ids):
        raise NotFound("There is nobody of that id in this workspace.")
    is_between_agents = all(one.is_agent for one in pair.values())
    if agent_id is not None and not is_between_agents:
        raise Invalid(
            "An editor opens a direct chat of two agents only.", hints=["People write to an agent themselves."]
        )

    key = build_pair_key(*ids)
    stored = Chat.objects.filter(workspace=workspace, pair_key=key).first()
    if stored is None:
        check_quota("chats", Chat.objects.filter(workspace=workspace, created_by=actor))
        chat = Chat(
            workspace=workspace, created_by=actor, created_at=now(), pair_key=key, is_between_agents=is_between_agents
        )
        # If another transaction has inserted the chat, this statement waits until that one has ended.
        if insert([chat], ignore_conflicts=True):
            _add_pair(chat, actor, [pair[id] for id in ids])
            return chat, True
        stored = Chat.objects.get(workspace=workspace, pair_key=key)
    return _reopen(lock_chat(stored.pk), actor, pair), False


def _add_pair(chat: Chat, actor: Actor, pair: list[Actor]) -> None:
    # The chat is hidden from the list of the other one until its first message: 1 is its version without messages.
    participants = [ChatActor(chat=chat, actor=one, hidden_seq=None if one == actor else 1) for one in pair]
    set_initial_responses(participants)
    chat.version = save_changes(chat.id, participants)
    audit.record(
        actor,
        "chat.direct_opened",
        workspace_id=chat.workspace_id,
        object_id=chat.id,
        pair=[str(one.id) for one in pair],
    )
    for one in pair:
        publish_rights_changed(one.id)
    publish_list_changed([one.id for one in pair], "chats")


def _reopen(chat: Chat, actor: Actor, pair: dict[UUID, Actor]) -> Chat:
    """Add those of the pair who had left the workspace, and show the chat in the actor's list again."""
    changes = []
    for participant in chat.participants.all():
        participant.actor = pair[participant.actor_id]
        if participant.ended_at is not None:
            changes.append(RowUpdate(participant).set(ended_at=None, joined_at=now(), is_archived=False))
    if changes:
        chat.version = save_changes(chat.id, changes)
        for change in changes:
            publish_rights_changed(change.row.actor_id)
        publish_list_changed([change.row.actor_id for change in changes], "chats")
    away = ChatActor.objects.filter(Q(hidden_seq__isnull=False) | Q(is_archived=True), chat=chat, actor=actor)
    if away.update(hidden_seq=None, is_archived=False):
        publish_list_changed([actor.id], "chats")
    return chat


@transaction.atomic
def hide_direct_chat(actor: Actor, chat_id: UUID) -> None:
    """Hide a direct chat, which cannot be left, from the actor's list of chats until its next message.

    The web app compares `hidden_seq` with the last message.

    Raises `NotFound`, `Forbidden`, and `Conflict` for a chat that can be left.
    """
    # `SEE` would include editors who read a chat between agents and are not in it.
    chat = get_chat_for(actor, chat_id, ChatVerb.POST)
    if not chat.is_direct:
        raise Conflict("Only a direct chat can be hidden.", hints=["Leave the chat instead."])
    ChatActor.objects.filter(chat=chat, actor=actor).update(hidden_seq=chat.version)
    publish_list_changed([actor.id], "chats")
