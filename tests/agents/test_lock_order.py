"""People who change many things at once stand in one line: the workspace, the chats by id, then anything else."""

import pytest
from django.db import transaction

from actors.models import Actor, AgentStatus
from agents.models import Draft, Run
from agents.services import claims, drafts, specs
from chats import services as chats
from chats.models import Chat, ChatActor
from tests.meanwhile import Meanwhile
from workspaces import services as workspaces
from workspaces.permissions import WorkspaceVerb, get_workspace_for

pytestmark = pytest.mark.django_db(transaction=True)


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
    deleting.result()
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
    renaming.result()
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
    claiming.result()
    assert Run.objects.get().state == "running"


def test_who_is_removed_while_they_use_a_link_is_let_in_again_whole_or_not_at_all(team):
    _, url = chats.create_link(chat=team.chat, creator=team.alice, role="editor", hours=1)
    with transaction.atomic():
        workspace = get_workspace_for(team.alice, team.workspace.id, WorkspaceVerb.REMOVE_MEMBER, lock=True)
        joining = Meanwhile(lambda: chats.accept_link(token=url.rsplit("/", 1)[1], actor=team.bob))
        workspaces.remove_member(workspace=workspace, actor=team.alice, member_id=team.bob.id)
    joining.result()
    sits = ChatActor.objects.filter(actor=team.bob, chat=team.chat, ended_at=None).exists()
    assert sits == team.workspace.memberships.filter(actor=team.bob).exists()
    assert sits
