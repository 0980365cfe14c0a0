"""Creating chats, adding and removing participants, and changing the settings of a chat."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext

from actors.models import Actor, AgentStatus, Kind
from actors.rates import throttle
from chats.hooks import actor_left, participants_added
from chats.models import Chat, ChatActor, ChatLink
from chats.permissions import ChatVerb, find_readers, get_chat_for
from chats.services.changes import RowChange, save_changes
from chats.services.locking import lock_chat, lock_chat_sets, lock_chats_of
from chats.services.messages import build_system_message
from chats.services.responses import adjust_responses, set_initial_responses
from common.clock import now
from common.errors import Code, Conflict, Invalid, NotFound, QuotaReached
from common.operators import check_operator
from common.quotas import check_quota
from common.text import normalize_name
from common.writing import RowUpdate
from events import audit
from events.publish import publish_list_changed, publish_rights_changed
from events.rows import ResponseMode
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for

MAX_PARTICIPANTS = 200


@transaction.atomic
def create_chat(actor: Actor, workspace_id: UUID, *, title: str, actor_ids: Sequence[UUID] = ()) -> Chat:
    """Create a chat with the actor and `actor_ids`: members and agents of the workspace, and public agents.

    Raises `NotFound`, `Forbidden`, `LimitReached`, `QuotaReached`, and `Invalid` if one of these actors may not be in a chat of
    this workspace.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.CREATE_CHAT)
    ids = list(dict.fromkeys([actor.id, *actor_ids]))
    if len(ids) > MAX_PARTICIPANTS:
        raise Invalid(f"A chat has at most {MAX_PARTICIPANTS} participants.")
    check_quota("chats", Chat.objects.filter(workspace=workspace, created_by=actor))
    throttle_public_agents(actor, ids)
    throttle_added_people(actor, ids)
    lock_chat_sets(ids, shared=True)
    actors = {allowed.id: allowed for allowed in list_allowed_actors(workspace, ids)}
    if actor.id not in actors:
        raise NotFound("There is no such workspace, or you may not see it.")
    if missing := [id for id in ids if id not in actors]:
        raise Invalid("Somebody you named is not in this workspace.", data={"actor_ids": [str(id) for id in missing]})
    chat = Chat.objects.create(workspace=workspace, title=normalize_name(title)[:120], created_by=actor)
    participants = [ChatActor(chat=chat, actor=actors[id]) for id in ids]
    set_initial_responses(participants)
    messages = [build_system_message(chat.id, "MEMBER_JOINED", actor=actor, target=actors[id]) for id in ids]
    chat.version = save_changes(chat.id, [*messages, *participants])
    audit.record(actor, "chat.created", workspace_id=workspace.id, object_id=chat.id, participants=len(ids))
    publish_list_changed(ids, "chats")
    participants_added.call(chat, [actors[id] for id in ids], actor)
    return chat


def throttle_public_agents(actor: Actor, ids: Sequence[UUID]) -> None:
    """Take from the bucket `public_agents` of the actor if one of these ids is of a public agent that is not shipped.

    Each chat of a public agent is counted in the directory, and gets a system message for each new version; so there is a limit.
    Raises `LimitReached`.
    """
    if Actor.objects.filter(pk__in=ids, is_public=True, is_shipped=False).exists():
        throttle(("public_agents", actor.pk))


def throttle_added_people(actor: Actor, ids: Sequence[UUID]) -> None:
    """Take from the bucket `added_people` of the actor and each other person among these ids, so that nobody is put into any number
    of chats, which they would have to leave one by one. Raises `LimitReached`."""
    people = Actor.objects.filter(pk__in=ids, kind=Kind.HUMAN).exclude(pk=actor.pk).values_list("pk", flat=True)
    throttle(*(("added_people", f"{actor.pk}:{person_id}") for person_id in people))


def list_allowed_actors(workspace: Workspace, ids: Iterable[UUID]) -> Iterable[Actor]:
    """Return the actors with these ids who may be in chats of the workspace."""
    person = Q(kind=Kind.HUMAN, is_active=True, memberships__workspace=workspace)
    agent = Q(kind=Kind.AGENT, status=AgentStatus.READY)
    allowed_agent = agent & (Q(workspace=workspace) | Q(is_public=True, taken_down_at=None))
    return Actor.objects.filter(person | allowed_agent, pk__in=ids).distinct()


