"""Direct chats: one for each pair in a workspace, which nobody joins or leaves, and those between agents."""

import threading

import pytest
from django.db import IntegrityError, connection, transaction

from actors.models import Actor
from chats import services as chats
from chats.models import Chat, ChatActor, build_pair_key
from chats.permissions import (
    ChatVerb,
    build_is_read_by_all,
    chats_visible_to,
    find_readers,
    get_chat_for,
)
from chats.selectors import get_listed_chat, list_chats_between_agents
from chats.services.links import create_link
from common.errors import AppError, Code, Conflict, Forbidden, Invalid, NotFound
from notifications.models import Notification
from realtime.rights import filter_allowed
from realtime.topics import Topic
from runs.models import Run
from tests.api.client import Api
from tests.people import make_agent, make_operator
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db


def open_chat(team, actor, other, **more):
    return chats.open_direct_chat(actor, team.workspace.id, other.id, **more)


@pytest.fixture
def quill(team):
    return make_agent(team.workspace, team.alice, "Quill")


def list_participants(chat):
    return set(ChatActor.objects.filter(chat=chat, ended_at=None).values_list("actor__handle", flat=True))


def test_a_pair_has_one_direct_chat_whoever_opens_it(team):
    chat, is_new = open_chat(team, team.alice, team.bob)
    again, is_new_again = open_chat(team, team.bob, team.alice)
    assert (again, is_new, is_new_again) == (chat, True, False)
    assert list_participants(chat) == {"alice", "bob"}
    assert (chat.title, chat.is_direct, chat.is_between_agents) == ("", True, False)
    assert not Notification.objects.exists()


def test_the_database_refuses_a_second_direct_chat_of_a_pair(team):
    chat, _ = open_chat(team, team.alice, team.bob)
    with pytest.raises(IntegrityError), transaction.atomic():
        Chat.objects.create(workspace=team.workspace, pair_key=build_pair_key(team.bob.id, team.alice.id))
    assert list(Chat.objects.exclude(pair_key=None)) == [chat]


