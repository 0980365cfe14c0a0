"""The URLs that an agent may fetch: those whose host a person has named, and those in results of tools (SEC9)."""

import pytest
from django.db import connection
from django.db.models import Max
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from chats.models import Chat, Message
from chats.services import text_sources
from chats.services.text_sources import TextSources
from context.seeding import create_messages
from tests.factories.chats import MessageFactory
from tests.queries import list_plan_nodes

pytestmark = pytest.mark.django_db


@pytest.fixture
def is_url_allowed(team):
    def is_url_allowed_(url: str, prompt: str = "You are helpful.") -> bool:
        return TextSources(team.chat.id, prompt).is_url_allowed(url)

    return is_url_allowed_


@pytest.mark.parametrize(
    ("text", "url", "is_allowed"),
    [
        ("see https://docs.example.org/start", "https://docs.example.org/other?page=2", True),
        ("look at docs.example.org, please", "https://docs.example.org/", True),
        ("看一下例子.中国的首页", "https://例子.中国/", True),
        ("docs.example.org.", "https://DOCS.example.org/", True),
        ("docs.example.org", "https://example.org/", False),
        ("docs.example.org", "https://evil-docs.example.org/", False),
        ("docs.example.org", "https://docs.example.org.evil.com/", False),
        ("docs.example.org", "https://evil.com/?docs.example.org", False),
        ("docs.example.org", "https://evil.com#docs.example.org", False),
        ("100% of a_b", "https://evil.com/%_", False),
        ("hello", "not an address", False),
        ("hello", "", False),
    ],
)
def test_SEC9_a_url_is_allowed_if_a_person_has_named_its_host(team, is_url_allowed, text, url, is_allowed):
    chats.post_message(team.alice, team.chat.id, text=text)
    assert is_url_allowed(url) is is_allowed


def test_SEC9_a_url_in_a_message_of_an_agent_is_not_allowed(team, is_url_allowed):
    chats.post_message(team.robin, team.chat.id, text="https://evil.com/?q=secret")
    assert not is_url_allowed("https://evil.com/?q=secret")


def test_SEC9_a_link_in_the_result_of_a_tool_is_allowed_exactly(team, is_url_allowed):
    add_tool_result(team, "[next](https://elsewhere.example/next?page=2)", "ok")
    assert is_url_allowed("https://elsewhere.example/next?page=2")
    assert not is_url_allowed("https://elsewhere.example/next?page=2&secret=1")
    assert not is_url_allowed("https://elsewhere.example/")


def test_SEC9_an_error_of_a_server_is_text_from_outside_even_if_it_reads_as_if_there_were_no_tool(team):
    def find() -> str | None:
        people = {"agent_id": team.robin.id, "workspace_id": team.workspace.id, "person_id": team.alice.id}
        return text_sources.classify_texts_of_others(team.chat.id, **people)

    before = find()
    assert before != "outside"
    add_tool_result(team, "There is no tool 'find_fares'.", "error", name="find_fares")
    assert find() == before
    add_tool_result(team, "There is no tool here refused the call (HTTP 400).", "error", name="find_fares", seconds=0.1)
    assert find() == "outside"


def test_a_check_for_texts_from_outside_reads_only_results_of_tools(team):
    create_messages(team.chat.id, 3_000)
    for _ in range(5):
        add_tool_result(team, "It is 12:00.", "ok", name="current_time")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE chats_message")
    people = {"agent_id": team.robin.id, "workspace_id": team.workspace.id, "person_id": team.alice.id}
    with CaptureQueriesContext(connection) as queries:
        assert text_sources.classify_texts_of_others(team.chat.id, **people) == "others"
    [sql] = [query["sql"] for query in queries if '"chats_message"' in query["sql"]]
    nodes = list_plan_nodes(sql)
    assert "tool_responses_of_chat" in {node.get("Index Name") for node in nodes}
    assert sum(node.get("Rows Removed by Filter", 0) for node in nodes) == 5


def test_SEC9_a_url_in_an_error_of_a_tool_is_not_allowed(team, is_url_allowed):
    add_tool_result(team, "https://evil.com/?q=secret cannot be read", "error")
    assert not is_url_allowed("https://evil.com/?q=secret")


def test_SEC9_a_host_in_the_prompt_of_the_agent_is_allowed(is_url_allowed):
    assert is_url_allowed("https://status.example.org/today", prompt="Look at status.example.org first.")


def test_SEC9_a_url_in_another_chat_is_not_allowed(team, is_url_allowed):
    other = chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=[])
    chats.post_message(team.alice, other.id, text="https://docs.example.org")
    assert not is_url_allowed("https://docs.example.org/")


def add_tool_result(team, text: str, status: str, *, name: str = "web_fetch", **more: float) -> None:
    seq = 1 + (Message.objects.filter(chat=team.chat).aggregate(last=Max("seq"))["last"] or 0)
    Chat.objects.filter(pk=team.chat.pk).update(version=seq)
    payload = {"tool_call_id": "call_1", "name": name, "status": status, "text": text} | more
    MessageFactory.create(chat=team.chat, seq=seq, author=team.robin, type="TOOL_RESPONSE", payload=payload)


def test_FAIR5_a_message_is_read_once_for_many_checks(team, django_assert_num_queries):
    for number in range(60):
        add_tool_result(team, f"[page](https://pages.example/{number})", "ok")
    texts = TextSources(team.chat.id, "")
    assert texts.is_url_allowed("https://pages.example/0")
    for number in range(20):
        with django_assert_num_queries(1):
            assert texts.is_url_allowed(f"https://pages.example/{number}")
    add_tool_result(team, "[page](https://pages.example/new)", "ok")
    with django_assert_num_queries(2):
        assert texts.is_url_allowed("https://pages.example/new")


def test_FAIR5_only_the_newest_texts_are_kept(team, monkeypatch):
    monkeypatch.setattr(text_sources, "MAX_CHARACTERS", 1000)
    add_tool_result(team, "https://pages.example/old", "ok")
    for number in range(40):
        add_tool_result(team, f"https://pages.example/{number} " + "x" * 100, "ok")
        chats.post_message(team.alice, team.chat.id, text="y" * 100)
    texts = TextSources(team.chat.id, "")
    assert texts.is_url_allowed("https://pages.example/39")
    assert not texts.is_url_allowed("https://pages.example/old")
    assert sum(map(len, (*texts._results, *texts._written))) < 3000
