"""Reading notifications: people see only their own, and only of chats and workspaces that they may see now."""

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


def create_mention(team, name="bob", chat=None):
    message = chats.post_message(team.alice, (chat or team.chat).id, text=f"a secret, @{name}", wake="nobody")[0]
    return message, Notification.objects.get(message_id=message.id)


def list_notifications(api, **query):
    return api("GET", "notifications?" + "&".join(f"{key}={value}" for key, value in query.items())).json()["results"]


def count_unread(api):
    return api("GET", "notifications/count").json()["unread"]


def test_a_person_reads_only_their_own_notifications_newest_first(environment):
    team = environment.team
    ids = [str(create_mention(team)[1].id) for _ in range(3)]
    create_mention(team, "eve")
    bob = client_for(team, "bob")
    assert [row["id"] for row in list_notifications(bob)] == ids[::-1]
    assert count_unread(bob) == 3
    assert [count_unread(client_for(team, name)) for name in ("alice", "charlie")] == [0, 0]


def test_a_person_can_mark_their_notifications_as_read_by_id_up_to_one_or_all(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    notifications = [create_mention(team)[1] for _ in range(4)]
    notification_of_eve = create_mention(team, "eve")[1]
    assert (
        bob("POST", "notifications/read", {"ids": [str(notifications[3].id), str(notification_of_eve.id)]}).json()[
            "unread"
        ]
        == 3
    )
    assert bob("POST", "notifications/read", {"up_to": str(notification_of_eve.id)}).json()["unread"] == 3
    assert bob("POST", "notifications/read", {"up_to": str(notifications[1].id)}).json()["unread"] == 1
    assert [row["id"] for row in list_notifications(bob, unread="true")] == [str(notifications[2].id)]
    assert bob("POST", "notifications/read", {}).json()["unread"] == 0
    assert bob("POST", "notifications/read", {"ids": [], "up_to": str(notification_of_eve.id)}).status_code == 400
    notification_of_eve.refresh_from_db()
    assert notification_of_eve.read_at is None


def test_reading_a_chat_up_to_a_mention_marks_the_mention_as_read(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    (first, _), (second, _) = create_mention(team), create_mention(team)
    other_chat = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.bob.id])
    assert count_unread(bob) == 3
    bob("PUT", f"chats/{other_chat.id}/read", {"seq": 1})  # reads the notification that Bob was added
    create_mention(team, chat=other_chat)
    bob("PUT", f"chats/{team.chat.id}/read", {"seq": first.seq})
    assert count_unread(bob) == 2
    bob("PUT", f"chats/{team.chat.id}/read", {"seq": second.seq})
    assert [row["chat_id"] for row in list_notifications(bob, unread="true")] == [str(other_chat.id)]


def test_SEC1_a_chat_that_the_person_has_left_is_neither_quoted_nor_linked(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    create_mention(team)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    answer = bob("GET", "notifications")
    (row,) = answer.json()["results"]
    assert (row["chat_id"], row["message_id"], row["excerpt"]) == (None, None, "")
    assert b"secret" not in answer.content
    chats.add_participant(team.alice, team.chat.id, team.bob.id)
    invitation, mention = list_notifications(bob)
    assert (invitation["type"], mention["excerpt"]) == ("chat_invitation", "a secret, @Bob")


def test_an_invitation_to_a_chat_without_a_title_quotes_the_names_of_the_others(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    chat = chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=[team.bob.id, team.robin.id])
    [row] = list_notifications(bob)
    assert (row["type"], row["excerpt"]) == ("chat_invitation", "Alice · Robin")
    with CaptureQueriesContext(connection) as queries:
        bob("GET", "notifications")
    count = len(queries)
    chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=[team.bob.id])
    with CaptureQueriesContext(connection) as queries:
        assert [row["excerpt"] for row in list_notifications(bob)] == ["Alice", "Alice · Robin"]
    assert len(queries) == count
    chats.remove_participant(team.alice, chat.id, team.bob.id)
    assert [row["excerpt"] for row in list_notifications(bob)] == ["Alice", ""]


def test_SEC1_a_former_member_sees_no_notifications_of_the_workspace(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    create_mention(team)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    assert (list_notifications(bob), count_unread(bob)) == ([], 0)


def test_unread_notifications_are_counted_up_to_a_maximum(environment):
    team = environment.team
    Notification.objects.bulk_create(
        NotificationFactory.build_batch(MAX_UNREAD_NOTIFICATIONS + 5, person=team.bob, workspace=team.workspace)
    )
    assert count_unread(client_for(team, "bob")) == MAX_UNREAD_NOTIFICATIONS


@pytest.mark.parametrize("path", ["notifications", "notifications?unread=true", "notifications/count"])
def test_P7_the_number_of_queries_does_not_grow_with_the_list(environment, path):
    team, bob = environment.team, client_for(environment.team, "bob")
    bob("GET", path)
    counts = []
    for added in (2, 20):
        for _ in range(added):
            NotificationFactory.create(
                person=team.bob, workspace=team.workspace, chat_id=team.chat.id, message_id=new_id()
            )
        with CaptureQueriesContext(connection) as queries:
            assert bob("GET", path).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5


def test_pages_contain_every_notification_once(environment):
    team, bob = environment.team, client_for(environment.team, "bob")
    created_at = now()
    NotificationFactory.create_batch(7, person=team.bob, workspace=team.workspace)
    Notification.objects.update(created_at=created_at)  # equal times, so that the id decides the order
    found, path = [], "notifications?limit=3"
    while path:
        page = bob("GET", path).json()
        found += [row["id"] for row in page["results"]]
        path = f"notifications?limit=3&cursor={page['next']}" if page["next"] else ""
    assert found == [str(one.id) for one in Notification.objects.order_by("-pk")]
