"""Agents and their versions: making an agent, naming it, writing a spec down."""

from collections.abc import Sequence

from django.db import IntegrityError, transaction
from django.db.models import F
from pydantic import ValidationError

from actors.models import Actor, AgentStatus, Kind
from agents.content import SpecContent, ToolUse
from agents.models import AgentSpec, AgentToolConfig, Origin
from agents.templates import Template, template
from chats import services as chats
from chats.models import Chat, Message
from common.clock import now
from common.errors import Code, Conflict, Invalid
from common.handles import free_handle, is_handle
from events import audit
from events.bells import ring_workspace
from events.payloads import Text, checked_payload
from tools.registry import registry
from workspaces.models import Workspace


def create_agent(
    *, workspace: Workspace, creator: Actor, name: str, description: str = "", handle: str | None = None,
    template_key: str = "blank", prompt: str | None = None, tools: Sequence[str] | None = None,
) -> Actor:  # fmt: skip
    """Make an agent with its first version, from a template and what the person said beyond it (S0.18).

    Raises `Invalid` for a name, template or tool that does not exist; `Conflict` (`handle_taken`).
    """
    plan = template(template_key, creator.language)
    content = SpecContent(
        prompt=plan.prompt if prompt is None else prompt,
        tools=tuple(ToolUse(tool=tool) for tool in (plan.tools if tools is None else tools)),
    )
    return make_agent(
        workspace=workspace, creator=creator, content=content, origin=Origin.CREATED, name=name,
        description=description or plan.description, handle=handle, fallback=f"agent-{plan.key}",
    )  # fmt: skip


def make_agent(
    *, workspace: Workspace, creator: Actor, content: SpecContent, origin: Origin, name: str, description: str,
    handle: str | None, wish: str = "", fallback: str = "",
) -> Actor:  # fmt: skip
    """Make an agent of this content. Without a `handle` it gets a free one like `wish`, or like its name.

    Raises `Invalid` for a name, handle or tool that cannot be; `Conflict` (`handle_taken`).
    """
    check_content(content)
    agent = _stored(workspace, name, description, handle, wish=wish, fallback=fallback)
    agent.current_spec = write_spec(agent, content, author=creator, origin=origin, number=1)
    agent.save(update_fields=["current_spec"])
    audit.record(creator, f"agent.{origin.value}", workspace_id=workspace.id, object_id=agent.id)
    ring_workspace(workspace.id, "agents")
    return agent


def _stored(
    workspace: Workspace, name: str, description: str, handle: str | None, *, wish: str, fallback: str
) -> Actor:
    name = checked_agent_name(name)
    taken = Actor.objects.filter(workspace=workspace).exclude(status=AgentStatus.DELETED)
    if handle is not None and not is_handle(handle):
        raise Invalid("A handle has 1 to 40 of a–z, 0–9, - and _.", hints=["Leave it out and we make one."])
    try:
        with transaction.atomic():
            return Actor.objects.create(
                kind=Kind.AGENT, workspace=workspace, name=name, description=description[:2000],
                handle=handle or free_handle(wish or name, taken, fallback=fallback),
            )  # fmt: skip
    except IntegrityError as error:
        raise Conflict(
            f"The handle @{handle} is taken here.", code=Code.HANDLE_TAKEN, hints=["Choose another."]
        ) from error


def checked_agent_name(name: str) -> str:
    """The name, trimmed. Raises `Invalid` when nothing or too much is left."""
    name = name.strip()
    if not 1 <= len(name) <= 80:
        raise Invalid("An agent's name has between 1 and 80 characters.")
    return name


def check_content(content: SpecContent) -> None:
    """Whether every tool is one we have, and its settings fit. Raises `Invalid` naming those that do not."""
    unknown = [use.tool for use in content.tools if use.tool not in registry]
    if unknown:
        raise Invalid(
            f"There is no tool named {', '.join(unknown)}.", hints=[f"There are: {', '.join(sorted(registry))}."]
        )
    for use in content.tools:
        _check_settings(use)


