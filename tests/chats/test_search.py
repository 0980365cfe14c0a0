"""The search of messages by words, in English and Chinese, over REST."""

from datetime import datetime
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from chats.models import Message
from chats.search import split_terms
from common.database import use_custom_plans
from files.services import delete_file, post_file
from llm.tokens import estimate_tokens
from tests.api.client import Api
from tests.factories.files import FileFactory
from tests.people import make_agent
from workspaces.models import Workspace
from workspaces.services import remove_member

pytestmark = pytest.mark.django_db


def post(team, text, *, by=None, chat=None):
    return chats.post_message(by or team.alice, (chat or team.chat).id, text=text, wake="nobody")[0]


def client_of(person):
    api = Api()
    api.client.force_login(person)
    return api


@pytest.fixture
def search(team):
    """Search by REST as Alice. Return the page."""

    def run(query, *, by=None, **parameters):
        more = "".join(f"&{name}={value}" for name, value in parameters.items())
        return client_of(by or team.alice).ok("GET", f"workspaces/{team.workspace.id}/messages?q={quote(query)}{more}")

    return run


@pytest.fixture
def find(search):
    """Search by REST as Alice. Return the texts that are found."""
    return lambda query, **parameters: [hit["text"] for hit in search(query, **parameters)["results"]]


def get_marked(hit):
    """Return the marked parts of a hit's text."""
    return [hit["text"][mark["start"] : mark["end"]] for mark in hit["marks"]]


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
        (
            "用API開發，請看build_2報告",
            ["api", "用api", "API開發", "build", "build_2", "開發 API", "報告"],
            ["pi", "eport"],
        ),
        ("好的👍🏽reviewed 🎉", ["reviewed", "👍 review", "好的"], ["viewed"]),
        ("it's 50% off: don't_miss \\ it", ["50", "don", "s 50 off", "it's"], ["51"]),
    ],
)
def test_a_text_is_found_by_what_it_contains(team, find, text, found, missing):
    post(team, text)
    assert [query for query in found if find(query) != [text]] == []
    assert [query for query in missing if find(query)] == []


@pytest.mark.parametrize(
    "query", ["' & !", "\\", "':*", "!!", "（）", "%00", "%", "_", "__%", "🎉", "\u202e", "{}[](", "…"]
)
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


def test_who_has_lost_access_finds_nothing_more(team):
    for number in range(3):
        post(team, f"tea {number}")
    api, path = client_of(team.bob), f"workspaces/{team.workspace.id}/messages?q=tea&limit=2"
    next_page = api.ok("GET", path)["next"]
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    assert api.ok("GET", path) == api.ok("GET", f"{path}&cursor={next_page}") == {"results": [], "next": None}
    remove_member(team.alice, team.workspace.id, team.bob.id)
    api.refused(404, "not_found", "GET", f"{path}&cursor={next_page}")


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


# --- excerpts and their marks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("The Prices of green tea, priced", "price TEA", ["Price", "tea", "price"]),
        ("用API開發，API用完", "api", ["API", "API"]),
        ("祇園的導遊我問過了", "導遊我", ["導遊我"]),
        ("導遊問過，遊我", "導遊我", ["導遊", "遊我"]),
        ("貓和熊貓", "貓", ["貓", "貓"]),
        ("👍🏽🎉 the tea", "tea", ["tea"]),
        ("訂 ＢＲ１３２ 航班", "br132", ["ＢＲ１３２"]),
        ("a price in enterprice", "price", ["price"]),
        ("50%_off 50", "50% \\", ["50", "50"]),
    ],
)
def test_the_words_of_a_query_are_marked_in_the_excerpt(team, search, text, query, marked):
    post(team, text)
    [hit] = search(query)["results"]
    assert get_marked(hit) == marked


def test_a_hit_has_an_excerpt_that_begins_shortly_before_its_words(team, search):
    post(team, f"{'before it ' * 50}we keep the deposit and the refund {'after it ' * 100}")
    [hit] = search("refund deposit")["results"]
    assert hit["text"].startswith("…before it we keep the deposit and the refund after it")
    assert len(hit["text"]) < 300
    assert get_marked(hit) == ["deposit", "refund"]
    assert (hit["author"], hit["author_id"], hit["is_file"]) == ("Alice", str(team.alice.id), None)


def test_the_excerpt_is_where_most_words_are(team, search):
    post(team, f"The deposit. {'words between them ' * 50} The deposit of the refund.")
    [hit] = search("deposit refund")["results"]
    assert get_marked(hit) == ["deposit", "refund"]


def test_an_excerpt_has_no_signs_of_markdown_but_html_as_it_is_written(team, search):
    post(team, "## Decision\n- **Refund**: see [the _refund_ page](https://x.example/terms) or `refund`")
    post(team, "<b>refund</b> \\ 100%_off 'x' \"y\" 👍🏽")
    hostile, plain = search("refund")["results"]
    assert plain["text"] == "Decision Refund: see the refund page or refund"
    assert get_marked(plain) == ["Refund", "refund", "refund"]
    assert hostile["text"] == "<b>refund</b> \\ 100%_off 'x' \"y\" 👍🏽"
    assert get_marked(hostile) == ["refund"]
    # Words of which all are in the target of a link are shown there.
    [hit] = search("terms")["results"]
    assert hit["text"] == "…](https://x.example/terms) or `refund`"
    assert get_marked(hit) == ["terms"]


