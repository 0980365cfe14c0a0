"""Create and delete agents, and change their profiles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F

from actors.models import Actor, AgentStatus, Kind
from agents.permissions import AgentVerb, get_agent_for
from agents.services.specs import check_content
from agents.services.stored_specs import write_spec
from agents.services.tree import lift_children
from agents.specs.content import SpecContent, ToolUse
from agents.specs.templates import AgentTemplate, get_agent_template
from chats import services as chats
from chats.models import Chat, Message
from common.clock import now
from common.errors import Code, Conflict, Invalid
from common.handles import check_handle, find_free_handle, normalize_handle
from common.quotas import check_quota
from common.text import add_cjk_spacing, normalize_name
from events import audit
from events.payloads import TextPayload, dump_payload
from events.publish import publish_workspace_list_changed
from events.rows import EmojiAvatar, NewAvatar, SpecOrigin, dump_avatar
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for


@dataclass(frozen=True)
class NewAgent:
    """A new agent, fetched for its creator, and the chat in which it has greeted them, or null if none was opened."""

    agent: Actor
    chat: Chat | None


@transaction.atomic
def create_agent(
    actor: Actor,
    workspace_id: UUID,
    *,
    name: str,
    description: str = "",
    handle: str | None = None,
    template: str = "blank",
    prompt: str | None = None,
    tools: Sequence[str] | None = None,
    avatar: NewAvatar | None = None,
    open_chat: bool = False,
    questions: Sequence[str] | None = None,
) -> NewAgent:
    """Create an agent with its first version. Omitted fields come from the template, in the actor's language. `questions`: the
    example questions of its greeting.

    Raises `NotFound`, `Forbidden`, `QuotaReached`, `Invalid` for an unknown template or tool, `Conflict` (`handle_taken`).
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.CREATE_AGENT)
    start = get_agent_template(template, actor.language)
    if questions is not None:
        start = replace(start, questions=tuple(question.strip() for question in questions))
    content = SpecContent(
        prompt=start.prompt if prompt is None else prompt,
        tools=tuple(ToolUse(tool=tool) for tool in (start.available_tools if tools is None else tools)),
    )
    agent = store_agent(
        actor,
        workspace,
        content=content,
        origin=SpecOrigin.CREATED,
        name=name,
        description=description or start.description,
        handle=handle,
        fallback_handle=f"agent-{start.key}",
        role=start.role,
        avatar=avatar or EmojiAvatar(kind="emoji", emoji=start.emoji),
    )
    chat = open_first_chat(actor, workspace, agent, template=start) if open_chat else None
    return NewAgent(get_agent_for(actor, agent.id, AgentVerb.SEE), chat)


def store_agent(
    actor: Actor,
    workspace: Workspace,
    *,
    content: SpecContent,
    origin: SpecOrigin,
    name: str,
    description: str,
    handle: str | None,
    suggested_handle: str = "",
    fallback_handle: str = "",
    role: str = "",
    avatar: NewAvatar | None = None,
) -> Actor:
    """Insert an agent and its first version. The caller has opened a transaction and checked the actor's rights.

    Without a `handle`, the agent gets a free one derived from `suggested_handle`, its name or `fallback_handle`.
    Raises `QuotaReached`, `Invalid`, `Conflict` (`handle_taken`).
    """
    check_content(content, workspace_id=workspace.id)
    name = check_agent_name(name)
    others = Actor.objects.filter(workspace=workspace).exclude(status=AgentStatus.DELETED)
    check_quota("agents", others)
    if handle is not None:
        handle = check_handle(handle, others)
    try:
        with transaction.atomic():
            agent = Actor.objects.create(
                kind=Kind.AGENT,
                workspace=workspace,
                name=name,
                description=description[:2000],
                role=role,
                handle=handle or find_free_handle(suggested_handle or name, others, fallback=fallback_handle),
            )
    except IntegrityError as error:
        raise Conflict(
            f"The handle @{handle} is taken here.", code=Code.HANDLE_TAKEN, hints=["Choose another."]
        ) from error
    agent.avatar = dump_avatar(avatar)
    agent.current_spec = write_spec(agent, content, author=actor, origin=origin, number=1)
    agent.save(update_fields=["avatar", "current_spec"])
    audit.record(actor, f"agent.{origin.value}", workspace_id=workspace.id, object_id=agent.id)
    publish_workspace_list_changed(workspace.id, "agents")
    return agent


def check_agent_name(name: str) -> str:
    """Return the name as one trimmed line. Raises `Invalid` if it is empty or too long."""
    name = normalize_name(name)
    if not 1 <= len(name) <= 80:
        raise Invalid("An agent's name has between 1 and 80 characters.")
    return name


