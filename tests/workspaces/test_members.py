"""Coming to a workspace and leaving it."""

import pytest
from django.db import IntegrityError, transaction

from actors.models import Actor, Kind
from chats import services as chats
from chats.models import ChatActor
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Code, Conflict, NotFound
from workspaces import services as workspaces
from workspaces.models import Membership

pytestmark = pytest.mark.django_db


def test_who_leaves_the_workspace_leaves_all_its_chats(team):
    other = chats.create_chat(workspace=team.workspace, creator=team.bob, title="Bob's")
    workspaces.remove_member(workspace=team.workspace, actor=team.alice, member_id=team.bob.id)
    assert not ChatActor.objects.filter(actor=team.bob, ended_at=None).exists()
    for chat in (team.chat, other):
        with pytest.raises(NotFound):
            get_chat_for(team.bob, chat.id, ChatVerb.SEE)


def test_coming_back_finds_the_same_place(team):
    place = ChatActor.objects.get(chat=team.chat, actor=team.bob)
    chats.remove_member(chat=team.chat, remover=team.alice, actor_id=team.bob.id)
    chats.add_member(chat=team.chat, adder=team.alice, actor_id=team.bob.id)
    place.refresh_from_db()
    assert place.ended_at is None
    with pytest.raises(Conflict) as refusal:
        chats.add_member(chat=team.chat, adder=team.alice, actor_id=team.bob.id)
    assert refusal.value.code == Code.ALREADY_MEMBER


def test_the_last_editor_stays(team):
    with pytest.raises(Conflict) as refusal:
        workspaces.remove_member(workspace=team.workspace, actor=team.alice, member_id=team.alice.id)
    assert refusal.value.code == Code.LAST_EDITOR
    workspaces.change_role(workspace=team.workspace, actor=team.alice, member_id=team.bob.id, role="editor")
    workspaces.remove_member(workspace=team.workspace, actor=team.alice, member_id=team.alice.id)
    assert list(Membership.objects.filter(workspace=team.workspace).values_list("actor", flat=True)) == [team.bob.id]


def test_a_link_is_worth_what_its_maker_may_do_now(team):
    workspaces.change_role(workspace=team.workspace, actor=team.alice, member_id=team.bob.id, role="editor")
    _, url = chats.create_link(chat=team.chat, creator=team.bob, role="editor", hours=1)
    token = url.rsplit("/", 1)[1]
    assert chats.read_link(token)
    workspaces.change_role(workspace=team.workspace, actor=team.alice, member_id=team.bob.id, role="suggester")
    with pytest.raises(NotFound):
        chats.accept_link(token=token, actor=team.charlie)
    assert not Membership.objects.filter(actor=team.charlie, workspace=team.workspace).exists()


AGENT = {"kind": Kind.AGENT, "name": "A", "handle": "a"}
HUMAN = {"kind": Kind.HUMAN, "name": "H", "handle": "h", "username": "h", "email": "h@example.org"}


@pytest.mark.parametrize(
    "fields",
    [
        {**AGENT},
        {**AGENT, "workspace": True, "email": "a@example.org"},
        {**AGENT, "workspace": True, "username": "a"},
        {**AGENT, "workspace": True, "is_active": True},
        {**AGENT, "workspace": True, "is_public": True},
        {**AGENT, "is_public": True},
        {**HUMAN, "workspace": True},
        {**HUMAN, "email": None},
        {**HUMAN, "username": None},
        {**HUMAN, "username": "other"},
        {**HUMAN, "description": "x"},
        {**HUMAN, "is_public": True},
        {**HUMAN, "handle": "alice", "username": "alice"},
        {**HUMAN, "email": "alice@example.org"},
    ],
    ids=str,
)
def test_S0_2_the_database_refuses_what_the_document_forbids(team, fields):
    fields = {**fields, "workspace": team.workspace if fields.get("workspace") else None}
    with pytest.raises(IntegrityError), transaction.atomic():
        Actor.objects.create(**fields)
