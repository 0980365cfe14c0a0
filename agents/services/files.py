"""Agents leave as files and come from files (mission row B6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from django.conf import settings
from pydantic import ValidationError

from actors.models import Actor
from agents.content import SpecContent, ToolUse
from agents.files import AgentFile
from agents.llm.endpoints import DEMO_MODEL
from agents.models import AgentSpec, Origin
from agents.services.specs import make_agent, open_first_chat
from chats.models import Chat
from tools.registry import registry
from workspaces.models import Credential, Provider, Workspace


@dataclass(frozen=True)
class Missing:
    """What a file asks for and this place does not have; `text` says what becomes of it."""

    what: Literal["tool", "model", "setting"]
    name: str
    text: str


@dataclass(frozen=True)
class Fitted:
    """The content of a file as it can be here, and what is missing for the rest."""

    content: SpecContent
    missing: list[Missing]


def file_of(agent: Actor, spec: AgentSpec) -> AgentFile:
    """An agent at one of its versions, as a file."""
    names = {"name": agent.name, "handle": agent.handle, "description": agent.description, "version": spec.number}
    return AgentFile.model_validate({**spec.content().as_json(), **names})


def fit(file: AgentFile, workspace: Workspace) -> Fitted:
    """Tools that are not here are left out, settings that do not fit any more are the tool's own; all of it is told.

    A model stays as it is written: whoever comes to offer it is asked for it.
    """
    missing = [*_missing_tools(file.tools), *_unfitting_settings(file.tools), *_missing_model(file, workspace)]
    reset = {one.name for one in missing if one.what == "setting"}
    tools = tuple(
        use.model_copy(update={"custom_config": {}}) if use.tool in reset else use
        for use in file.tools
        if use.tool in registry
    )
    return Fitted(file.content().model_copy(update={"tools": tools}), missing)


def _missing_tools(tools: Iterable[ToolUse]) -> list[Missing]:
    unknown = [use.tool for use in tools if use.tool not in registry]
    return [Missing("tool", tool, "There is no such tool here: it is left out.") for tool in unknown]


def _unfitting_settings(tools: Iterable[ToolUse]) -> list[Missing]:
    text = "Its settings do not fit here: it gets the usual ones."
    return [Missing("setting", use.tool, text) for use in tools if use.tool in registry and not _fits(use)]


def _fits(use: ToolUse) -> bool:
    try:
        registry[use.tool].configured(use.custom_config)
    except ValidationError:
        return False
    return True


def _missing_model(file: AgentFile, workspace: Workspace) -> list[Missing]:
    """Only of the demo model it is known without asking anybody that it is the one there is."""
    credential = Credential.objects.filter(workspace=workspace).first()
    provider = credential.provider if credential else settings.SYSTEM_MODEL["provider"] or Provider.DEMO
    if provider != Provider.DEMO or file.model in ("", DEMO_MODEL):
        return []
    return [Missing("model", file.model, "This workspace has the demo model only, which answers instead.")]


def import_agent(
    *, workspace: Workspace, creator: Actor, file: AgentFile, content: SpecContent, name: str | None = None,
    handle: str | None = None,
) -> tuple[Actor, Chat]:  # fmt: skip
    """Make the agent of a file, of content that fits here, and the chat in which it has said hello.

    Without a `handle` it gets the file's, or one like it where that is taken. Raises `Invalid`, `Conflict` (`handle_taken`).
    """
    agent = make_agent(
        workspace=workspace, creator=creator, content=content, origin=Origin.IMPORTED,
        name=file.name if name is None else name, description=file.description, handle=handle, wish=file.handle,
        fallback="agent-imported",
    )  # fmt: skip
    return agent, open_first_chat(agent=agent, workspace=workspace, creator=creator)
