"""Rights that are withdrawn while an actor waits for a lock: the actor is refused after the wait."""

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from agents.permissions import AgentVerb, get_agent_for
from agents.services import agents
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Forbidden, NotFound
from common.ids import new_id
from events.rows import Role
from suggestions import services as suggestions
from suggestions.models import Suggestion
from suggestions.permissions import SuggestionVerb, get_suggestion_for
from tests.api.operations import make_merge, make_suggestion
from tests.api.test_rights import client_for
from tests.concurrency import ConcurrentTransaction, count_sessions_that_wait
from tests.people import make_agent, make_team
from workspaces import services as workspaces
from workspaces.models import Membership
from workspaces.permissions import WorkspaceVerb, get_workspace_for

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def editors(db):
    """A team in which Bob is an editor as well, and Charlie a suggester."""
    team = make_team()
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role=Role.EDITOR)
    workspaces.join_workspace(team.charlie, team.workspace.id, role=Role.SUGGESTER, invited_by=team.alice)
    return team


def remove_bob(team):
    workspace = get_workspace_for(team.alice, team.workspace.id, WorkspaceVerb.REMOVE_MEMBER, lock=True)
    workspaces.remove_member(team.alice, workspace.id, team.bob.id)


def demote_bob(team):
    workspace = get_workspace_for(team.alice, team.workspace.id, WorkspaceVerb.CHANGE_ROLE, lock=True)
    workspaces.change_role(team.alice, workspace.id, team.bob.id, role=Role.SUGGESTER)


@pytest.mark.parametrize(("withdraw", "refusal"), [(remove_bob, NotFound), (demote_bob, Forbidden)])
def test_FAIR6_an_editor_who_is_removed_while_waiting_for_a_lock_cannot_promote(editors, withdraw, refusal):
    def promote():
        workspace = get_workspace_for(editors.bob, editors.workspace.id, WorkspaceVerb.CHANGE_ROLE, lock=True)
        workspaces.change_role(editors.bob, workspace.id, editors.charlie.id, role=Role.EDITOR)

    with transaction.atomic():
        withdraw(editors)
        waiting = ConcurrentTransaction(promote)
    with pytest.raises(refusal):
        waiting.result()
    assert Membership.objects.get(workspace=editors.workspace, actor=editors.charlie).role == Role.SUGGESTER


def remove_bob_from_chat(team):
    chat = get_chat_for(team.alice, team.chat.id, ChatVerb.REMOVE_PARTICIPANT, lock=True)
    chats.remove_participant(team.alice, chat.id, team.bob.id)


@pytest.mark.parametrize("withdraw", [remove_bob_from_chat, remove_bob])
def test_FAIR6_a_participant_who_is_removed_while_waiting_for_a_lock_cannot_rename_the_chat(editors, withdraw):
    def rename():
        chat = get_chat_for(editors.bob, editors.chat.id, ChatVerb.RENAME, lock=True)
        chats.rename_chat(editors.bob, chat.id, title="Bob's")

    with transaction.atomic():
        withdraw(editors)
        waiting = ConcurrentTransaction(rename)
    with pytest.raises(NotFound):
        waiting.result()
    assert Chat.objects.get(pk=editors.chat.pk).title == "Room"


@pytest.mark.parametrize("withdraw", [remove_bob_from_chat, remove_bob])
def test_FAIR6_a_participant_who_is_removed_while_posting_cannot_post(editors, withdraw):
    id = new_id()
    with transaction.atomic():
        withdraw(editors)
        posting = ConcurrentTransaction(
            lambda: chats.post_message(editors.bob, editors.chat.id, id=id, text="still here")
        )
    with pytest.raises(NotFound):
        posting.result()
    assert not Message.objects.filter(pk=id).exists()


def test_FAIR6_an_editor_who_is_demoted_while_waiting_for_a_lock_cannot_save_an_agent(editors):
    with transaction.atomic():
        get_agent_for(editors.alice, editors.robin.id, AgentVerb.SAVE, lock=True)
        demote_bob(editors)
        waiting = ConcurrentTransaction(lambda: get_agent_for(editors.bob, editors.robin.id, AgentVerb.SAVE, lock=True))
    with pytest.raises(Forbidden):
        waiting.result()


def test_an_agent_that_changes_during_the_wait_for_its_lock_is_returned_as_changed(editors):
    other = make_agent(editors.workspace, editors.alice, "Other").current_spec
    with transaction.atomic():
        agent = get_agent_for(editors.alice, editors.robin.id, AgentVerb.SAVE, lock=True)
        agent.current_spec = other
        agent.save(update_fields=["current_spec"])
        waiting = ConcurrentTransaction(
            lambda: get_agent_for(editors.bob, editors.robin.id, AgentVerb.SAVE, lock=True).current_spec_id
        )
    assert other is not None
    assert waiting.result() == other.pk


