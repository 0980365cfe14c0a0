"""People who change many things at once stand in one line: the workspace, the chats by id, then anything else."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

from actors.models import Actor, AgentStatus
from agents.models import Draft, Run
from agents.services import claims, drafts, specs
from chats import services as chats
from chats.models import Chat, ChatActor
from workspaces import services as workspaces
from workspaces.permissions import WorkspaceVerb, get_workspace_for

pytestmark = pytest.mark.django_db(transaction=True)


class Meanwhile:
    """Something that another person does in a transaction of its own, while we are in ours."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._threads = ThreadPoolExecutor(1)
        self._done = self._threads.submit(self._do, work)
        self._until_it_waits_for_us()

    @staticmethod
    def _do(work: Callable[[], Any]) -> None:
        try:
            with transaction.atomic():
                work()
        finally:
            connection.close()

    def _until_it_waits_for_us(self) -> None:
        until = time.monotonic() + 10
        while not self._done.done() and time.monotonic() < until and not self._waits():
            time.sleep(0.02)

    @staticmethod
    def _waits() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return bool(cursor.fetchone()[0])

    def went_well(self) -> None:
        """Raises what it raised."""
        self._done.result(10)
        self._threads.shutdown()


def held(chat: Chat) -> Chat:
    return Chat.objects.select_for_update(no_key=True).get(pk=chat.pk)


def test_an_agent_is_deleted_while_its_run_is_begun(team):
    """The run that waits when it is asked for is at work when the chat is free."""
    with transaction.atomic():
        chats.post_message(chat=team.chat, author=team.alice, text="hello")
    with transaction.atomic():
        held(team.chat)
        deleting = Meanwhile(lambda: specs.delete_agent(agent=team.robin, actor=team.alice))
        assert claims.claim(Run.objects.get().pk, "host:1:x")
    deleting.went_well()
    assert Run.objects.get().stop_requested_at is not None
    assert Actor.objects.get(pk=team.robin.pk).status == AgentStatus.DELETED
    assert not ChatActor.objects.filter(actor=team.robin, ended_at=None).exists()


def test_an_agent_is_renamed_while_its_draft_is_saved(team):
    draft = drafts.take_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id)
    revision = team.robin.revision
    with transaction.atomic():
        held(team.chat)
        renaming = Meanwhile(
            lambda: specs.rename_agent(
                agent=team.robin, actor=team.alice, name="New", description=None, revision=revision
            )
        )
        drafts.save_draft(
            actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id, revision=draft.revision, base_version=1
        )
    renaming.went_well()
    assert Actor.objects.get(pk=team.robin.pk).name == "New"
    assert Draft.objects.get().ended_how == "saved"


def test_a_member_is_removed_while_a_run_begins(team):
    with transaction.atomic():
        chats.post_message(chat=team.chat, author=team.bob, text="hello")
    run = Run.objects.get()
    with transaction.atomic():
        workspace = get_workspace_for(team.alice, team.workspace.id, WorkspaceVerb.REMOVE_MEMBER, lock=True)
        claiming = Meanwhile(lambda: claims.claim(run.pk, "host:1:x"))
        workspaces.remove_member(workspace=workspace, actor=team.alice, member_id=team.bob.id)
    claiming.went_well()
    assert Run.objects.get().state == "running"


def test_who_is_removed_while_they_use_a_link_is_let_in_again_whole_or_not_at_all(team):
    _, url = chats.create_link(chat=team.chat, creator=team.alice, role="editor", hours=1)
    with transaction.atomic():
        workspace = get_workspace_for(team.alice, team.workspace.id, WorkspaceVerb.REMOVE_MEMBER, lock=True)
        joining = Meanwhile(lambda: chats.accept_link(token=url.rsplit("/", 1)[1], actor=team.bob))
        workspaces.remove_member(workspace=workspace, actor=team.alice, member_id=team.bob.id)
    joining.went_well()
    sits = ChatActor.objects.filter(actor=team.bob, chat=team.chat, ended_at=None).exists()
    assert sits == team.workspace.memberships.filter(actor=team.bob).exists()
    assert sits
