"""Export and import agents as files."""

from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.db import transaction
from django.utils.text import get_valid_filename
from pydantic import ValidationError

from actors.models import Actor
from agent_files.specs import AgentFile, Format, format_file, read_file
from agents.permissions import AgentVerb, get_agent_for, get_production
from agents.selectors import find_version
from agents.services.agents import NewAgent, open_first_chat, store_agent
from agents.services.teams import find_team_members, get_member_name
from agents.specs.content import SpecContent, ToolUse
from agents.specs.templates import get_agent_template
from events.rows import SpecOrigin
from files.pages import PagesConfig, find_pages
from llm.endpoints import DEMO_MODEL, uses_system_model
from tools.selectors import get_tools
from workspaces.models import Credential, Workspace
from workspaces.permissions import WorkspaceVerb, get_workspace_for

ONLY_DEMO = "This workspace has only the demo model, which answers instead."
NOT_OFFERED = "The operator does not offer this model. The default model answers instead."


@dataclass(frozen=True)
class Export:
    """The name and the text of an exported file."""

    name: str
    text: str


@dataclass(frozen=True)
class Missing:
    """A tool, model, setting or member of the team that a file names and that does not exist here. `text` says what replaces it."""

    kind: Literal["tool", "model", "setting", "member"]
    name: str
    text: str


@dataclass(frozen=True)
class Import:
    """The result of an import: the file, the spec as it is stored here, what is missing, and the new agent (null for a trial)."""

    file: AgentFile
    content: SpecContent
    missing: list[Missing]
    created: NewAgent | None


def export_agent(actor: Actor, agent_id: UUID, *, format: Format, version: int | None = None) -> Export:
    """Return a version of an agent as a file. Without `version`, export production. Raises `NotFound`, `Forbidden`."""
    agent = get_agent_for(actor, agent_id, AgentVerb.SEE_SPEC)
    spec = get_production(agent) if version is None else find_version(agent, version)
    fields = {
        "name": agent.name,
        "handle": agent.handle,
        "description": agent.description,
        "version": spec.number,
        "avatar": agent.avatar,
    }
    file = AgentFile.model_validate({**spec.parse_content().as_json(), **fields})
    try:
        stem = get_valid_filename(agent.name)
    except SuspiciousFileOperation:
        stem = agent.handle
    return Export(name=f"{stem}.v{spec.number}.{format}", text=format_file(file, format))


@transaction.atomic
def import_agent(
    actor: Actor,
    workspace_id: UUID,
    *,
    text: str,
    name: str | None = None,
    handle: str | None = None,
    is_trial: bool = False,
) -> Import:
    """Create the agent that a file describes, and a chat in which it has greeted the actor. A trial creates nothing.

    Without a `handle`, the agent gets that of the file, or a similar one if it is taken.

    Raises `NotFound`, `Forbidden`, `TooLarge`, `QuotaReached`, `Invalid` (also `file_unreadable`), `Conflict` (`handle_taken`).
    """
    workspace = get_workspace_for(actor, workspace_id, WorkspaceVerb.CREATE_AGENT)
    file = read_file(text)
    content, missing = fit_content(file, workspace)
    if is_trial:
        return Import(file, content, missing, created=None)
    agent = store_agent(
        actor,
        workspace,
        content=content,
        origin=SpecOrigin.IMPORTED,
        name=file.name if name is None else name,
        description=file.description,
        handle=handle,
        suggested_handle=file.handle,
        fallback_handle="agent-imported",
        avatar=file.avatar,
    )
    chat = open_first_chat(actor, workspace, agent, template=get_agent_template("blank", actor.language))
    created = NewAgent(get_agent_for(actor, agent.id, AgentVerb.SEE), chat)
    return Import(file, content, missing, created=created)


def fit_content(file: AgentFile, workspace: Workspace) -> tuple[SpecContent, list[Missing]]:
    """Return the spec of a file as it can be stored here, and what is missing.

    Unknown tools, knowledge pages and members of the team are removed, and invalid settings are replaced by the defaults of the
    tool. A model that the workspace does not have is kept, so that it answers once the workspace has it. One that the operator does
    not offer is removed, because such a spec cannot be stored.
    """
    tools: list[ToolUse] = []
    missing: list[Missing] = []
    known = get_tools(workspace.id, file.tool_names)
    for use in file.tools:
        if use.tool not in known:
            missing.append(Missing("tool", use.tool, "There is no such tool here. It is left out."))
            continue
        try:
            config = known[use.tool].parse_config(use.custom_config)
        except ValidationError:
            tools.append(use.model_copy(update={"custom_config": {}}))
            missing.append(Missing("setting", use.tool, "Its settings are not valid here. It gets the default ones."))
            continue
        if isinstance(config, PagesConfig):
            found = find_pages(workspace.id, config.page_ids)
            here = [str(id) for id in config.page_ids if id in found]
            if len(here) < len(config.page_ids):
                missing.append(Missing("setting", use.tool, "Pages of it are not here. They are left out."))
                use = use.model_copy(update={"custom_config": {**use.custom_config, "page_ids": here}})
        tools.append(use)
    team = find_team_members(workspace.id, file.team.members) if file.team.members else []
    members = tuple(map(get_member_name, team))
    for member in file.team.members:
        if member not in members:
            missing.append(Missing("member", f"@{member}", "No such agent accepts tasks here. It is left out."))
    replaced: dict[str, Any] = {"tools": tuple(tools), "team": file.team.model_copy(update={"members": members})}
    if reason := _explain_missing_model(file.model, workspace):
        missing.append(Missing("model", file.model, reason))
        if reason == NOT_OFFERED:
            replaced["model"] = ""
    return file.content().model_copy(update=replaced), missing


def _explain_missing_model(model: str, workspace: Workspace) -> str:
    """Return why the workspace does not have the model. Empty if the workspace has it, or if only its provider knows that."""
    if not model:
        return ""
    credential = Credential.objects.filter(workspace=workspace).first()
    if uses_system_model(credential):
        return "" if model in settings.SYSTEM_MODEL["models"] else NOT_OFFERED
    is_demo = credential is None or credential.provider == "demo"
    return ONLY_DEMO if is_demo and model != DEMO_MODEL else ""