def _check_settings(use: ToolUse) -> None:
    try:
        registry[use.tool].configured(use.custom_config)
    except ValidationError as error:
        found = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)]
        raise Invalid(f"The settings of the tool {use.tool} do not fit.", hints=found[:5]) from error


def write_spec(
    agent: Actor, content: SpecContent, *, author: Actor, origin: Origin, number: int | None = None, message: str = "",
    base_number: int | None = None,
) -> AgentSpec:  # fmt: skip
    """Write a whole spec down, never to be changed: a version when it has a number, else the text of one apply."""
    spec = AgentSpec.objects.create(
        agent=agent, number=number, prompt=content.prompt, model=content.model,
        parameters=content.parameters.model_dump(exclude_none=True), limits=content.limits.model_dump(),
        memory=content.memory, message=message.strip()[:400], origin=origin, base_number=base_number, author=author,
    )  # fmt: skip
    AgentToolConfig.objects.bulk_create(
        AgentToolConfig(spec=spec, position=position, **use.model_dump()) for position, use in enumerate(content.tools)
    )
    return spec


def rename_agent(*, agent: Actor, actor: Actor, name: str | None, description: str | None, revision: int) -> Actor:
    """Change name and description, which belong to the actor and not to its spec (S0.2). Raises `Invalid`, `Conflict`."""
    fields: dict[str, str] = {}
    if name is not None:
        fields["name"] = checked_agent_name(name)
    if description is not None:
        fields["description"] = description[:2000]
    places = chats.hold_places(agent)
    rows = Actor.objects.filter(pk=agent.pk, revision=revision)
    if not rows.update(**fields, revision=F("revision") + 1):
        raise Conflict("Somebody else has changed this agent meanwhile.", hints=["Look again, then change it."])
    agent.refresh_from_db(fields=["name", "description", "revision"])
    audit.record(actor, "agent.renamed", workspace_id=agent.workspace_id, object_id=agent.id)
    if agent.workspace_id:
        ring_workspace(agent.workspace_id, "agents")
    chats.show_anew(agent, places)
    return agent


def delete_agent(*, agent: Actor, actor: Actor) -> None:
    """Take an agent out of the team: it leaves its chats, where what it said stays. Its handle is free again (S0.1).

    Raises `Conflict` (`still_public`) while a public copy of it is up.
    """
    if agent.published_copies.filter(taken_down_at=None).exists():
        raise Conflict(
            "A public copy of this agent is up.", code=Code.STILL_PUBLIC, hints=["Take the public copy down first."]
        )
    for place in chats.hold_places(agent):
        chats.remove_member(chat=place.chat, remover=actor, actor_id=agent.id)
    Actor.objects.filter(pk=agent.pk).update(status=AgentStatus.DELETED)
    audit.record(actor, "agent.deleted", workspace_id=agent.workspace_id, object_id=agent.id)
    if agent.workspace_id:
        ring_workspace(agent.workspace_id, "agents")


def open_first_chat(*, agent: Actor, workspace: Workspace, creator: Actor, template_key: str = "blank") -> Chat:
    """The chat in which a new agent and its maker meet; it has said hello, without a run (item of S0.18)."""
    chat = chats.create_chat(workspace=workspace, creator=creator, title=agent.name, member_ids=[agent.id])
    hello = _greeting(chat, agent, template(template_key, creator.language))
    chat.version = chats.changed(chat.id, rows=[hello])
    return chat


def _greeting(chat: Chat, agent: Actor, plan: Template) -> Message:
    text = Text(text=plan.greeting.format(name=agent.name), greeting=True)
    payload = checked_payload("TEXT_MESSAGE", text.model_dump())
    return Message(chat=chat, author=agent, type="TEXT_MESSAGE", payload=payload, created_at=now())
