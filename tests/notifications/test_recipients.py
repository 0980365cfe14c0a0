"""Each event tells exactly whom it concerns: everybody else is looked at, too."""

from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from actors.models import Actor
from agents.hooks import lock_lost
from agents.services import drafts
from chats import services as chats
from chats.hooks import message_posted
from common.clock import now
from common.ids import new_id
from notifications import services as notifications
from notifications.models import Notification
from notifications.services import notifying
from suggestions.hooks import merge_ended, suggestion_changed
from tests.factories.suggestions import MergeFactory, SuggestionFactory
from tests.factories.workspaces import grant_right
from workspaces import services as workspaces


def say(environment, text, author=None):
    return chats.post_message(author or environment.team.alice, environment.team.chat.id, text=text, wake="nobody")[0]


def suggestion_by(person, team, **fields):
    return SuggestionFactory.create(chat=team.chat, agent=team.robin, author=person, note="Shorter answers", **fields)


def merge_of(person, team, **fields):
    return MergeFactory.create(chat=team.chat, agent=team.robin, by=person, **fields)


def test_a_mention_notifies_the_one_who_is_mentioned_and_nobody_else(environment):
    said = say(environment, "look at this,\n@bob   please, @robin too")
    assert environment.list_notified() == {"Bob": ["mention"]}
    (row,) = [one.to_row() for one in Notification.objects.all()]
    assert (row.actor_name, row.chat_id, row.message_id, row.is_read) == (
        "Alice",
        environment.team.chat.id,
        said.id,
        False,
    )
    assert row.excerpt == "look at this, @Bob please, @Robin too"


def test_an_agent_mentions_people_as_people_do(environment):
    say(environment, "done, @bob", author=environment.team.robin)
    assert environment.list_notified() == {"Bob": ["mention"]}
    assert Notification.objects.get().actor_name == "Robin"


def test_at_all_means_all_people_of_the_chat_but_the_speaker(environment):
    say(environment, "@All: lunch")
    assert environment.list_notified() == {"Bob": ["mention"], "Eve": ["mention"]}


@pytest.mark.parametrize(
    "text", ["@alice myself", "mail me: x@all.org", "@allison", "@dora is not here", "@charlie", "hm"]
)
def test_who_speaks_of_themselves_of_nobody_or_of_who_is_not_in_the_chat_notifies_nobody(environment, text):
    say(environment, text)
    assert environment.list_notified() == {}


def test_who_is_mentioned_and_not_in_the_chat_is_notified_nothing_whoever_looked_them_up(environment):
    team, dora = environment.team, Actor.objects.get(handle="dora")
    chats.create_chat(team.alice, team.workspace.id, title="Elsewhere", actor_ids=[dora.id])
    Notification.objects.all().delete()
    said = say(environment, "hm")
    said.payload["mentions"] = [str(person.id) for person in (team.bob, dora, team.charlie)]
    message_posted(environment.team.chat, said)
    assert environment.list_notified() == {"Bob": ["mention"]}


def test_a_long_mention_is_quoted_by_its_beginning(environment):
    say(environment, "@bob " + "字" * 5000)
    assert Notification.objects.get().excerpt == "@Bob " + "字" * 194 + "…"


def test_P1_a_message_that_mentions_nobody_asks_nothing_of_notifications(environment):
    with CaptureQueriesContext(connection) as queries:
        say(environment, "good morning")
    assert not [query["sql"] for query in queries if "notification" in query["sql"]]


def test_a_message_that_is_refused_has_notified_nobody(environment):
    first = new_id()
    chats.post_message(environment.team.alice, environment.team.chat.id, id=first, text="hello", wake="nobody")
    with pytest.raises(Exception, match="another message"):
        chats.post_message(environment.team.alice, environment.team.chat.id, id=first, text="@bob", wake="nobody")
    with transaction.atomic():
        say(environment, "@bob")
        transaction.set_rollback(True)
    assert environment.list_notified() == {}


def test_who_was_removed_or_closed_their_account_is_notified_nothing(environment):
    team = environment.team
    chats.remove_participant(team.alice, team.chat.id, environment.eve.id)
    team.bob.is_active = False
    team.bob.save()
    say(environment, "@eve @bob @all")
    assert environment.list_notified() == {}


def test_a_new_suggestion_notifies_those_who_may_review_it(environment):
    team = environment.team
    suggestion = suggestion_by(team.bob, team)
    suggestion_changed(suggestion, "created", team.bob)
    suggestion_changed(suggestion, "created", team.bob)
    assert environment.list_notified() == {"Alice": ["suggestion_created"], "Dora": ["suggestion_created"]}
    row = Notification.objects.filter(person=environment.dora).get().to_row()
    assert (row.suggestion_id, row.agent_name, row.actor_name) == (suggestion.id, "Robin", "Bob")
    assert row.excerpt == "Shorter answers"


