"""Ids and handles in the arguments of tools: what they name is of the run's workspace, and read by those who see the result."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from actors.models import Actor
from agents.sub_agents import AgentTool
from chats import services as chats
from chats.models import Chat
from chats.named_objects import get_named_object
from chats.permissions import ChatVerb, get_chat_for
from events.payloads import FileKind
from files.models import File
from files.pages import PagesConfig
from files.selectors import find_passable_files
from memory.models import Note
from tests.api.test_rights import fingerprint
from tests.factories.files import FileFactory
from tests.people import Team, make_agent
from tests.publishing.publications import add_to_chat, publish
from tools.interface import ToolConfig, ToolContext, ToolError
from tools.registry import registry
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db

NAMES_AN_OBJECT = re.compile(r"(^|_)(ids?|handle|to)$|\bhandle\b|\bids? of\b|\bname of the agent\b")


def list_fields(schema: dict[str, Any], at: str = "") -> Iterator[str]:
    """Yield the paths of the arguments whose name or description says that they name an object."""
    parts = [schema, *schema.get("anyOf", []), *schema.get("$defs", {}).values()]
    for part in parts:
        for name, field in part.get("properties", {}).items():
            if NAMES_AN_OBJECT.search(name) or NAMES_AN_OBJECT.search(field.get("description", "")):
                yield name
            yield from list_fields(field)


class Foreign:
    """Objects which Robin and Alice have rights to, but which are not for the readers of the chat in which Robin works for Alice.

    Alice is a member of Charlie's workspace, too. Only the workspace of the run tells its objects from those of hers.
    """

    def __init__(self, team: Team) -> None:
        self.team = team
        workspaces.join_workspace(team.alice, team.elsewhere.id, role="editor", invited_by=team.charlie)
        self.private = chats.create_chat(team.alice, team.workspace.id, title="Private", actor_ids=[team.robin.id])
        self.elsewhere = chats.create_chat(
            team.alice, team.elsewhere.id, title="Elsewhere", actor_ids=[team.charlie.id]
        )

    def make_file(self, **where: Any) -> File:
        return FileFactory.create(uploaded_by=self.team.alice, text="secret", kind=FileKind.TEXT, thumbnail="", **where)

    def list_files(self) -> list[str]:
        of_workspace = self.make_file(workspace_id=self.team.elsewhere.id)
        return [
            str(file.id)
            for file in (self.make_file(chat=self.private), self.make_file(chat=self.elsewhere), of_workspace)
        ]

    def list_pages(self) -> list[str]:
        return [str(self.make_file(workspace_id=self.team.elsewhere.id).id)]

    def list_chats(self) -> list[str]:
        return [str(self.elsewhere.id)]

    def list_members(self) -> list[str]:
        make_agent(self.team.elsewhere, self.team.charlie, "Stranger", handle="stranger")
        return ["@charlie", "@stranger"]

    def list_notes(self) -> list[str]:
        note = Note.objects.create(
            workspace=self.team.workspace, agent=self.team.robin, chat=self.private, author=self.team.robin, text="A"
        )
        return [str(note.id)]


FIELDS: dict[tuple[str, str], tuple[Callable[[Foreign], list[str]], dict[str, Any], str]] = {
    ("read_file", "file_id"): (Foreign.list_files, {}, "There is no file with this id here."),
    ("read_pages", "page_id"): (Foreign.list_pages, {}, "There is no page with this id here."),
    ("forget", "note_id"): (Foreign.list_notes, {}, "There is no note with this id here."),
    ("send_message", "chat_id"): (Foreign.list_chats, {"text": "Hi"}, "There is no chat with this id here."),
    ("send_message", "to"): (Foreign.list_members, {"text": "Hi"}, "There is no member"),
    ("delegate", "name"): (Foreign.list_members, {"task": "Hi"}, "There is no agent"),
}
"""For each argument: the objects that it must not reach, the other arguments, and how the refusal begins."""
PASSED_ON = {("delegate", "file_ids"), ("agent tool", "file_ids")}
"""Ids that are not read, but passed on to a sub-agent (`find_passable_files`)."""
FILTERS = {("search_history", "author")}
"""Names by which the messages of chats that the run may read are filtered."""


def build_context(team: Team, config: ToolConfig, **fields: Any) -> ToolContext:
    context = ToolContext(
        team.robin,
        team.alice,
        team.chat.id,
        run_id=uuid4(),
        call_id="c",
        config=config,
        workspace_id=team.workspace.id,
        shown_in_chat_id=team.chat.id,
    )
    return replace(context, **fields)


def test_SEC33_every_argument_that_names_an_object_is_listed_here():
    tools = {**registry, "agent tool": AgentTool(Actor(id=uuid4(), name="Public", handle="public"))}
    found = {(name, field) for name, tool in tools.items() for field in list_fields(tool.build_schema())}
    assert found == {*FIELDS, *PASSED_ON, *FILTERS}


@pytest.mark.parametrize(("tool", "field"), FIELDS, ids=[".".join(field) for field in FIELDS])
def test_SEC33_a_tool_reaches_no_object_of_another_workspace_or_for_other_readers(team, tool, field):
    list_foreign, others, refusal = FIELDS[tool, field]
    foreign = list_foreign(Foreign(team))
    before = dict(fingerprint())
    for value in foreign:
        named = registry[tool]
        config = PagesConfig(page_ids=[UUID(value)]) if tool == "read_pages" else ToolConfig()
        arguments = {field: value, **others}
        args = named.parse_arguments(json.dumps(arguments))
        call = partial(named.build_wait, args, config)
        if tool != "delegate":
            call = partial(named.run, build_context(team, config), args)
        with pytest.raises(ToolError) as error:
            call()
        assert str(error.value).startswith(refusal), (value, str(error.value))
    assert dict(fingerprint()) == before


def test_SEC33_a_sub_agent_is_passed_no_file_of_another_chat_or_workspace(team):
    ids = [UUID(id) for id in Foreign(team).list_files()]
    assert find_passable_files(ids, team.chat.id, None) == []


def test_SEC33_a_public_agent_writes_from_one_workspace_into_no_chat_of_another(team):
    """Its publisher has a chat with it and with Alice. Alice uses it in her company, and would approve what it sends."""
    public = publish(team)
    workspaces.join_workspace(team.alice, team.elsewhere.id, role="editor", invited_by=team.charlie)
    lure = add_to_chat(team, public)
    chats.add_participant(team.charlie, lure.id, team.alice.id)
    here = chats.create_chat(team.alice, team.workspace.id, title="Merger", actor_ids=[public.id])
    own = chats.create_chat(team.alice, team.workspace.id, title="Also hers", actor_ids=[public.id])
    tool = registry["send_message"]
    before = dict(fingerprint())
    for chat in (lure, own):
        arguments = tool.parse_arguments(json.dumps({"chat_id": str(chat.id), "text": "The merger is on Friday"}))
        context = build_context(team, ToolConfig(), actor=public, chat_id=here.id, approved_by=team.alice)
        with pytest.raises(ToolError, match="public agent"):
            tool.check_rights(context)
        with pytest.raises(ToolError, match="public agent"):
            tool.run(context, arguments)

    # Not only this tool: agent and person have the right to the chat, and still it is not for a run of another workspace.
    def fetch(id: UUID) -> Chat:
        return get_chat_for(public, id, ChatVerb.POST, on_behalf_of=team.alice)

    context = build_context(team, ToolConfig(), actor=public, chat_id=here.id, approved_by=team.alice)
    assert fetch(lure.id) == lure
    assert get_named_object(context, "chat", str(own.id), fetch) == own
    with pytest.raises(ToolError, match="There is no chat with this id here"):
        get_named_object(context, "chat", str(lure.id), fetch)
    assert Chat.objects.get(pk=lure.pk).version == lure.version + 1  # Alice has joined
    assert dict(fingerprint()) == before