def test_FAIR6_an_editor_who_is_demoted_while_waiting_for_a_lock_cannot_reject_a_suggestion(editors):
    message = chats.post_message(editors.alice, editors.chat.id, text="hello", wake="nobody")[0]
    suggestion = make_suggestion(editors, message)
    with transaction.atomic():
        get_chat_for(editors.alice, editors.chat.id, ChatVerb.POST, lock=True)
        demote_bob(editors)
        waiting = ConcurrentTransaction(
            lambda: get_suggestion_for(editors.bob, suggestion.id, SuggestionVerb.REJECT, lock=True)
        )
    with pytest.raises(Forbidden):
        waiting.result()


@pytest.mark.parametrize("what", ["chat", "workspace", "agent", "merge"])
def test_an_outsider_cannot_lock_an_object(what):
    team = make_team()
    message = chats.post_message(team.alice, team.chat.id, text="hello", wake="nobody")[0]
    theirs = make_team(suffix="2")
    suggestion = make_suggestion(team, message)
    make_merge(team, suggestion)
    ask = {
        "chat": lambda: get_chat_for(theirs.alice, team.chat.id, ChatVerb.POST, lock=True),
        "workspace": lambda: get_workspace_for(theirs.alice, team.workspace.id, WorkspaceVerb.SEE, lock=True),
        "agent": lambda: get_agent_for(theirs.alice, team.robin.id, AgentVerb.SAVE, lock=True),
        "merge": lambda: suggestions.merge_suggestions(
            theirs.alice, theirs.robin.id, id=new_id(), suggestion_ids=[], chat_id=team.chat.id
        ),
    }[what]
    with transaction.atomic():
        # Whoever waited for the rows of the others would wait for us, and be seen to.
        Chat.objects.select_for_update().get(pk=team.chat.pk)
        type(team.workspace).objects.select_for_update().get(pk=team.workspace.pk)
        type(team.robin).objects.select_for_update().get(pk=team.robin.pk)
        asking = ConcurrentTransaction(ask)
        assert count_sessions_that_wait() == 0
    with pytest.raises(NotFound):
        asking.result()
    assert Suggestion.objects.get().state == "pending"


def test_getting_a_chat_is_one_query_with_and_without_a_lock(small_team, django_assert_num_queries):
    """Without a wait, rights are read once."""
    team = small_team
    with transaction.atomic(), django_assert_num_queries(1):
        get_chat_for(team.alice, team.chat.id, ChatVerb.POST, lock=True)
    with transaction.atomic(), django_assert_num_queries(1):
        get_chat_for(team.alice, team.chat.id, ChatVerb.POST)


@pytest.fixture
def small_team(db):
    return make_team()


def test_a_post_without_a_wait_reads_rights_once(small_team):
    team = small_team

    def rights_read():
        with CaptureQueriesContext(connection) as queries:
            chats.post_message(team.alice, team.chat.id, id=new_id(), text="hi", wake="nobody")
        return sum("chats_chatgrant" in query["sql"] for query in queries.captured_queries)

    assert [rights_read() for _ in range(3)] == [1, 1, 1]


# --- participants that are added during a removal ---------------------------------------------------------------------


@pytest.fixture
def private(editors):
    """A chat with Charlie only."""
    return chats.create_chat(editors.charlie, editors.workspace.id, title="Private")


def add_bob(team, private):
    client_for(team, "charlie").ok("POST", f"chats/{private.id}/participants", {"actor_id": str(team.bob.id)})


def create_chat_with_bob(team, private):
    body = {"title": "Other", "actor_ids": [str(team.bob.id)]}
    client_for(team, "charlie").ok("POST", f"workspaces/{team.workspace.id}/chats", body)


def create_chat_as_bob(team, private):
    client_for(team, "bob").ok("POST", f"workspaces/{team.workspace.id}/chats", {"title": "Bob's"})


def count_participations(actor):
    return ChatActor.objects.filter(actor=actor, ended_at=None).count()


@pytest.mark.parametrize("give", [add_bob, create_chat_with_bob, create_chat_as_bob])
def test_FAIR6_a_member_cannot_be_added_to_a_chat_during_their_removal(editors, private, give):
    with transaction.atomic():
        remove_bob(editors)
        giving = ConcurrentTransaction(lambda: give(editors, private))
    with pytest.raises(AssertionError, match="40[04]"):
        giving.result()
    assert count_participations(editors.bob) == 0


@pytest.mark.parametrize("give", [add_bob, create_chat_with_bob, create_chat_as_bob])
def test_FAIR6_a_removal_also_ends_a_participation_that_is_added_at_the_same_time(editors, private, give):
    with transaction.atomic():
        give(editors, private)
        removing = ConcurrentTransaction(lambda: remove_bob(editors))
    removing.result()
    assert count_participations(editors.bob) == 0


@pytest.mark.parametrize("is_first", [True, False])
def test_an_agent_cannot_be_added_to_a_chat_during_its_deletion(editors, private, is_first):
    def add():
        body = {"actor_id": str(editors.robin.id)}
        return client_for(editors, "charlie")("POST", f"chats/{private.id}/participants", body).status_code

    def delete():
        agents.delete_agent(editors.alice, editors.robin.id)

    with transaction.atomic():
        (delete if is_first else add)()
        other = ConcurrentTransaction(add if is_first else delete)
    assert other.result() == (404 if is_first else None)
    assert count_participations(editors.robin) == 0
