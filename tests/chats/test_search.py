"""The search of messages by words, in English and Chinese, over REST."""

from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from chats.models import Message
from chats.search import split_terms
from common.database import use_custom_plans
from llm.tokens import estimate_tokens
from tests.api.client import Api
from tests.people import make_agent

pytestmark = pytest.mark.django_db


def post(team, text, *, by=None, chat=None):
    return chats.post_message(by or team.alice, (chat or team.chat).id, text=text, wake="nobody")[0]


def client_of(person):
    api = Api()
    api.client.force_login(person)
    return api


@pytest.fixture
def find(team):
    """Search by REST as Alice. Return the texts that are found."""

    def run(query, *, by=None, **parameters):
        api = client_of(by or team.alice)
        more = "".join(f"&{name}={value}" for name, value in parameters.items())
        answer = api("GET", f"workspaces/{team.workspace.id}/messages?q={quote(query)}{more}")
        assert answer.status_code == 200, answer.content
        return [hit["text"] for hit in answer.json()["results"]]

    return run


def test_words_are_found_by_their_beginnings_without_regard_to_case(team, find):
    post(team, "The Prices of green tea")
    post(team, "Pricing is another matter")
    assert find("price TEA") == ["The Prices of green tea"]
    assert find("pric") == ["Pricing is another matter", "The Prices of green tea"]
    assert find("rice") == []


@pytest.mark.parametrize(
    ("text", "found", "missing"),
    [
        ("祇園的導遊我問過了，21 日只有英文場。", ["導遊", "英文場", "21 日", "導", "場", "２１"], ["英場", "日本"]),
        ("東京タワーへ行く", ["タワー", "東京"], ["大阪"]),
        ("내일 서울에서 만나요", ["서울", "만나"], ["부산"]),
        ("訂 BR132 航班，Äpfel", ["br132 航班", "äpf", "ＢＲ132"], ["br133"]),
        ("it's 50% off: don't_miss \\ it", ["50", "don", "s 50 off", "it's"], ["51"]),
    ],
)
def test_a_text_is_found_by_what_it_contains(team, find, text, found, missing):
    post(team, text)
    assert [query for query in found if find(query) != [text]] == []
    assert [query for query in missing if find(query)] == []


@pytest.mark.parametrize("query", ["' & !", "\\", "':*", "!!", "（）", "%00"])
def test_a_query_without_words_finds_nothing(team, find, query):
    post(team, "anything")
    assert find(query) == []


def test_only_the_chats_of_the_reader_are_searched_the_newest_message_first(team, find):
    private = chats.create_chat(team.alice, team.workspace.id, title="Private", actor_ids=[])
    post(team, "tea one")
    post(team, "tea two", chat=private)
    post(team, "tea three", by=team.robin)
    assert find("tea") == ["tea three", "tea two", "tea one"]
    assert find("tea", by=team.bob) == ["tea three", "tea one"]
    assert find("tea", chat_id=private.id) == ["tea two"]
    answer = client_of(team.bob)("GET", f"workspaces/{team.workspace.id}/messages?q=tea&chat_id={private.id}")
    assert answer.status_code == 404


def test_a_page_names_the_next_one(team):
    for number in range(3):
        post(team, f"tea {number}")
    api, path = client_of(team.alice), f"workspaces/{team.workspace.id}/messages?q=tea&limit=2"
    first = api("GET", path).json()
    second = api("GET", f"{path}&cursor={first['next']}").json()
    assert [hit["text"] for hit in first["results"] + second["results"]] == ["tea 2", "tea 1", "tea 0"]
    assert second["next"] is None


def test_what_is_no_text_of_a_conversation_is_not_indexed(team):
    hidden = post(team, "tea")
    Message.objects.filter(pk=hidden.pk).update(metadata={"agent": {}})
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM chats_message WHERE words @@ 'tea'")
        assert cursor.fetchone() == (0,)