def check_is_not_direct(chat: Chat) -> None:
    """Raise `Conflict` (`direct_chat`) if it is a direct chat: nobody joins or leaves it, and it has no title."""
    if chat.is_direct:
        raise Conflict(
            "This is a direct chat of two.",
            code=Code.DIRECT_CHAT,
            hints=["Create a chat with everybody who should be in it."],
        )


@transaction.atomic
def add_participant(actor: Actor, chat_id: UUID, target_id: UUID) -> ChatActor:
    """Add an actor, `target_id`, to a chat: a member or agent of the workspace, or a public agent.

    Raises `NotFound`, `Forbidden`, `LimitReached`, `QuotaReached`, `Conflict` (`already_participant`, `direct_chat`).
    """
    # Rights are checked before any lock, so that nobody without them makes others wait for the lock of this actor's chats.
    get_chat_for(actor, chat_id, ChatVerb.ADD_PARTICIPANT)
    throttle_public_agents(actor, [target_id])
    throttle_added_people(actor, [target_id])
    lock_chat_sets([target_id], shared=True)
    chat = get_chat_for(actor, chat_id, ChatVerb.ADD_PARTICIPANT, lock=True)
    check_is_not_direct(chat)
    target = next(iter(list_allowed_actors(chat.workspace, [target_id])), None)
    if target is None:
        raise NotFound("There is nobody of that id in this workspace.")
    participant = join_chat(chat, target, added_by=actor)
    if participant is None:
        raise Conflict(f"{target.name} is in this chat already.", code=Code.ALREADY_PARTICIPANT)
    audit.record(
        actor, "chat.participant_added", workspace_id=chat.workspace_id, object_id=chat.id, participant=str(target.id)
    )
    publish_chat_lists_changed([chat])
    publish_rights_changed(target.id)
    chat.version = participant.version  # only the database has it
    participants_added.call(chat, [target], actor)
    return participant


def join_chat(chat: Chat, actor: Actor, *, added_by: Actor) -> ChatActor | None:
    """Add an actor to a locked chat, and return their participant row, or null if they are in the chat already.

    An actor who was in the chat before gets the same row. Raises `QuotaReached`.
    """
    participant = chat.participants.filter(actor=actor).first()
    if participant is not None and participant.ended_at is None:
        return None
    if chat.participants.filter(ended_at=None).count() >= MAX_PARTICIPANTS:
        raise QuotaReached(f"A chat has at most {MAX_PARTICIPANTS} participants.")
    participant = participant or ChatActor(chat=chat)
    participant.actor = actor
    update = adjust_responses(chat, participant)
    change: RowChange = participant
    if not participant._state.adding:
        change = RowUpdate(participant).set(
            ended_at=None, joined_at=now(), response=participant.response, is_archived=False
        )
    facts: dict[str, object] = {}
    changes = [change]
    if update is not None:
        agent = update.row.actor
        facts = {"mention_only_id": agent.id, "mention_only_name": agent.name}
        changes.append(update)
    message = build_system_message(chat.id, "MEMBER_JOINED", actor=added_by, target=actor, **facts)
    save_changes(chat.id, [message, *changes])
    return participant


@transaction.atomic
def remove_participant(actor: Actor, chat_id: UUID, target_id: UUID, *, as_operator: bool = False) -> ChatActor:
    """Remove an actor, `target_id`, from a chat. People leave a chat by removing themselves.

    The drafts, runs and invite links of the actor in the chat end. `as_operator`: the actor is an operator, who need not
    be in the chat. Raises `NotFound`, `Forbidden`, `Conflict` (`direct_chat`).
    """
    if as_operator:
        check_operator(actor, ChatActor)
        chat = lock_chat(chat_id)
    else:
        chat = get_chat_for(actor, chat_id, ChatVerb.REMOVE_PARTICIPANT, lock=True)
    check_is_not_direct(chat)
    participant = chat.participants.select_related("actor").filter(actor_id=target_id, ended_at=None).first()
    if participant is None:
        raise NotFound(gettext("They are not in this chat."))
    _remove_participant(chat, participant, actor)
    publish_chat_lists_changed([chat], target_id)
    return participant


