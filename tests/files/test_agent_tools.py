"""The tools of agents that list, read, search and write files."""

import json
from typing import Any
from uuid import uuid4

import pytest

from chats import services as chats
from chats.models import Chat, ChatActor, Message
from common.clock import now
from common.errors import AppError, Code, NotFound
from events.payloads import FileKind, FileState
from files import services as files
from files.agent_tools import CONTEXT_CHARACTERS, MAX_LISTED, MAX_READ_CHARACTERS
from files.models import File
from runs.models import Run
from tests.api.test_rights import fingerprint
from tests.factories.files import FileFactory
from tests.files import samples
from tests.publishing.publications import add_to_chat, publish
from tools.interface import ToolContext, ToolError, ToolOutput
from tools.registry import registry

pytestmark = pytest.mark.django_db


@pytest.fixture
def call(call_tool):
    """Call a tool, and return the text that the model reads."""

    def run(name, /, **arguments):
        output = call_tool(name, **arguments)
        return output.text if isinstance(output, ToolOutput) else output

    return run


@pytest.fixture
def call_tool(team):
    """Call a tool as Robin, who works for Bob in the chat."""

    def run(name, /, *, actor=team.robin, chat_id=team.chat.id, on_behalf_of=team.bob, **arguments):
        tool = registry[name]
        context = ToolContext(
            actor=actor,
            on_behalf_of=on_behalf_of,
            chat_id=chat_id,
            run_id=uuid4(),
            call_id="c",
            workspace_id=Chat.objects.get(pk=chat_id or team.chat.id).workspace_id,
            shown_in_chat_id=chat_id,
        )
        return tool.run(context, tool.parse_arguments(json.dumps(arguments)))

    return run


@pytest.fixture
def text_file(team):
    """Share a text file in the chat, which is already read."""

    def make(text="hello", **fields):
        chat = None if "workspace_id" in fields else team.chat
        defaults = {"name": "notes.txt", "kind": FileKind.TEXT, "thumbnail": "", "width": None, "height": None}
        return FileFactory.create(**{"chat": chat, "uploaded_by": team.bob, "text": text, **defaults, **fields})

    return make


@pytest.fixture
def hidden_files(team, text_file):
    """Files that Robin's chat does not have: of another chat of Robin and Bob, not posted, deleted, of another workspace."""
    other = chats.create_chat(team.bob, team.workspace.id, title="Other", actor_ids=[team.robin.id])
    deleted = text_file("the secret", name="deleted.txt")
    files.delete_file(team.bob, deleted.id)
    return [
        text_file("the secret", name="other chat.txt", chat=other),
        text_file("the secret", name="not posted.txt", posted_at=None),
        deleted,
        text_file("the secret", name="elsewhere.txt", workspace_id=team.elsewhere.id, uploaded_by=team.charlie),
    ]


@pytest.mark.usefixtures("hidden_files")
def test_the_files_of_the_chat_and_of_the_workspace_are_listed(team, text_file, call):
    of_workspace = text_file(workspace_id=team.workspace.id, name="handbook.txt")
    of_chat = text_file(name="發票.pdf", kind=FileKind.PDF, pages=3)
    assert call("list_files").splitlines() == [
        f"{of_chat.id} · 發票.pdf · PDF, 5 bytes, 3 pages · this chat",
        f"{of_workspace.id} · handbook.txt · text, 5 bytes · the workspace",
    ]
    assert call("list_files", name_contains="發票") == f"{of_chat.id} · 發票.pdf · PDF, 5 bytes, 3 pages · this chat"
    assert call("list_files", name_contains="HANDBOOK").startswith(str(of_workspace.id))
    assert call("list_files", name_contains="%") == "There are no such files."


def test_a_long_list_says_that_there_are_more(text_file, call):
    for _ in range(MAX_LISTED + 1):
        text_file()
    lines = call("list_files").splitlines()
    assert (len(lines), lines[-1]) == (MAX_LISTED + 1, "There are more. Name a part of the file's name.")


def test_a_file_is_read(team, text_file, call):
    assert (
        call("read_file", file_id=str(text_file("你好，世界").id))
        == "Characters 0 to 5 of 5 of “notes.txt”:\n你好，世界"
    )
    of_workspace = text_file("for all", workspace_id=team.workspace.id)
    assert call("read_file", file_id=str(of_workspace.id)).endswith("\nfor all")


