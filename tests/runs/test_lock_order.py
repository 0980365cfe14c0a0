"""Concurrent changes lock in one order: the workspace, the chats by id, then other rows."""

import pytest
from django.db import transaction

from actors.models import Actor, AgentStatus
from agents.models import Draft
from agents.services import agents, drafts
from boards import services as boards
from boards.plan import PlannedTask
from chats import services as chats
from chats.models import Chat, ChatActor
from common.errors import NotFound
from common.ids import new_id
from runs.models import Run
from runs.services import claims, runs
from tests.concurrency import ConcurrentTransaction
from workspaces import services as workspaces
from workspaces.permissions import WorkspaceVerb, get_workspace_for

pytestmark = pytest.mark.django_db(transaction=True)


def lock_chat_row(chat: Chat) -> Chat:
    return Chat.objects.select_for_update(no_key=True).get(pk=chat.pk)


def test_an_agent_is_deleted_while_its_run_is_started(team):
    """The run that waits when it is asked for is at work when the chat is free."""
    with transaction.atomic():
        chats.post_message(team.alice, team.chat.id, text="hello")
    with transaction.atomic():
        lock_chat_row(team.chat)
        deleting = ConcurrentTransaction(lambda: agents.delete_agent(team.alice, team.robin.id))
        assert claims.claim_run(Run.objects.get().pk, "host:1:x")
    deleting.result()
    assert Run.objects.get().stop_requested_at is not None
    assert Actor.objects.get(pk=team.robin.pk).status == AgentStatus.DELETED
    assert not ChatActor.objects.filter(actor=team.robin, ended_at=None).exists()


def test_an_agent_is_renamed_while_its_draft_is_saved(team):
    draft = drafts.claim_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id)
    revision = team.robin.revision
    with transaction.atomic():
        lock_chat_row(team.chat)
        renaming = ConcurrentTransaction(
            lambda: agents.update_agent_profile(team.alice, team.robin.id, name="New", revision=revision)
        )
        drafts.save_draft(
            actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id, revision=draft.revision, base_version=1
        )
    renaming.result()
    assert Actor.objects.get(pk=team.robin.pk).name == "New"
    assert Draft.objects.get().outcome == "saved"


def test_a_member_is_removed_while_a_run_starts(team):
    with transaction.atomic():
        chats.post_message(team.bob, team.chat.id, text="hello")
    run = Run.objects.get()
    with transaction.atomic():
        workspace = get_workspace_for(team.alice, team.workspace.id, WorkspaceVerb.REMOVE_MEMBER, lock=True)
        claiming = ConcurrentTransaction(lambda: claims.claim_run(run.pk, "host:1:x"))
        workspaces.remove_member(team.alice, workspace.id, team.bob.id)
    claiming.result()
    assert Run.objects.get().state == "running"


def test_a_person_who_is_removed_while_they_accept_a_link_is_not_a_member(team):
    _, url = chats.create_link(team.alice, team.chat.id, role="editor", hours=1)
    with transaction.atomic():
        workspace = get_workspace_for(team.alice, team.workspace.id, WorkspaceVerb.REMOVE_MEMBER, lock=True)
        joining = ConcurrentTransaction(lambda: chats.accept_link(team.bob, url.rsplit("/", 1)[1]))
        workspaces.remove_member(team.alice, workspace.id, team.bob.id)
    with pytest.raises(NotFound):
        joining.result()
    assert not ChatActor.objects.filter(actor=team.bob, chat=team.chat, ended_at=None).exists()
    assert not team.workspace.memberships.filter(actor=team.bob).exists()


def test_a_board_is_stopped_while_one_of_its_tasks_ends(team):
    """Both lock the chat before the board: the one that comes second finds what the first has written."""
    with transaction.atomic():
        plan = [PlannedTask(agent_id=team.robin.id, description=text) for text in ("One", "Two")]
        board, _ = boards.create_board(team.alice, team.chat.id, id=new_id(), user_input="Go", tasks=plan)
    first, second = Run.objects.order_by("pk")
    with transaction.atomic():
        lock_chat_row(team.chat)
        stopping = ConcurrentTransaction(lambda: boards.stop_board(team.alice, board.id))
        runs.stop_run(team.alice, first.id)
    stopping.result()
    board.refresh_from_db()
    assert (board.state, board.reason_code) == ("failed", "stopped")
    assert list(board.tasks.order_by("number").values_list("state", flat=True)) == ["failed", "cancelled"]
    assert not Run.objects.filter(pk__in=[first.pk, second.pk]).exclude(state="stopped").exists()


def test_a_board_is_advanced_while_its_person_is_removed(team):
    with transaction.atomic():
        plan = [PlannedTask(agent_id=team.robin.id, description="One")]
        board, _ = boards.create_board(team.bob, team.chat.id, id=new_id(), user_input="Go", tasks=plan)
    with transaction.atomic():
        workspace = get_workspace_for(team.alice, team.workspace.id, WorkspaceVerb.REMOVE_MEMBER, lock=True)
        advancing = ConcurrentTransaction(lambda: boards.advance_board(board.id))
        workspaces.remove_member(team.alice, workspace.id, team.bob.id)
    advancing.result()
    board.refresh_from_db()
    assert board.state == "failed"
