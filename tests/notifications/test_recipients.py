"""The recipients of the notifications about each event."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from actors.models import Actor, Kind
from agents.hooks import lock_lost
from agents.services import drafts
from chats import services as chats
from chats.hooks import message_posted
from common.clock import now
from common.ids import new_id
from common.secrets import Secret
from events.rows import Role, ServerKind
from mcp_client.protocol import MCPListing, MCPToolDescription
from notifications import services as notifications
from notifications.models import Notification
from notifications.services import notifying
from suggestions.hooks import merge_ended, suggestion_changed
from tests.factories.suggestions import MergeFactory, SuggestionFactory
from tests.factories.tools import ToolServerFactory, WorkspaceToolFactory
from tests.factories.workspaces import grant_right
from tools.mcp.listing import store_listing
from tools.models import ToolServer
from tools.services import approve_tool
from workspaces import services as workspaces
from workspaces.models import Membership


def post(environment, text, author=None):
    return chats.post_message(author or environment.team.alice, environment.team.chat.id, text=text, wake="nobody")[0]


def create_suggestion(person, team, **fields):
    return SuggestionFactory.create(chat=team.chat, agent=team.robin, author=person, note="Shorter answers", **fields)


def create_merge(person, team, **fields):
    return MergeFactory.create(chat=team.chat, agent=team.robin, by=person, **fields)


def test_a_mention_notifies_only_the_mentioned_person(environment):
    message = post(environment, "look at this,\n@bob   please, @robin too")
    assert environment.list_notified() == {"Bob": ["mention"]}
    (row,) = [one.to_row() for one in Notification.objects.all()]
    assert (row.actor_name, row.chat_id, row.message_id, row.is_read) == (
        "Alice",
        environment.team.chat.id,
        message.id,
        False,
    )
    assert row.excerpt == "look at this, @Bob please, @Robin too"


def test_a_mention_by_an_agent_notifies_the_person(environment):
    post(environment, "done, @bob", author=environment.team.robin)
    assert environment.list_notified() == {"Bob": ["mention"]}
    assert Notification.objects.get().actor_name == "Robin"


def test_at_all_notifies_all_people_of_the_chat_except_the_author(environment):
    post(environment, "@All: lunch")
    assert environment.list_notified() == {"Bob": ["mention"], "Eve": ["mention"]}


@pytest.mark.parametrize(
    "text", ["@alice myself", "mail me: x@all.org", "@allison", "@dora is not here", "@charlie", "hm"]
)
def test_a_text_without_a_mention_of_another_participant_notifies_no_one(environment, text):
    post(environment, text)
    assert environment.list_notified() == {}


def test_the_listener_does_not_notify_mentioned_people_outside_the_chat(environment):
    team, dora = environment.team, Actor.objects.get(handle="dora")
    chats.create_chat(team.alice, team.workspace.id, title="Elsewhere", actor_ids=[dora.id])
    Notification.objects.all().delete()
    message = post(environment, "hm")
    message.payload["mentions"] = [str(person.id) for person in (team.bob, dora, team.charlie)]
    message_posted.call(environment.team.chat, message)
    assert environment.list_notified() == {"Bob": ["mention"]}


def test_the_excerpt_of_a_long_mention_is_its_beginning(environment):
    post(environment, "@bob " + "字" * 5000)
    assert Notification.objects.get().excerpt == "@Bob " + "字" * 194 + "…"


def test_P1_a_message_without_mentions_makes_no_query_on_notifications(environment):
    with CaptureQueriesContext(connection) as queries:
        post(environment, "good morning")
    assert not [query["sql"] for query in queries if "notification" in query["sql"]]


def test_a_refused_or_rolled_back_message_notifies_no_one(environment):
    first = new_id()
    chats.post_message(environment.team.alice, environment.team.chat.id, id=first, text="hello", wake="nobody")
    with pytest.raises(Exception, match="Another message"):
        chats.post_message(environment.team.alice, environment.team.chat.id, id=first, text="@bob", wake="nobody")
    with transaction.atomic():
        post(environment, "@bob")
        transaction.set_rollback(True)
    assert environment.list_notified() == {}


def test_removed_participants_and_inactive_people_are_not_notified(environment):
    team = environment.team
    chats.remove_participant(team.alice, team.chat.id, environment.eve.id)
    team.bob.is_active = False
    team.bob.save()
    post(environment, "@eve @bob @all")
    assert environment.list_notified() == {}


def test_a_new_suggestion_notifies_its_reviewers(environment):
    team = environment.team
    suggestion = create_suggestion(team.bob, team)
    suggestion_changed.call(suggestion, "created", team.bob)
    suggestion_changed.call(suggestion, "created", team.bob)
    assert environment.list_notified() == {"Alice": ["suggestion_created"], "Dora": ["suggestion_created"]}
    row = Notification.objects.filter(person=environment.dora).get().to_row()
    assert (row.suggestion_id, row.agent_name, row.actor_name) == (suggestion.id, "Robin", "Bob")
    assert row.excerpt == "Shorter answers"


def test_a_new_suggestion_notifies_people_with_a_grant_and_not_its_author(environment):
    team = environment.team
    for person in (environment.eve, team.charlie):  # charlie is not a member, so the grant has no effect
        grant_right(person, "review_agent_actor", team.robin)
    suggestion_changed.call(create_suggestion(team.alice, team), "created", team.alice)
    assert environment.list_notified() == {"Dora": ["suggestion_created"], "Eve": ["suggestion_created"]}


@pytest.mark.parametrize("what", ["accepted", "rejected", "reopened"])
def test_a_decision_on_a_suggestion_notifies_its_author(environment, what):
    team = environment.team
    suggestion = create_suggestion(team.bob, team, reason="Not now")
    suggestion_changed.call(suggestion, what, team.alice)
    assert environment.list_notified() == {"Bob": [f"suggestion_{what}"]}
    assert Notification.objects.get().excerpt == ("Not now" if what == "rejected" else "Shorter answers")


def test_an_author_who_decides_on_their_own_suggestion_is_not_notified(environment):
    suggestion_changed.call(
        create_suggestion(environment.team.alice, environment.team), "rejected", environment.team.alice
    )
    assert environment.list_notified() == {}


@pytest.mark.parametrize(
    ("state", "method", "notified"),
    [
        ("done", "agent", {"Alice": ["merge_done"]}),
        ("done", "copied", {}),
        ("failed", "text", {"Alice": ["merge_failed"]}),
        ("stopped", "", {}),
    ],
)
def test_a_merge_that_ends_after_the_request_notifies_its_requester(environment, state, method, notified):
    merge = create_merge(
        environment.team.alice, environment.team, state=state, method=method, ended_at=now(), error_code="draft_locked"
    )
    merge_ended.call(merge)
    merge_ended.call(merge)
    assert environment.list_notified() == notified
    assert {one.excerpt for one in Notification.objects.all()} == ({"draft_locked"} if notified else set())


def test_a_merge_that_fails_twice_notifies_twice(environment):
    merge = create_merge(environment.team.alice, environment.team, state="failed", ended_at=now())
    merge_ended.call(merge)
    merge.ended_at = now()
    merge_ended.call(merge)
    assert environment.list_notified() == {"Alice": ["merge_failed"] * 2}


def test_a_person_who_loses_a_lock_is_notified_of_the_new_holder(environment):
    team = environment.team
    draft = drafts.claim_draft(actor=team.bob, chat_id=team.chat.id, agent_id=team.robin.id)
    lock_lost.call(draft, team.bob, team.alice)
    assert environment.list_notified() == {"Bob": ["lock_lost"]}
    row = Notification.objects.get().to_row()
    assert (row.actor_name, row.agent_name, row.chat_id) == ("Alice", "Robin", team.chat.id)


def test_a_former_member_is_not_notified_of_decisions_on_their_suggestion(environment):
    team = environment.team
    suggestion = create_suggestion(team.bob, team)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    suggestion_changed.call(suggestion, "accepted", team.alice)
    assert environment.list_notified() == {}


def test_notifications_older_than_90_days_are_deleted_when_a_new_one_is_created(environment, monkeypatch):
    for _ in range(3):
        post(environment, "@bob @eve")
    Notification.objects.update(created_at=now() - notifying.MAX_NOTIFICATION_AGE - timedelta(hours=1))
    count_of_eve = Notification.objects.filter(person=environment.eve).count()
    monkeypatch.setattr(notifying, "MAX_DELETED", 2)
    post(environment, "@bob")
    assert environment.list_notified() == {"Bob": ["mention"] * 2, "Eve": ["mention"] * count_of_eve}
    post(environment, "@bob")
    assert environment.list_notified()["Bob"] == ["mention"] * 2


def test_the_number_of_queries_does_not_grow_with_the_number_of_people(environment):
    def count_queries_of_notify(event, people):
        with CaptureQueriesContext(connection) as queries:
            notifications.notify(
                people,
                event=event,
                type="mention",
                workspace_id=environment.team.workspace.id,
                actor=environment.team.alice,
            )
        return len(queries)

    three = [environment.eve.id, environment.dora.id, environment.team.bob.id]
    assert count_queries_of_notify("one", [environment.eve.id]) == count_queries_of_notify("many", three) == 3


def test_all_members_are_notified_when_the_provider_or_host_of_the_model_changes(environment, settings):
    team = environment.team
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9999", "127.0.0.1:8888"})

    def set_model(revision, **fields):
        workspaces.set_model(
            team.alice,
            team.workspace.id,
            revision=revision,
            **{"provider": "openai_compatible", "default_model": "m", "api_base": "http://127.0.0.1:9999/v1"} | fields,
        )

    set_model(0)
    set_model(1, default_model="other")
    members = {"Bob": ["model_changed"], "Dora": ["model_changed"], "Eve": ["model_changed"]}
    assert environment.list_notified() == members
    assert {one.excerpt for one in Notification.objects.all()} == {"127.0.0.1:9999"}
    set_model(2, api_base="http://127.0.0.1:8888/v1")
    assert environment.list_notified() == {name: types * 2 for name, types in members.items()}


def test_all_members_are_notified_of_another_region_of_the_model_and_not_of_another_key(environment):
    team = environment.team
    options = {"access_key_id": "AKIAIOSFODNN7EXAMPLE", "region": "eu-central-1"}

    def set_model(revision, **changes):
        workspaces.set_model(
            team.alice,
            team.workspace.id,
            provider="bedrock",
            default_model="anthropic.claude",
            revision=revision,
            options=options | changes,
            key=Secret("a secret of AWS"),
        )

    set_model(0)
    set_model(1, access_key_id="AKIAI44QH8DHBEXAMPLE")
    assert environment.list_notified() == dict.fromkeys(["Bob", "Dora", "Eve"], ["model_changed"])
    set_model(2, region="us-east-1")
    assert environment.list_notified() == dict.fromkeys(["Bob", "Dora", "Eve"], ["model_changed"] * 2)
    newest = Notification.objects.filter(person=team.bob).latest("created_at")
    assert newest.excerpt == "Amazon Bedrock · us-east-1"


def store_descriptions(server: ToolServer, **hashes: str) -> None:
    """Store a listing of an MCP server, with the hashes of its tools by their names."""
    tools = tuple(
        MCPToolDescription(
            name=name,
            title="",
            description=text,
            input_schema={"type": "object"},
            output_schema=None,
            is_read_only=True,
            annotations={},
            hash=text,
        )
        for name, text in hashes.items()
    )
    store_listing(server.id, server.base_url, MCPListing("Mail", "new", tools, {}, is_cut=False))


@pytest.fixture
def mail_server(environment) -> ToolServer:
    """An MCP server with the approved tools `read` and `send`, and `drop`, which an editor has switched off."""
    workspace = environment.team.workspace
    server = ToolServerFactory.create(workspace=workspace, kind=ServerKind.MCP)
    for name in ("read", "send", "drop"):
        off = {"is_enabled": False, "off_reason": "editor"} if name == "drop" else {}
        WorkspaceToolFactory.create(
            workspace=workspace, server=server, name=f"mail_{name}", remote_name=name, pinned_hash="a", **off
        )
    return server


def test_the_editors_are_notified_once_when_a_server_has_changed_its_tools(environment, mail_server):
    store_descriptions(mail_server, read="a", send="a", drop="a")
    assert environment.list_notified() == {}
    store_descriptions(mail_server, read="b", send="b", drop="b", new="b")
    store_descriptions(mail_server, read="b", send="c", drop="b", new="c")
    assert environment.list_notified() == {"Alice": ["tools_changed"], "Dora": ["tools_changed"]}
    row = Notification.objects.filter(person=environment.dora).get().to_row()
    assert (row.tool_server_id, row.excerpt, row.actor_name) == (mail_server.id, "mail_read, mail_send", "")


def test_a_tool_that_has_changed_again_after_its_approval_is_notified_again(environment, mail_server):
    store_descriptions(mail_server, read="b", send="a", drop="a")
    tool = mail_server.tools.get(name="mail_read")
    approve_tool(environment.team.alice, tool.id, definition_hash="b", effect="read")
    store_descriptions(mail_server, read="c", send="a", drop="a")
    assert environment.list_notified()["Dora"] == ["tools_changed"] * 2


def test_a_tool_that_comes_back_with_another_text_is_notified_and_one_that_is_gone_is_not(environment, mail_server):
    store_descriptions(mail_server, send="a", drop="a")
    assert environment.list_notified() == {}
    store_descriptions(mail_server, read="b", send="a", drop="a")
    assert environment.list_notified()["Dora"] == ["tools_changed"]


def test_more_people_are_notified_than_one_statement_has_parameters_for(environment):
    team = environment.team
    names = [f"person-{number}" for number in range(65_535 // len(Notification._meta.fields) + 1)]
    people = Actor.objects.bulk_create(
        [
            Actor(kind=Kind.HUMAN, is_active=True, name=name, handle=name, username=name, email=f"{name}@example.org")
            for name in names
        ],
        batch_size=500,
    )
    Membership.objects.bulk_create(
        [Membership(workspace=team.workspace, actor=person, role=Role.SUGGESTER) for person in people], batch_size=500
    )
    ids = [person.id for person in people]
    event = {"event": "a", "type": "workspace_deleted", "workspace_id": team.workspace.id, "actor": team.alice}
    assert notifications.notify(ids, **event) == sorted(ids)
    assert Notification.objects.filter(person__in=ids).count() == len(ids)


def test_people_are_notified_of_a_chat_that_they_are_added_to(environment):
    team = environment.team
    chat = chats.create_chat(team.alice, team.workspace.id, title="Plans", actor_ids=[team.bob.id, team.robin.id])
    assert environment.list_notified() == {"Bob": ["chat_invitation"]}
    assert (Notification.objects.get().chat_id, Notification.objects.get().excerpt) == (chat.id, "Plans")
    chats.remove_participant(team.alice, chat.id, team.bob.id)
    chats.add_participant(team.alice, chat.id, team.bob.id)
    assert environment.list_notified() == {"Bob": ["chat_invitation", "chat_invitation"]}
    chats.open_direct_chat(team.alice, team.workspace.id, team.bob.id)
    assert Notification.objects.count() == 2