def test_an_agent_is_told_in_which_encoding_a_text_was_saved(text_file, call):
    file = text_file("姓名", encoding="Big5")
    assert call("read_file", file_id=str(file.id)) == "Characters 0 to 2 of 2 of “notes.txt” (Big5):\n姓名"


def test_a_long_text_is_read_in_parts(text_file, call):
    text = "".join(f"第{number}行\n" for number in range(6000))
    file = text_file(text, text_is_cut=True)
    read = ""
    for start in range(0, len(text), MAX_READ_CHARACTERS):
        head, part = call("read_file", file_id=str(file.id), start=start).split("\n", 1)
        end = min(len(text), start + MAX_READ_CHARACTERS)
        assert head == f"Characters {start:,} to {end:,} of {len(text):,} of “notes.txt”:"
        is_last = end == len(text)
        note = (
            "[The file has more text than can be read.]"
            if is_last
            else f"[The text goes on. Read on with start={end}.]"
        )
        assert part.endswith(f"\n{note}")
        read += part.removesuffix(f"\n{note}")
    assert read == text
    with pytest.raises(ToolError, match=f"only {len(text):,} characters"):
        call("read_file", file_id=str(file.id), start=len(text))


def test_files_of_other_places_are_not_read(hidden_files, call):
    before = fingerprint()
    for file in hidden_files:
        with pytest.raises(ToolError) as refusal:
            call("read_file", file_id=str(file.id))
        assert "secret" not in str(refusal.value)
    assert fingerprint() == before


def test_SEC33_a_public_agent_has_only_the_files_of_its_chat(team, text_file, call):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    of_chat = text_file("the tides", name="tides.txt", chat=chat, uploaded_by=team.charlie)
    hidden = text_file("the tides are secret", name="budget.txt", workspace_id=team.elsewhere.id)
    public = {"actor": copy, "chat_id": chat.id, "on_behalf_of": team.charlie}
    assert call("list_files", **public) == f"{of_chat.id} · tides.txt · text, 5 bytes · this chat"
    found = call("search_files", text="tides", **public)
    assert str(of_chat.id) in found
    assert "secret" not in found
    assert str(hidden.id) not in found
    assert call("read_file", file_id=str(of_chat.id), **public).endswith("\nthe tides")
    with pytest.raises(ToolError, match="no file with this id here"):
        call("read_file", file_id=str(hidden.id), **public)


def test_a_file_is_not_read_for_a_person_who_has_left(team, text_file, call):
    file = text_file()
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    with pytest.raises(ToolError, match="no file with this id here"):
        call("read_file", file_id=str(file.id))
    assert call("read_file", file_id=str(file.id), on_behalf_of=team.alice).endswith("\nhello")


@pytest.mark.parametrize(
    ("fields", "message", "is_final"),
    [
        ({"state": FileState.WAITING}, "still being read", False),
        ({"state": FileState.FAILED}, "cannot be read", True),
        (
            {"state": FileState.FAILED, "no_text_reason": "password"},
            "needs a password. Ask for a copy without one",
            True,
        ),
        ({"state": FileState.FAILED, "no_text_reason": "too_large"}, "is too large", True),
        ({"state": FileState.FAILED, "no_text_reason": "damaged"}, "is damaged", True),
        ({"state": FileState.FAILED, "no_text_reason": "unavailable"}, "not be read in time", True),
        ({"text": "", "pages": 1, "no_text_reason": "scanned"}, "^1 of 1 pages has no text; .* probably scanned", True),
        ({"text": "", "pages": 3, "no_text_reason": "scanned"}, "^3 of 3 pages have no text", True),
        ({"text": "", "no_text_reason": "format"}, "Ask for it as PDF, DOCX", True),
        ({"text": "", "kind": FileKind.IMAGE}, "no text in this file; its kind is: image", True),
    ],
)
def test_a_file_without_text_says_why(text_file, call, fields, message, is_final):
    with pytest.raises(ToolError, match=message) as error:
        call("read_file", file_id=str(text_file(**fields).id))
    assert error.value.is_final is is_final


def test_what_is_no_id_is_refused(call):
    with pytest.raises(ToolError, match="no file with this id here"):
        call("read_file", file_id="notes.txt")
    with pytest.raises(ToolError, match="no file with this id here"):
        call("read_file", file_id=str(uuid4()))


