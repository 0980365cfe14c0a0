"""Check the specs of agents, and restore an old version."""

from uuid import UUID

from django.db import transaction
from pydantic import ValidationError

from actors.models import Actor
from agents.models import AgentSpec, Draft
from agents.permissions import AgentVerb, get_agent_for, get_production
from agents.selectors import find_version
from agents.services.stored_specs import write_spec
from agents.services.teams import find_team_members, get_member_name
from agents.specs.content import SpecContent
from chats import services as chats
from chats.models import ChatActor
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Code, Conflict, Invalid, NotFound
from common.request_types import describe_problem
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import SpecOrigin
from tools.registry import registry
from tools.selectors import get_tools


def check_content(content: SpecContent, *, workspace_id: UUID | None = None, agent: Actor | None = None) -> None:
    """Raise `Invalid` for an unknown tool, for invalid settings of a tool, and for a member of the team that gets no tasks.

    Pass `workspace_id` for a new agent, otherwise `agent`. A tool that was deleted is accepted if a spec or a draft of the agent
    has it: runs leave it out, and a draft with its name can still be edited. So is a member that is gone.
    """
    workspace_id = agent.workspace_id if agent else workspace_id
    _check_team(content, workspace_id, agent)
    tools = get_tools(workspace_id, content.tool_names)
    unknown = sorted(content.tool_names - tools.keys())
    if unknown and (missing := [name for name in unknown if agent is None or not _has_named(agent, name)]):
        raise Invalid(
            f"There is no tool named {', '.join(missing)}.",
            hints=[f"There are: {', '.join(sorted(registry))}, and the workspace's own tools."],
        )
    for use in content.tools:
        if use.tool not in tools:
            continue
        try:
            tools[use.tool].parse_config(use.custom_config)
        except ValidationError as error:
            hints = [describe_problem(problem, "settings") for problem in error.errors(include_url=False)[:5]]
            raise Invalid(f"The settings of the tool {use.tool} do not fit.", hints=hints) from error


def _check_team(content: SpecContent, workspace_id: UUID | None, agent: Actor | None) -> None:
    """Raise `Invalid` for a member that is the agent itself, or that does not exist or accepts no tasks."""
    members = content.team.members
    if agent is not None and agent.handle in members:
        raise Invalid("An agent is no member of its own team.", hints=[f"team.members: Remove @{agent.handle}."])
    found = {get_member_name(member) for member in find_team_members(workspace_id, members)} if members else set()
    unknown = [name for name in members if name not in found]
    if missing := [name for name in unknown if agent is None or not _has_member(agent, name)]:
        raise Invalid(
            f"These agents do not exist here, or accept no tasks: {', '.join(f'@{name}' for name in missing)}.",
            hints=[f"team.members: Remove @{name}, or let it accept tasks." for name in missing],
        )


def _has_named(agent: Actor, tool: str) -> bool:
    """Return whether a spec of the agent, or a draft that has not ended, names the tool."""
    if AgentSpec.objects.filter(agent=agent, content__tools__contains=[{"tool": tool}]).exists():
        return True
    return Draft.objects.filter(agent=agent, ended_at=None, written__tools__contains=[{"tool": tool}]).exists()


def _has_member(agent: Actor, name: str) -> bool:
    """Return whether a spec of the agent, or a draft that has not ended, has this member in its team."""
    if AgentSpec.objects.filter(agent=agent, content__team__members__contains=[name]).exists():
        return True
    return Draft.objects.filter(agent=agent, ended_at=None, written__team__members__contains=[name]).exists()


@transaction.atomic
def restore_version(
    actor: Actor, agent_id: UUID, number: int, *, base_version: int, message: str = "", chat_id: UUID | None = None
) -> AgentSpec:
    """Save the content of an old version as the next version. If `chat_id` is given, post a message about it in that chat.

    Raises `NotFound`, `Forbidden`, `Invalid` for settings of a tool that are no longer valid, and `Conflict`: `stale_base`, with
    the current production, if that is not `base_version`, or `nothing_changed`.
    """
    if chat_id is not None:
        get_chat_for(actor, chat_id, ChatVerb.SEE, lock=True)
        if not ChatActor.objects.filter(chat=chat_id, actor=agent_id, ended_at=None).exists():
            raise NotFound("This agent is not in this chat.")
    agent = get_agent_for(actor, agent_id, AgentVerb.SAVE, lock=True)
    production = get_production(agent)
    if production.number != base_version:
        raise Conflict(
            f"{agent.name} is at v{production.number} now.",
            code=Code.STALE_BASE,
            hints=["Compare with the current production, then restore on top of it."],
            data={"production": production.to_row().model_dump(mode="json")},
        )
    content = find_version(agent, number).parse_content()
    if content == production.parse_content():
        raise Conflict(f"v{number} is the same as production.", code=Code.NOTHING_CHANGED)
    check_content(content, agent=agent)

    spec = write_spec(
        agent,
        content,
        author=actor,
        origin=SpecOrigin.RESTORED,
        number=base_version + 1,
        message=message.strip() or f"Restore v{number}",
        base_version=number,
    )
    agent.current_spec = spec
    agent.save(update_fields=["current_spec"])
    if chat_id is not None:
        system_message = chats.build_system_message(
            chat_id, "SPEC_SAVED", actor=actor, target=agent, version=spec.number, note=spec.message
        )
        chats.save_changes(chat_id, [system_message])
    audit.record(actor, "spec.restored", workspace_id=agent.workspace_id, object_id=agent.id, version=spec.number)
    if agent.workspace_id:
        publish_workspace_list_changed(agent.workspace_id, "agents")
    return spec