def open_first_chat(actor: Actor, workspace: Workspace, agent: Actor, *, template: AgentTemplate) -> Chat:
    """Create a chat of a new agent and its creator, and post the greeting of the template in it. No run is started."""
    chat = chats.create_chat(actor, workspace.id, title=agent.name, actor_ids=[agent.id])
    chat.version = post_greeting(chat, agent, template)
    return chat


def post_greeting(chat: Chat, agent: Actor, template: AgentTemplate) -> int:
    """Post the greeting of a new agent in a chat, and return the chat's version. No run is started."""
    text = TextPayload(
        text=add_cjk_spacing(template.greeting.format(name=agent.name)),
        greeting=True,
        questions=list(template.questions) or None,
        improvement=template.improvement,
    )
    payload = dump_payload("TEXT_MESSAGE", text)
    message = Message(chat=chat, author=agent, type="TEXT_MESSAGE", payload=payload, created_at=now())
    return chats.save_changes(chat.id, [message])


@transaction.atomic
def update_agent_profile(
    actor: Actor,
    agent_id: UUID,
    *,
    revision: int,
    name: str | None = None,
    description: str | None = None,
    avatar: NewAvatar | None = None,
    handle: str | None = None,
    accepts_tasks: bool | None = None,
    role: str | None = None,
) -> Actor:
    """Change the name, description, avatar, handle and role of an agent, and whether other agents of its workspace may give it
    tasks. They are not part of its spec. `role` is a text about what it does in the team, and gives no rights. Null leaves a
    field as it is.

    Raises `NotFound`, `Forbidden`, `Invalid`, and `Conflict` for an outdated `revision` or (`handle_taken`) for the handle.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.UPDATE_PROFILE)
    fields: dict[str, Any] = {}
    if handle is not None and normalize_handle(handle) != agent.handle:
        others = Actor.objects.filter(workspace=agent.workspace_id).exclude(status=AgentStatus.DELETED)
        fields["handle"] = check_handle(handle, others.exclude(pk=agent.pk))
        audit.record(
            actor,
            "handle.changed",
            workspace_id=agent.workspace_id,
            object_id=agent.id,
            old=agent.handle,
            new=fields["handle"],
        )
    if avatar is not None:
        fields["avatar"] = dump_avatar(avatar)
    if name is not None:
        fields["name"] = check_agent_name(name)
    if description is not None:
        fields["description"] = description[:2000]
    if accepts_tasks is not None:
        fields["accepts_tasks"] = accepts_tasks
    if role is not None:
        fields["role"] = normalize_name(role)[:80]
    participants = chats.lock_chats_of(agent)
    rows = Actor.objects.filter(pk=agent.pk, revision=revision)
    if not rows.update(**fields, revision=F("revision") + 1):
        raise Conflict("Another person has changed this agent meanwhile.", hints=["Read it again, then change it."])
    agent.refresh_from_db(fields=["name", "description", "avatar", "handle", "accepts_tasks", "role", "revision"])
    audit.record(actor, "agent.profile_updated", workspace_id=agent.workspace_id, object_id=agent.id)
    if agent.workspace_id:
        publish_workspace_list_changed(agent.workspace_id, "agents")
    chats.publish_participants(agent, participants)
    return agent


def _check_not_public(agent: Actor) -> None:
    """Raise `Conflict` (`still_public`), with the public copy of the agent, while there is one."""
    copy = agent.published_copies.filter(taken_down_at=None).first()
    if copy is not None:
        raise Conflict(
            f"This agent is public as {copy.name} (@{copy.handle}).",
            code=Code.STILL_PUBLIC,
            hints=["Take the public copy down first."],
            data={"agent_id": str(copy.id), "name": copy.name, "handle": copy.handle},
        )


@transaction.atomic
def delete_agent(actor: Actor, agent_id: UUID) -> Actor:
    """Delete an agent. It leaves its chats, where its messages stay, and its handle can be used again.

    Raises `NotFound`, `Forbidden`, and `Conflict` (`still_public`) while a public copy of it exists.
    """
    agent = get_agent_for(actor, agent_id, AgentVerb.DELETE)
    _check_not_public(agent)
    chats.remove_agent_from_chats(agent, actor)
    lift_children(agent)
    try:
        with transaction.atomic():
            Actor.objects.filter(pk=agent.pk).update(status=AgentStatus.DELETED)
    except IntegrityError:
        # It was published meanwhile. A trigger refuses the deletion (`publishing/migrations/0002_origin_stays_while_public.py`).
        _check_not_public(agent)
        raise
    audit.record(actor, "agent.deleted", workspace_id=agent.workspace_id, object_id=agent.id)
    if agent.workspace_id:
        publish_workspace_list_changed(agent.workspace_id, "agents")
    return agent