@pytest.mark.usefixtures("hidden_files")
def test_texts_are_searched_without_regard_to_case(text_file, call):
    text_file("nothing of interest")
    file = text_file("a" * 1000 + "\nThe  SECRET of the tea\n" + "b" * 1000)
    first, second = call("search_files", text="secret of").splitlines()
    assert first.startswith(f"{file.id} · notes.txt")
    before, after = "a" * (CONTEXT_CHARACTERS - 6), "b" * (CONTEXT_CHARACTERS - 9)
    assert second == f"  at character 1,006: …{before} The SECRET of the tea {after}…"
    assert call("search_files", text="100%") == "No file contains this."


def test_chinese_is_searched(team, text_file, call):
    text_file("茶葉的價格是三元", workspace_id=team.workspace.id)
    assert call("search_files", text="價格").splitlines()[1] == "  at character 3: …茶葉的價格是三元…"
    assert call("search_files", text="价格") == "No file contains this."


def test_the_end_of_a_long_text_is_searched(text_file, call):
    text_file("x" * 500_000 + "needle")
    assert "at character 500,000" in call("search_files", text="needle")


def test_a_file_is_written_and_shown_without_waking_an_agent(team, call):
    chats.set_response(team.alice, team.chat.id, team.robin.id, response="always")
    answer = call("write_file", name="../報告.md", text="# 報告\n")
    file = File.objects.get()
    assert answer == f"The file 報告.md is in the chat now. Its id is {file.id}."
    assert (file.uploaded_by, file.chat, file.kind, file.content_type) == (
        team.robin,
        team.chat,
        FileKind.TEXT,
        "text/markdown",
    )
    with file.content.open("rb") as content:
        assert content.read().decode() == "# 報告\n"
    message = Message.objects.get(pk=file.pk)
    assert (message.author, message.type, message.payload["name"]) == (team.robin, "FILE_MESSAGE", "報告.md")
    assert not Run.objects.exists()
    files.read_contents(file.id)
    assert call("read_file", file_id=str(file.id)).endswith("\n# 報告\n")


def test_a_file_is_not_written_where_the_person_may_not_post(team, call, settings):
    other = chats.create_chat(team.alice, team.workspace.id, title="Alice's", actor_ids=[team.robin.id])
    before = fingerprint()
    with pytest.raises(NotFound):
        call("write_file", chat_id=other.id, name="a.txt", text="hi")
    settings.MAX_WORKSPACE_FILE_BYTES = 1
    with pytest.raises(AppError) as refusal:
        call("write_file", name="a.txt", text="hi")
    assert refusal.value.code == Code.QUOTA_REACHED
    assert fingerprint() == before


def test_BRD19_a_task_writes_files_with_the_rights_of_its_person(team):
    task: dict[str, Any] = {"name": "a.txt", "text": "hi", "run_id": uuid4(), "task_metadata": {"call_id": "c"}}
    before = fingerprint()
    for person in (team.charlie, None):
        with pytest.raises(AppError):
            files.write_file(team.robin, team.chat.id, on_behalf_of=person, **task)
    assert fingerprint() == before
    ended = ChatActor.objects.filter(chat=team.chat, actor=team.robin).update(ended_at=now())
    assert ended
    file = files.write_file(team.robin, team.chat.id, on_behalf_of=team.bob, **task)
    message = Message.objects.get(pk=file.pk)
    assert (message.author, message.metadata, file.posted_at) == (team.robin, {"call_id": "c"}, message.created_at)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("list_files", {}), ("search_files", {"text": "a"}), ("write_file", {"name": "a.txt", "text": "a"})],
)
def test_outside_a_chat_there_are_no_files(call, name, arguments):
    with pytest.raises(ToolError) as error:
        call(name, chat_id=None, **arguments)
    assert error.value.is_final
    assert not File.objects.exists()


def test_a_picture_that_is_read_is_listed_with_its_size(upload, team, call):
    file = upload(samples.make_image(), "picture.png")
    files.post_file(team.bob, file.id)
    files.read_contents(file.id)
    assert "900×600 pixels · this chat" in call("list_files")


@pytest.mark.parametrize(("writer", "quotes_agents"), [("bob", False), ("robin", True), (None, True)])
def test_SEC9_the_text_of_a_file_that_an_agent_may_have_written_counts_as_a_text_of_agents(
    team, text_file, call_tool, writer, quotes_agents
):
    file = text_file("see https://evil.example/?q=secret", uploaded_by=team[writer] if writer else None)
    text_file("unlike it")
    for output in (call_tool("read_file", file_id=str(file.id)), call_tool("search_files", text="secret")):
        assert "https://evil.example/?q=secret" in output.text
        assert output.quotes_agents is quotes_agents
