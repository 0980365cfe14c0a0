"""Reading what one was told: only one's own, only what is open today, and it is read when its place was read."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from common.clock import now
from common.ids import new_id
from notifications.models import Notification
from notifications.selectors import MAX_UNREAD_NOTIFICATIONS
from tests.api.test_rights import client_for
from tests.factories.notifications import NotificationFactory
from workspaces import services as workspaces


def mention(team, name="bob", chat=None):
    said = chats.post_message(team.alice, (chat or team.chat).id, text=f"a secret, @{name}", wake="nobody")[0]
    return said, Notification.objects.get(message_id=said.id)


def listed(api, **query):
    return api("GET", "notifications?" + "&".join(f"{key}={value}" for key, value in query.items())).json()["results"]


def unread(api):
    return api("GET", "notifications/count").json()["unread"]


def test_one_reads_ones_own_the_newest_first(environment):
    team = environment.team
    ids = [str(mention(team)[1].id) for _ in range(3)]
    mention(team, "eve")
    bob = client_for(team, "bob")
    assert [row["id"] for row in listed(bob)] == ids[::-1]
    assert unread(bob) == 3
    assert [unread(client_for(team, name)) for name in ("alice", "charlie")] == [0, 0]


def test_ones_own_can_be_marked_by_id_up_to_one_and_all(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    rows = [mention(team)[1] for _ in range(4)]
    eves = mention(team, "eve")[1]
    assert bob("POST", "notifications/read", {"ids": [str(rows[3].id), str(eves.id)]}).json() == {"unread": 3}
    assert bob("POST", "notifications/read", {"up_to": str(eves.id)}).json() == {"unread": 3}
    assert bob("POST", "notifications/read", {"up_to": str(rows[1].id)}).json() == {"unread": 1}
    assert [row["id"] for row in listed(bob, unread="true")] == [str(rows[2].id)]
    assert bob("POST", "notifications/read", {}).json() == {"unread": 0}
    assert bob("POST", "notifications/read", {"ids": [], "up_to": str(eves.id)}).status_code == 400
    eves.refresh_from_db()
    assert eves.read_at is None


def test_reading_a_chat_up_to_a_mention_reads_the_mention(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    (first, _), (second, _) = mention(team), mention(team)
    elsewhere = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.bob.id])
    mention(team, chat=elsewhere)
    bob("PUT", f"chats/{team.chat.id}/read", {"seq": first.seq})
    assert unread(bob) == 2
    bob("PUT", f"chats/{team.chat.id}/read", {"seq": second.seq})
    assert [row["chat_id"] for row in listed(bob, unread="true")] == [str(elsewhere.id)]


def test_SEC1_of_a_chat_that_one_is_no_longer_in_nothing_is_quoted(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    mention(team)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    answer = bob("GET", "notifications")
    (row,) = answer.json()["results"]
    assert (row["chat_id"], row["message_id"], row["excerpt"]) == (None, None, "")
    assert b"secret" not in answer.content
    chats.add_participant(team.alice, team.chat.id, team.bob.id)
    assert listed(bob)[0]["excerpt"] == "a secret, @Bob"


def test_SEC1_who_left_the_workspace_sees_nothing_of_it(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    mention(team)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    assert (listed(bob), unread(bob)) == ([], 0)


def test_the_count_stops_where_nobody_reads_on(environment):
    team = environment.team
    Notification.objects.bulk_create(
        NotificationFactory.build_batch(MAX_UNREAD_NOTIFICATIONS + 5, person=team.bob, workspace=team.workspace)
    )
    assert unread(client_for(team, "bob")) == MAX_UNREAD_NOTIFICATIONS


@pytest.mark.parametrize("path", ["notifications", "notifications?unread=true", "notifications/count"])
def test_P7_reading_takes_the_same_queries_at_any_length(environment, path):
    team, bob = environment.team, client_for(environment.team, "bob")
    bob("GET", path)
    counts = []
    for more in (2, 20):
        for _ in range(more):
            NotificationFactory.create(
                person=team.bob, workspace=team.workspace, chat_id=team.chat.id, message_id=new_id()
            )
        with CaptureQueriesContext(connection) as queries:
            assert bob("GET", path).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5


def test_pages_follow_each_other_and_lose_nothing(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    moment = now()
    NotificationFactory.create_batch(7, person=team.bob, workspace=team.workspace)
    Notification.objects.update(created_at=moment)  # all at once: the id decides
    found, path = [], "notifications?limit=3"
    while path:
        page = bob("GET", path).json()
        found += [row["id"] for row in page["results"]]
        path = f"notifications?limit=3&cursor={page['next']}" if page["next"] else ""
    assert found == [str(one.id) for one in Notification.objects.order_by("-pk")]