def remove_agent_from_chats(agent: Actor, remover: Actor) -> None:
    """Remove an agent that is being deleted from all its chats."""
    participants = lock_chats_of(agent)
    for participant in participants:
        _remove_participant(participant.chat, participant, remover)
    publish_chat_lists_changed([participant.chat for participant in participants], agent.id)


def _remove_participant(chat: Chat, participant: ChatActor, remover: Actor) -> None:
    _end_participation(chat, participant, remover)
    audit.record(
        remover,
        "chat.participant_removed",
        workspace_id=chat.workspace_id,
        object_id=chat.id,
        participant=str(participant.actor_id),
    )
    publish_rights_changed(participant.actor_id)


def _end_participation(chat: Chat, participant: ChatActor, remover: Actor) -> None:
    """Write that a participant leaves a locked chat, and revoke their links. Listeners of `actor_left` add changes."""
    at = now()
    update = RowUpdate(participant).set(ended_at=at)
    if remover.pk != participant.actor_id:
        update.set(removed_at=at)
    revoke_links(remover, chat=chat, created_by=participant.actor)
    message = build_system_message(chat.id, "MEMBER_LEFT", actor=remover, target=participant.actor)
    save_changes(chat.id, [message, update, *actor_left.call(chat, participant.actor, remover)])


def revoke_links(by: Actor, **filters: Any) -> None:
    """Revoke the valid links that match `filters`, in the order of their ids. `by` is the actor in the audit trail."""
    links = ChatLink.objects.filter(**filters).valid()
    for link in links.order_by("pk").select_related("chat"):
        if ChatLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=now()):
            audit.record(by, "link.revoked", workspace_id=link.chat.workspace_id, object_id=link.id)


def leave_workspace_chats(*, workspace: Workspace, actor: Actor, remover: Actor) -> None:
    """Remove a person from all chats of a workspace that they leave, and revoke the links that they created there."""
    participants = lock_chats_of(actor, chat__workspace=workspace)
    for participant in participants:
        _end_participation(participant.chat, participant, remover)
    publish_chat_lists_changed([participant.chat for participant in participants], actor.id)
    revoke_links(remover, chat__workspace=workspace, created_by=actor)


def publish_participants(actor: Actor, participants: Collection[ChatActor]) -> None:
    """Publish the participant rows of an actor again, because they contain its changed name. Rows are from `lock_chats_of`."""
    for participant in participants:
        participant.actor = actor
        save_changes(participant.chat_id, [RowUpdate(participant)])
    publish_chat_lists_changed([participant.chat for participant in participants])


def publish_chat_lists_changed(chats: Iterable[Chat], *leaver_ids: UUID) -> None:
    """Publish to the readers of these chats, and to those who have just left, that their list of chats changed: it has the titles
    of the chats and the names of all participants."""
    publish_list_changed(set(leaver_ids).union(*find_readers(chats).values()), "chats")


@transaction.atomic
def rename_chat(actor: Actor, chat_id: UUID, *, title: str) -> Chat:
    """Change the title of a chat, up to 120 characters. A chat without a title is shown by the names of the others in it.

    Raises `NotFound`, `Forbidden`, `Conflict` (`direct_chat`).
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.RENAME, lock=True)
    check_is_not_direct(chat)
    save_changes(chat.id, [RowUpdate(chat).set(title=normalize_name(title)[:120])])
    audit.record(actor, "chat.renamed", workspace_id=chat.workspace_id, object_id=chat.id)
    publish_chat_lists_changed([chat])
    return chat


@transaction.atomic
def set_response(actor: Actor, chat_id: UUID, agent_id: UUID, *, response: str) -> ChatActor:
    """Set which messages of a chat an agent answers: those that mention it, all, or none.

    Raises `NotFound` when the agent is not in the chat, `Forbidden`, `Invalid` for a person.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.SET_RESPONSE, lock=True)
    participant = chat.participants.select_related("actor").filter(actor_id=agent_id, ended_at=None).first()
    if participant is None:
        raise NotFound(gettext("They are not in this chat."))
    if participant.actor.is_human or response not in ResponseMode.values:
        raise Invalid("Only an agent can be set to answer mentions, always, or never.")
    save_changes(chat.id, [RowUpdate(participant).set(response=response, is_response_chosen=True)])
    audit.record(actor, "chat.response_set", workspace_id=chat.workspace_id, object_id=chat.id, agent=str(agent_id))
    return participant
