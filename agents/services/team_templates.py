"""Create a whole team from a template: a supervisor that leads it, the agents that do its tasks, and their chat."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from actors.models import Actor, AgentStatus, Kind
from agents.permissions import AgentVerb, get_agent_for
from agents.services.agents import post_greeting, store_agent
from agents.specs.content import SpecContent, Team, ToolUse
from agents.specs.templates import AgentTemplate, get_team_template
from chats import services as chats
from chats.models import Chat
from events.rows import EmojiAvatar, ResponseMode, SpecOrigin
from workspaces.models import Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for


@dataclass(frozen=True)
class NewTeam:
    """The agents of a new team, fetched for its creator, and the chat in which the lead has greeted them."""

    lead: Actor
    members: list[Actor]
    chat: Chat


@transaction.atomic
def create_team_from_template(actor: Actor, workspace_id: UUID, *, template: str) -> NewTeam:
    """Create the agents of a template in the actor's language, and a chat with all of them. The members report to the lead, which
    plans tasks for them (`Team`) and answers every message of the chat.

    If a name is in use in the workspace, the new agent gets another one. Either all is created or nothing. Raises `NotFound`,
    `Forbidden`, `QuotaReached`, `Invalid` for an unknown template.
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.CREATE_AGENT)
    team = get_team_template(template, actor.language)
    members = [
        _store_agent(actor, workspace, member, SpecContent(prompt=member.prompt, tools=_build_tool_uses(member)))
        for member in team.members
    ]
    lead = _store_agent(actor, workspace, team.lead, build_lead_content(team.lead, members))
    Actor.objects.filter(pk__in=[member.pk for member in members]).update(parent=lead)

    chat = chats.create_chat(actor, workspace.id, title=team.title, actor_ids=[lead.id, *(m.id for m in members)])
    chats.set_response(actor, chat.id, lead.id, response=ResponseMode.ALWAYS)
    chat.version = post_greeting(chat, lead, team.lead)
    return NewTeam(
        lead=get_agent_for(actor, lead.id, AgentVerb.SEE),
        members=[get_agent_for(actor, member.id, AgentVerb.SEE) for member in members],
        chat=chat,
    )


def build_lead_content(lead: AgentTemplate, members: Sequence[Actor]) -> SpecContent:
    """Return the spec of the agent that leads a team: it plans tasks for these agents."""
    team = Team(members=tuple(member.handle for member in members), max_at_once=3)
    return SpecContent(prompt=lead.prompt, tools=_build_tool_uses(lead), team=team)


def _build_tool_uses(template: AgentTemplate) -> tuple[ToolUse, ...]:
    return tuple(ToolUse(tool=tool) for tool in template.available_tools)


def _store_agent(actor: Actor, workspace: Workspace, template: AgentTemplate, content: SpecContent) -> Actor:
    return store_agent(
        actor,
        workspace,
        content=content,
        origin=SpecOrigin.CREATED,
        name=_find_free_name(workspace, template.name),
        description=template.description,
        handle=None,
        suggested_handle=template.key,
        role=template.role,
        avatar=EmojiAvatar(kind="emoji", emoji=template.emoji),
    )


def _find_free_name(workspace: Workspace, name: str) -> str:
    """Return the name, or the name with the first number that no agent of the workspace has. Two concurrent calls may return the
    same: agents are told apart by their handles."""
    agents = Actor.objects.filter(workspace=workspace, kind=Kind.AGENT).exclude(status=AgentStatus.DELETED)
    used = set(agents.filter(name__startswith=name).values_list("name", flat=True))
    if name not in used:
        return name
    return next(f"{name} {number}" for number in range(2, len(used) + 3) if f"{name} {number}" not in used)