def test_a_text_of_the_greatest_length_is_stored_and_its_beginning_found(team, find):
    # Without punctuation: a pair of characters for each, all different ones, would be 1.2 MB.
    text = "起點" + "".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(199_998))
    post(team, text)
    assert len(find("起點")) == 1


def test_the_terms_of_a_query_are_limited_and_each_is_searched_once():
    assert split_terms("中文字 中文") == ["'中文'", "'文字'"]
    assert split_terms("貓") == ["'貓':*"]
    assert len(split_terms(" ".join(f"word{number}" for number in range(100)))) == 32


def test_a_message_has_an_estimate_of_its_tokens(team):
    message = post(team, "你好 hello world")
    stored = Message.objects.get(pk=message.pk)
    assert stored.tokens == estimate_tokens("你好 hello world") == 5


# --- chats that the reader is not in, and chats without a title -----------------------------------------------------


def list_hits(person, workspace, query):
    hits = client_of(person).ok("GET", f"workspaces/{workspace.id}/messages?q={query}")["results"]
    return [(hit["text"], hit["chat_title"]) for hit in hits]


def test_editors_find_messages_of_chats_between_agents_and_others_do_not(team):
    quill = make_agent(team.workspace, team.alice, "Quill")
    chat, _ = chats.open_direct_chat(team.robin, team.workspace.id, quill.id)
    post(team, "the ferry leaves at noon", by=team.robin, chat=chat)
    of_chat = f"workspaces/{team.workspace.id}/messages?q=ferry&chat_id={chat.id}"
    found = [("the ferry leaves at noon", "Robin · Quill")]
    assert list_hits(team.alice, team.workspace, "ferry") == found
    assert len(client_of(team.alice).ok("GET", of_chat)["results"]) == 1
    assert list_hits(team.bob, team.workspace, "ferry") == []
    client_of(team.bob).refused(404, "not_found", "GET", of_chat)
    client_of(team.charlie).refused(404, "not_found", "GET", f"workspaces/{team.workspace.id}/messages?q=ferry")
    client_of(team.charlie).refused(404, "not_found", "GET", of_chat)
    in_elsewhere = f"workspaces/{team.elsewhere.id}/messages?q=ferry&chat_id={chat.id}"
    client_of(team.charlie).refused(404, "not_found", "GET", in_elsewhere)
    client_of(team.alice).refused(404, "not_found", "GET", in_elsewhere)


def test_hits_in_a_chat_without_a_title_name_the_others(team, django_assert_num_queries):
    chat, _ = chats.open_direct_chat(team.alice, team.workspace.id, team.bob.id)
    post(team, "the ferry is late", chat=chat)
    assert list_hits(team.alice, team.workspace, "ferry") == [("the ferry is late", "Bob")]
    assert list_hits(team.bob, team.workspace, "ferry") == [("the ferry is late", "Alice")]
    with CaptureQueriesContext(connection) as one:
        list_hits(team.bob, team.workspace, "ferry")
    other, _ = chats.open_direct_chat(team.robin, team.workspace.id, team.bob.id)
    for number in range(5):
        post(team, f"the ferry {number}", by=team.robin, chat=other)
    with django_assert_num_queries(len(one)):
        assert len(list_hits(team.bob, team.workspace, "ferry")) == 6


def test_a_search_is_planned_for_its_words(team, find):
    """PostgreSQL plans a statement that was executed often once for all values, which reads all messages with a frequent word."""

    def read_plan_cache_mode():
        with connection.cursor() as cursor:
            cursor.execute("SHOW plan_cache_mode")
            return cursor.fetchone()[0]

    with use_custom_plans():
        assert read_plan_cache_mode() == "force_custom_plan"
    with CaptureQueriesContext(connection) as captured:
        find("tea")
    texts = [query["sql"] for query in captured]
    [position] = [number for number, sql in enumerate(texts) if "force_custom_plan" in sql]
    assert any('"words" @@' in sql for sql in texts[position:])
    assert not any('"words" @@' in sql for sql in texts[:position])