def test_who_was_granted_the_review_of_this_agent_is_notified_and_an_editor_is_not_notified_of_their_own(environment):
    team = environment.team
    for person in (environment.eve, team.charlie):  # a grant opens no workspace to a stranger
        grant_right(person, "review_agent_actor", team.robin)
    suggestion_changed(suggestion_by(team.alice, team), "created", team.alice)
    assert environment.list_notified() == {"Dora": ["suggestion_created"], "Eve": ["suggestion_created"]}


@pytest.mark.parametrize("what", ["accepted", "rejected", "reopened"])
def test_what_becomes_of_a_suggestion_concerns_its_author(environment, what):
    team = environment.team
    suggestion = suggestion_by(team.bob, team, reason="Not now")
    suggestion_changed(suggestion, what, team.alice)
    assert environment.list_notified() == {"Bob": [f"suggestion_{what}"]}
    assert Notification.objects.get().excerpt == ("Not now" if what == "rejected" else "Shorter answers")


def test_who_decides_on_their_own_suggestion_is_not_notified(environment):
    suggestion_changed(suggestion_by(environment.team.alice, environment.team), "rejected", environment.team.alice)
    assert environment.list_notified() == {}


@pytest.mark.parametrize(
    ("state", "method", "told"),
    [
        ("done", "agent", {"Alice": ["merge_done"]}),
        ("done", "copied", {}),
        ("failed", "text", {"Alice": ["merge_failed"]}),
        ("stopped", "", {}),
    ],
)
def test_a_merge_that_took_its_time_notifies_who_asked_for_it(environment, state, method, told):
    merge = merge_of(
        environment.team.alice, environment.team, state=state, method=method, ended_at=now(), error_code="draft_locked"
    )
    merge_ended(merge)
    merge_ended(merge)
    assert environment.list_notified() == told
    assert {one.excerpt for one in Notification.objects.all()} == ({"draft_locked"} if told else set())


def test_a_merge_that_fails_again_is_news_again(environment):
    merge = merge_of(environment.team.alice, environment.team, state="failed", ended_at=now())
    merge_ended(merge)
    merge.ended_at = now()
    merge_ended(merge)
    assert environment.list_notified() == {"Alice": ["merge_failed"] * 2}


def test_whose_hold_was_taken_is_notified_by_whom(environment):
    team = environment.team
    draft = drafts.claim_draft(actor=team.bob, chat_id=team.chat.id, agent_id=team.robin.id)
    lock_lost(draft, team.bob, team.alice)
    assert environment.list_notified() == {"Bob": ["lock_lost"]}
    row = Notification.objects.get().to_row()
    assert (row.actor_name, row.agent_name, row.chat_id) == ("Alice", "Robin", team.chat.id)


def test_who_left_the_workspace_is_not_notified_what_became_of_their_suggestion(environment):
    team = environment.team
    suggestion = suggestion_by(team.bob, team)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    suggestion_changed(suggestion, "accepted", team.alice)
    assert environment.list_notified() == {}


def test_what_is_older_than_90_days_goes_when_there_is_news(environment, monkeypatch):
    for _ in range(3):
        say(environment, "@bob @eve")
    Notification.objects.update(created_at=now() - notifying.MAX_NOTIFICATION_AGE - timedelta(hours=1))
    kept = Notification.objects.filter(person=environment.eve).count()
    monkeypatch.setattr(notifying, "MAX_DELETED", 2)
    say(environment, "@bob")
    assert environment.list_notified() == {"Bob": ["mention"] * 2, "Eve": ["mention"] * kept}
    say(environment, "@bob")
    assert environment.list_notified()["Bob"] == ["mention"] * 2


def test_many_people_are_notified_with_as_many_queries_as_one(environment):
    def tell(event, people):
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
    assert tell("one", [environment.eve.id]) == tell("many", three) == 3


def test_all_members_are_notified_when_their_chats_go_to_another_provider_or_host(environment, settings):
    team = environment.team
    settings.ALLOW_PRIVATE_HOSTS = frozenset({"127.0.0.1:9999", "127.0.0.1:8888"})

    def choose(revision, **fields):
        workspaces.set_model(team.alice, team.workspace.id, revision=revision,
            **{"provider": "openai_compatible", "default_model": "m", "api_base": "http://127.0.0.1:9999/v1"} | fields,
        )  # fmt: skip

    choose(0)
    choose(1, default_model="other")
    everybody = {"Bob": ["model_changed"], "Dora": ["model_changed"], "Eve": ["model_changed"]}
    assert environment.list_notified() == everybody
    assert {one.excerpt for one in Notification.objects.all()} == {"127.0.0.1:9999"}
    choose(2, api_base="http://127.0.0.1:8888/v1")
    assert environment.list_notified() == {name: types * 2 for name, types in everybody.items()}