def test_a_text_whose_letters_change_their_number_in_lower_case_has_an_excerpt(team, search):
    post(team, f"{'İ…' * 300} the tea")
    [hit] = search("tea")["results"]
    assert len(hit["text"]) < 300


# --- filters --------------------------------------------------------------------------------------------------------


def test_hits_are_filtered_by_author_and_by_kind(team, find):
    post(team, "tea of Alice")
    post(team, "tea of Bob", by=team.bob)
    post(team, "tea of Robin", by=team.robin)
    assert find("tea", author_id=team.bob.id) == ["tea of Bob"]
    assert find("tea", author_id=team.robin.id) == ["tea of Robin"]
    assert find("tea", kind="agent") == ["tea of Robin"]
    assert find("tea", kind="human") == ["tea of Bob", "tea of Alice"]
    assert find("tea", kind="agent", author_id=team.bob.id) == []
    assert find("tea", author_id=team.charlie.id) == []


def test_days_are_those_of_the_time_zone_of_the_workspace(team, find):
    Workspace.objects.filter(pk=team.workspace.pk).update(time_zone="Asia/Taipei")
    for at in ("2026-03-11T15:59:59", "2026-03-11T16:00:00", "2026-03-12T15:59:59", "2026-03-12T16:00:00"):
        message = post(team, f"tea at {at}")
        Message.objects.filter(pk=message.pk).update(created_at=datetime.fromisoformat(f"{at}+00:00"))
    on_the_day = ["tea at 2026-03-12T15:59:59", "tea at 2026-03-11T16:00:00"]
    assert find("tea", starts_on="2026-03-12", ends_on="2026-03-12") == on_the_day
    assert find("tea", starts_on="2026-03-12") == ["tea at 2026-03-12T16:00:00", *on_the_day]
    assert find("tea", ends_on="2026-03-11") == ["tea at 2026-03-11T15:59:59"]
    assert find("tea", starts_on="0001-01-01", ends_on="9999-12-31")
    assert find("tea", starts_on="2026-03-13", ends_on="2026-03-12") == []


def test_files_are_found_by_their_names_until_they_are_deleted(team, search, find):
    file: Any = FileFactory(
        chat=team.chat, workspace=team.workspace, uploaded_by=team.bob, name="秋季prices-2026.pdf", posted_at=None
    )
    post_file(team.bob, file.id)
    post(team, "the prices are attached")
    assert find("price") == ["the prices are attached", "秋季prices-2026.pdf"]
    [hit] = search("price", has_file="true")["results"]
    assert (hit["text"], get_marked(hit), hit["is_file"]) == ("秋季prices-2026.pdf", ["price"], True)
    assert hit["message_id"] == str(file.id)
    assert find("秋季 2026") == ["秋季prices-2026.pdf"]
    delete_file(team.bob, file.id)
    assert find("price") == ["the prices are attached"]
    assert find("price", has_file="true") == []


@pytest.mark.parametrize(
    "parameter",
    [
        "q=" + "x" * 10_000,
        "q=",
        "q=tea&kind=robot",
        "q=tea&starts_on=yesterday",
        "q=tea&has_file=1",
        "q=tea&order=oldest",
        "q=tea&author_id=bob",
        "q=tea&cursor=WyJ4IiwgIngiXQ==",
        "q=tea&order=best&cursor=WyJ4IiwgIngiXQ==",
    ],
)
def test_other_values_are_refused(team, parameter):
    client_of(team.alice).refused(400, "invalid", "GET", f"workspaces/{team.workspace.id}/messages?{parameter}")


# --- order ----------------------------------------------------------------------------------------------------------


def test_the_best_match_is_first_and_pages_are_stable(team, search):
    for text in ("green tea", "tea and something green", "teas and greens", "green tea and some more words"):
        post(team, text)
    first = search("green tea", order="best", limit=2)
    assert [hit["text"] for hit in first["results"]] == ["green tea", "green tea and some more words"]
    post(team, "green tea")  # It is better than those that were read, so it is on no later page.
    second = search("green tea", order="best", limit=2, cursor=first["next"])
    assert [hit["text"] for hit in second["results"]] == ["tea and something green", "teas and greens"]
    assert second["next"] is None


def test_the_newest_of_equal_matches_is_first(team, search):
    for number in range(3):
        post(team, f"tea {number}")
    first = search("tea", order="best", limit=2)
    second = search("tea", order="best", limit=2, cursor=first["next"])
    assert [hit["text"] for hit in first["results"] + second["results"]] == ["tea 2", "tea 1", "tea 0"]


def test_both_orders_take_a_constant_number_of_statements(team, search, django_assert_num_queries):
    post(team, "tea")
    for order in ("newest", "best"):
        filters = {"order": order, "author_id": team.alice.id, "starts_on": "2026-01-01", "kind": "human"}
        with CaptureQueriesContext(connection) as one:
            search("tea", **filters)
        for _ in range(5):
            post(team, "tea")
        with django_assert_num_queries(len(one)):
            assert len(search("tea", **filters)["results"]) > 5
