"""Pages of a chat's log: in both directions, around a message, and bounded by bytes."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from chats.models import Message
from chats.prepared_queries import MAX_PREVIEW_CHARACTERS
from common.ids import new_id
from realtime.catchup import MAX_MISSED_BYTES, catch_up
from tests.api.test_rights import client_for

LONG = 200_000
pytestmark = pytest.mark.django_db


def post(team, text):
    return chats.post_message(team.alice, team.chat.id, text=text, wake="nobody")[0]


@pytest.fixture
def log(team):
    """The ids of the whole log in order, after thirty messages."""
    for number in range(30):
        post(team, str(number))
    return [str(id) for id in Message.objects.filter(chat=team.chat).order_by("seq").values_list("pk", flat=True)]


@pytest.fixture
def read(team):
    """Return a function that requests a page of messages as Alice."""
    alice = client_for(team, "alice")
    return lambda query: alice.ok("GET", f"chats/{team.chat.pk}/messages?{query}")


def ids(page):
    return [row["id"] for row in page["results"]]


def test_a_page_around_a_message_has_it_in_the_middle(log, read):
    page = read(f"around={log[15]}&limit=5")
    assert ids(page) == log[13:18]
    assert (page["before"], page["after"]) == (page["results"][0]["seq"], page["results"][-1]["seq"])


@pytest.mark.parametrize("at", [0, -1])
def test_a_page_around_the_first_or_last_message_ends_where_the_log_ends(log, read, at):
    page = read(f"around={log[at]}&limit=9")
    assert log[at] in ids(page)
    assert (page["before"] is None, page["after"] is None) == (at == 0, at == -1)
    assert ids(page) == (log[:5] if at == 0 else log[-9:])


@pytest.mark.parametrize("limit", [1, 2, 7, 200])
def test_pages_in_both_directions_from_a_message_are_the_whole_log_each_message_once(log, read, limit):
    middle = read(f"around={log[17]}&limit={limit}")
    found, older, newer = ids(middle), middle["before"], middle["after"]
    while older is not None:
        page = read(f"before={older}&limit={limit}")
        found, older = [*ids(page), *found], page["before"]
    while newer is not None:
        page = read(f"after={newer}&limit={limit}")
        found, newer = [*found, *ids(page)], page["after"]
    assert found == log


def test_a_message_of_another_chat_is_not_found(team, log):
    other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[])
    elsewhere = chats.post_message(team.alice, other.id, text="elsewhere", wake="nobody")[0]
    alice = client_for(team, "alice")
    for id in (elsewhere.pk, new_id()):
        alice.refused(404, "not_found", "GET", f"chats/{team.chat.pk}/messages?around={id}")


def test_a_person_outside_the_chat_finds_no_message_of_it(team, log):
    client_for(team, "charlie").refused(404, "not_found", "GET", f"chats/{team.chat.pk}/messages?around={log[3]}")


@pytest.mark.parametrize(
    "query", ["before=5&after=5", "around=x", "after=-1", f"before={2**63}", "after=5&around={id}"]
)
def test_a_page_with_two_or_invalid_positions_is_refused(team, log, query):
    query = query.format(id=log[0])
    client_for(team, "alice").refused(400, "invalid", "GET", f"chats/{team.chat.pk}/messages?{query}")


@pytest.mark.parametrize("query", ["limit=200", "after=0&limit=200", "around={id}&limit=200"])
def test_FAIR3_a_page_of_long_messages_is_bounded_by_bytes(team, read, query):
    long = [post(team, letter * LONG) for letter in "abcdefghij"]
    page = read(query.format(id=long[5].pk))
    size = sum(len(row["payload"].get("text", "")) for row in page["results"])
    assert LONG <= size <= 4 * LONG
    assert page["before"] is not None or page["after"] is not None


def test_FAIR3_sizes_of_missed_messages_are_read_before_their_payloads(team):
    since = catch_up(team.chat.pk, None).version
    for _ in range(MAX_MISSED_BYTES // LONG + 1):
        post(team, "x" * LONG)
    with CaptureQueriesContext(connection) as queries:
        found = catch_up(team.chat.pk, since)
    assert found.snapshot
    assert len(found.model_dump_json()) < 5 * LONG
    read_whole = [q["sql"] for q in queries if '"chats_message"."payload"' in q["sql"]]
    assert len(read_whole) == 1  # the page of the snapshot


def test_FAIR3_a_chat_summary_contains_the_beginning_of_the_last_message(team):
    message = post(team, f"@{team.bob.handle} " + "x" * 100_000)
    alice = client_for(team, "alice")
    for last in (
        alice.ok("GET", f"workspaces/{team.workspace.pk}/chats")["results"][0]["last_message"],
        alice.ok("GET", f"chats/{team.chat.pk}")["last_message"],
    ):
        assert last["payload"] == message.payload | {"text": message.payload["text"][:MAX_PREVIEW_CHARACTERS]}
