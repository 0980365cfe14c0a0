"""The tool that searches messages: what it finds, and for whom."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from chats import services as chats
from chats.models import Message
from chats.services.text_sources import TextSources
from common.errors import NotFound
from files.services import post_file
from tests.chats.test_text_sources import add_tool_result
from tests.factories.files import FileFactory
from tests.people import make_agent
from tools.interface import ToolContext, ToolError
from tools.registry import registry
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


@pytest.fixture
def search(team):
    """Search as Robin, who works for Alice in the chat. Return the output."""

    def run(query, *, on_behalf_of=team.alice, chat_id=team.chat.id, **arguments):
        tool = registry["search_history"]
        context = ToolContext(actor=team.robin, on_behalf_of=on_behalf_of, chat_id=chat_id, run_id=uuid4(), call_id="c")
        return tool.run(context, tool.parse_arguments(json.dumps({"query": query, **arguments})))

    return run


@pytest.fixture
def find(search):
    """Return the excerpts that a search finds."""
    return lambda query, **options: [hit.text for hit in search(query, **options).data.messages]


def post(team, text, *, by=None, chat=None):
    return chats.post_message(by or team.alice, (chat or team.chat).id, text=text, wake="nobody")[0]


def test_what_a_sub_agent_has_written_is_not_found(team, find):
    post(team, "The price of green tea")
    hidden = post(team, "The price of green tea is two, says a sub-agent", by=team.robin)
    agent = {"kind": "sub", "name": "robin", "displayName": "Robin", "depth": 1, "path": ["robin"]}
    Message.objects.filter(pk=hidden.pk).update(metadata={"agent": agent})
    assert find("green tea") == ["The price of green tea"]


def test_the_messages_with_all_words_are_found_the_newest_first(team, search):
    first = post(team, "The price of green tea")
    post(team, "The price of coffee")
    second = post(team, "TEA: what is its Price?", by=team.bob)
    output = search("tea  price")
    assert output.data.query == "tea price"
    assert [(hit.message_id, hit.author, hit.chat_id, hit.chat_title) for hit in output.data.messages] == [
        (second.id, "Bob", team.chat.id, "Room"),
        (first.id, "Alice", team.chat.id, "Room"),
    ]
    lines = output.text.splitlines()
    fence = lines[2].strip("- ")
    assert lines[0].startswith(f"Between the two lines with “{fence}” is what people and agents wrote.")
    assert lines[3:-1] == [
        f"1. Bob, {second.created_at:%Y-%m-%d %H:%M} UTC, in “Room”, id {second.id}",
        "   TEA: what is its Price?",
        f"2. Alice, {first.created_at:%Y-%m-%d %H:%M} UTC, in “Room”, id {first.id}",
        "   The price of green tea",
    ]
    assert lines[-1] == f"--- end of {fence} ---"


def test_chinese_is_found(team, find):
    post(team, "茶葉的價格是三元")
    post(team, "咖啡的價格是五元", by=team.robin)
    assert find("價格") == ["咖啡的價格是五元", "茶葉的價格是三元"]
    assert find("茶葉 價格") == ["茶葉的價格是三元"]
    assert find("价格") == []


def test_a_long_message_is_shown_around_the_match(team, find):
    post(team, "a" * 1000 + " the\nneedle " + "b" * 1000)
    [text] = find("needle")
    assert text == f"…{'a' * 195} the needle {'b' * 199}…"


def test_messages_are_filtered_by_author_day_and_kind(team, find, search):
    post(team, "tea of Alice")
    old = post(team, "tea of Bob", by=team.bob)
    Message.objects.filter(pk=old.pk).update(created_at=datetime(2026, 3, 12, 23, tzinfo=UTC))
    file: Any = FileFactory(chat=team.chat, uploaded_by=team.bob, name="tea.pdf", posted_at=None)
    post_file(team.bob, file.id)
    assert find("tea", author="@BOB") == find("tea", author="bob") == ["tea.pdf", "tea of Bob"]
    assert find("tea", author="Alice") == ["tea of Alice"]
    assert find("tea", author="Charlie") == find("tea", author="%") == []
    assert find("tea", starts_on="2026-03-12", ends_on="2026-03-12") == ["tea of Bob"]
    output = search("tea", only_files=True)
    assert [hit.message_id for hit in output.data.messages] == [file.id]
    assert f"id {file.id}\n   file tea.pdf" in output.text
    with pytest.raises(ToolError):
        find("tea", starts_on="yesterday")


def test_the_best_match_is_first_if_it_is_asked_for(team, find):
    post(team, "tea")
    post(team, "teas")
    assert find("tea") == ["teas", "tea"]
    assert find("tea", order="best") == ["tea", "teas"]


def test_only_words_are_searched(team, find, search):
    post(team, "about 1000 people")
    assert find("100%") == ["about 1000 people"]
    assert search("%100 cats").text == "No message contains “%100 cats”."


def test_only_so_many_messages_are_returned(team, find):
    for number in range(21):
        post(team, f"tea {number}")
    assert find("tea", limit=2) == ["tea 20", "tea 19"]
    assert len(find("tea")) == 10
    with pytest.raises(ToolError):
        find("tea", limit=21)


@pytest.fixture
def other_chats(team):
    """Chats of Alice with a message about tea each, by their titles."""

    def open_chat(title, *actors):
        chat = chats.create_chat(team.alice, team.workspace.id, title=title, actor_ids=[actor.id for actor in actors])
        post(team, f"tea in {title}", chat=chat)
        return chat

    post(team, "tea in Room")
    return {
        "all": open_chat("all", team.bob, team.robin),
        "without Bob": open_chat("without Bob", team.robin),
        "without Robin": open_chat("without Robin", team.bob),
        "Bob left": open_chat("Bob left", team.bob, team.robin),
    }


def test_other_chats_are_searched_only_if_everybody_of_this_chat_is_in_them(team, other_chats, find):
    chats.remove_participant(team.alice, other_chats["Bob left"].id, team.bob.id)
    assert find("tea") == ["tea in Room"]
    assert find("tea", scope="my_chats") == ["tea in all", "tea in Room"]
    private = chats.create_chat(team.alice, team.workspace.id, title="private", actor_ids=[team.robin.id])
    assert find("tea", scope="my_chats", chat_id=private.id) == [
        "tea in Bob left",
        "tea in without Bob",
        "tea in all",
        "tea in Room",
    ]


def test_an_agent_of_this_chat_must_be_in_the_other_chat_too(team, other_chats, find):
    wren = make_agent(team.workspace, team.alice, "Wren")
    chats.add_participant(team.alice, team.chat.id, wren.id)
    assert find("tea", scope="my_chats") == ["tea in Room"]
    chats.add_participant(team.alice, other_chats["all"].id, wren.id)
    assert find("tea", scope="my_chats") == ["tea in all", "tea in Room"]


def test_MEM1_editors_read_a_chat_between_agents_so_only_what_all_of_them_may_read_is_found_there(team, find):
    wren = make_agent(team.workspace, team.alice, "Wren")
    pair, _ = chats.open_direct_chat(team.alice, team.workspace.id, wren.id, agent_id=team.robin.id)
    of_bob = chats.create_chat(team.bob, team.workspace.id, title="Bob's", actor_ids=[team.robin.id, wren.id])
    post(team, "tea in Bob's", chat=of_bob, by=team.bob)
    post(team, "tea between agents", chat=pair, by=wren)
    assert find("tea", scope="my_chats", chat_id=pair.id, on_behalf_of=team.bob) == ["tea between agents"]
    chats.add_participant(team.bob, of_bob.id, team.alice.id)
    assert find("tea", scope="my_chats", chat_id=pair.id, on_behalf_of=team.bob) == [
        "tea between agents",
        "tea in Bob's",
    ]
    # Alice, the only editor, reads the chat between agents; Bob does not.
    private = chats.create_chat(team.alice, team.workspace.id, title="private", actor_ids=[team.robin.id])
    assert find("tea", scope="my_chats", chat_id=private.id) == ["tea between agents", "tea in Bob's"]
    assert find("tea", scope="my_chats", chat_id=of_bob.id, on_behalf_of=team.bob) == ["tea in Bob's"]


def test_nothing_is_searched_for_a_person_who_has_left(team, find):
    post(team, "tea")
    assert find("tea", on_behalf_of=team.bob) == ["tea"]
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    workspaces.leave_workspace(team.bob, team.workspace.id)
    for person in (team.bob, team.charlie):
        for scope in ("chat", "my_chats"):
            with pytest.raises(NotFound):
                find("tea", on_behalf_of=person, scope=scope)


def test_outside_a_chat_there_are_no_messages(search):
    with pytest.raises(ToolError, match="no messages here"):
        search("tea", chat_id=None)


def test_blank_words_are_refused(search):
    with pytest.raises(ToolError, match="no word"):
        search("  ")


def test_SEC9_an_address_that_an_agent_wrote_and_found_again_is_not_opened(team):
    url = "https://evil.example/?q=secret"
    add_tool_result(team, f"1. Robin: {url}", "ok", name="search_history")
    assert not TextSources(team.chat.id, "").is_url_allowed(url)
    add_tool_result(team, f"[next]({url})", "ok")
    assert TextSources(team.chat.id, "").is_url_allowed(url)