@pytest.mark.django_db(transaction=True)
def test_two_people_who_open_it_at_once_get_the_same_chat(team):
    found, errors, barrier = [], [], threading.Barrier(6)

    def open_it(actor, other):
        try:
            barrier.wait(60)
            found.append(open_chat(team, actor, other))
        except (AppError, IntegrityError) as error:
            errors.append(error)
        finally:
            connection.close()

    pairs = [(team.alice, team.bob), (team.bob, team.alice)] * 3
    threads = [threading.Thread(target=open_it, args=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == []
    assert len({chat.id for chat, _ in found}) == 1
    assert sorted(is_new for _, is_new in found) == [False] * 5 + [True]
    assert ChatActor.objects.filter(chat=found[0][0]).count() == 2


def test_an_agent_in_a_direct_chat_answers_every_message(team):
    chat, _ = open_chat(team, team.bob, team.robin)
    chats.post_message(team.bob, chat.id, text="hello")
    [run] = Run.objects.filter(chat=chat)
    assert (run.agent, run.on_behalf_of) == (team.robin, team.bob)


@pytest.mark.parametrize(
    "change",
    [
        lambda team, chat: chats.add_participant(team.alice, chat.id, team.robin.id),
        lambda team, chat: chats.remove_participant(team.alice, chat.id, team.alice.id),
        lambda team, chat: chats.remove_participant(team.alice, chat.id, team.bob.id),
        lambda team, chat: chats.remove_participant(make_operator(), chat.id, team.bob.id, as_operator=True),
        lambda team, chat: chats.rename_chat(team.alice, chat.id, title="Ours"),
        lambda team, chat: create_link(team.alice, chat.id, role="suggester", hours=1),
    ],
)
def test_nobody_joins_or_leaves_a_direct_chat_and_it_has_no_title(team, change):
    chat, _ = open_chat(team, team.alice, team.bob)
    before = Chat.objects.get(pk=chat.pk).version
    with pytest.raises(Conflict) as refusal:
        change(team, chat)
    assert refusal.value.code == Code.DIRECT_CHAT
    assert refusal.value.hints
    assert list_participants(chat) == {"alice", "bob"}
    assert Chat.objects.get(pk=chat.pk).version == before


def test_strangers_and_oneself_are_refused(team):
    for actor, other in ((team.alice, team.charlie), (team.charlie, team.alice)):
        with pytest.raises(NotFound):
            open_chat(team, actor, other)
    with pytest.raises(Invalid):
        open_chat(team, team.alice, team.alice)
    assert not Chat.objects.exclude(pair_key=None).exists()


def test_a_member_who_left_and_came_back_finds_the_same_chat(team):
    chat, _ = open_chat(team, team.alice, team.bob)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    assert list_participants(chat) == {"alice"}
    summary = get_listed_chat(actor=team.alice, chat_id=chat.id)
    assert summary is not None
    assert [row.name for row in summary.participants] == ["Alice", "Bob"]
    assert summary.chat.title == "Bob"
    with pytest.raises(NotFound):
        get_chat_for(team.bob, chat.id, ChatVerb.SEE)
    workspaces.join_workspace(team.bob, team.workspace.id, role="suggester", invited_by=team.alice)
    with pytest.raises(NotFound):
        get_chat_for(team.bob, chat.id, ChatVerb.SEE)
    assert open_chat(team, team.alice, team.bob) == (chat, False)
    assert list_participants(chat) == {"alice", "bob"}


def test_a_chat_without_a_title_is_named_after_the_others_in_it(team):
    def get_title(chat):
        summary = get_listed_chat(actor=team.alice, chat_id=chat.id)
        assert summary is not None
        return summary.chat.title

    chat = chats.create_chat(team.alice, team.workspace.id, title="", actor_ids=[team.bob.id, team.robin.id])
    assert get_title(chat) == "Bob · Robin"
    chats.rename_chat(team.alice, chat.id, title="Kyoto")
    assert get_title(chat) == "Kyoto"
    assert get_title(chats.create_chat(team.alice, team.workspace.id, title="")) == "Alice"


def test_a_hidden_chat_is_in_the_list_again_after_a_message_or_when_it_is_opened(team):
    chat, _ = open_chat(team, team.alice, team.bob)

    def is_hidden(person):
        summary = get_listed_chat(actor=person, chat_id=chat.id)
        assert summary is not None
        last = summary.last_message.seq if summary.last_message else 0
        return summary.hidden_seq is not None and last <= summary.hidden_seq

    assert (is_hidden(team.alice), is_hidden(team.bob)) == (False, True)
    chats.post_message(team.alice, chat.id, text="hello")
    assert (is_hidden(team.alice), is_hidden(team.bob)) == (False, False)
    chats.hide_direct_chat(team.bob, chat.id)
    assert (is_hidden(team.alice), is_hidden(team.bob)) == (False, True)
    open_chat(team, team.bob, team.alice)
    assert not is_hidden(team.bob)
    with pytest.raises(Conflict):
        chats.hide_direct_chat(team.bob, team.chat.id)


# --- chats between agents ---------------------------------------------------------------------------------------


def test_an_editor_opens_the_chat_of_two_agents_and_each_wakes_the_other(team, quill):
    chat, _ = open_chat(team, team.alice, quill, agent_id=team.robin.id)
    assert open_chat(team, quill, team.robin) == (chat, False)
    assert chat.is_between_agents
    chats.post_message(team.robin, chat.id, text="hello")
    [run] = Run.objects.filter(chat=chat)
    assert (run.agent, run.agent_hops) == (quill, 1)


def test_only_editors_open_chats_between_agents_and_only_between_agents(team, quill):
    with pytest.raises(Forbidden):
        open_chat(team, team.bob, quill, agent_id=team.robin.id)
    with pytest.raises(NotFound):
        open_chat(team, team.charlie, quill, agent_id=team.robin.id)
    for first, second in ((team.robin, team.bob), (team.bob, team.robin)):
        with pytest.raises(Invalid):
            open_chat(team, team.alice, second, agent_id=first.id)
    assert not Chat.objects.exclude(pair_key=None).exists()


def test_editors_read_a_chat_between_agents_and_others_do_not_see_it(team, quill):
    chat, _ = open_chat(team, quill, team.robin)
    assert get_chat_for(team.alice, chat.id, ChatVerb.SEE) == chat
    assert list(list_chats_between_agents(team.alice, team.workspace.id)) == [chat]
    for verb in (ChatVerb.POST, ChatVerb.ADD_PARTICIPANT, ChatVerb.REMOVE_PARTICIPANT, ChatVerb.RENAME):
        with pytest.raises(Forbidden):
            get_chat_for(team.alice, chat.id, verb)
    for person in (team.bob, team.charlie):
        with pytest.raises(NotFound):
            get_chat_for(person, chat.id, ChatVerb.SEE)
        assert not list_chats_between_agents(person, team.workspace.id)
    third = make_agent(team.workspace, team.alice, "Wren")
    with pytest.raises(NotFound):
        get_chat_for(third, chat.id, ChatVerb.SEE)
    assert chat not in chats_visible_to(team.alice)
    pairs = {(person.id, Topic("chat", chat.id)) for person in (team.alice, team.bob, team.charlie)}
    assert filter_allowed(pairs) == {(team.alice.id, Topic("chat", chat.id))}


def test_the_readers_of_a_chat_between_agents_are_both_agents_and_the_editors(team, quill):
    chat = open_chat(team, team.alice, quill, agent_id=team.robin.id)[0]
    readers = find_readers([chat, team.chat])
    assert readers == {
        chat.id: {team.robin.id, quill.id, team.alice.id},
        team.chat.id: {team.robin.id, team.alice.id, team.bob.id},
    }
    for people, found in [
        ([team.alice, team.robin], {chat, team.chat}),
        ([team.alice, team.bob], {team.chat}),
        ([team.alice, quill], {chat}),
        ([team.charlie], set()),
    ]:
        ids = [person.id for person in people]
        assert set(Chat.objects.filter(build_is_read_by_all(ids))) == found
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role="editor")
    assert team.bob.id in find_readers([chat])[chat.id]
    assert set(Chat.objects.filter(build_is_read_by_all([team.alice.id, team.bob.id]))) == {chat, team.chat}


def test_a_refused_editor_changes_nothing_in_a_chat_between_agents(team, quill):
    chat, _ = open_chat(team, quill, team.robin)
    version = Chat.objects.get(pk=chat.pk).version
    api = Api()
    api.client.force_login(team.alice)
    message = {"id": str(team.alice.id), "text": "hello"}
    assert api("POST", f"chats/{chat.id}/messages", message).status_code == 403
    assert api("PUT", f"chats/{chat.id}/hidden", {}).status_code == 403
    assert api("GET", f"chats/{chat.id}/messages").status_code == 200
    assert api("GET", f"chats/{chat.id}").json()["chat"]["is_between_agents"] is True
    assert api("PUT", f"chats/{chat.id}/read", {"seq": 1}).json() == {"last_read_seq": 0}
    assert Chat.objects.get(pk=chat.pk).version == version


def test_an_agent_works_in_a_chat_between_agents_for_members_only(team, quill):
    chat, _ = open_chat(team, quill, team.robin)
    assert get_chat_for(quill, chat.id, ChatVerb.POST, on_behalf_of=team.bob) == chat
    for person in (team.charlie, Actor.objects.get(pk=team.charlie.pk)):
        with pytest.raises(NotFound):
            get_chat_for(quill, chat.id, ChatVerb.POST, on_behalf_of=person)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    with pytest.raises(NotFound):
        get_chat_for(quill, chat.id, ChatVerb.POST, on_behalf_of=team.bob, lock=True)
