"""Joining and leaving a workspace, and the constraints of actors."""

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError

from actors.models import Actor, Kind
from agents.services import agents
from chats import services as chats
from chats.models import ChatActor
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Code, Conflict, Invalid, NotFound
from common.text import normalize_for_comparison
from events.models import AuditRecord
from events.rows import Role
from tests.people import make_agent, make_person
from workspaces import services as workspaces
from workspaces.models import Membership

pytestmark = pytest.mark.django_db


def test_removing_a_member_removes_them_from_all_chats(team):
    other = chats.create_chat(team.bob, team.workspace.id, title="Bob's")
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    assert not ChatActor.objects.filter(actor=team.bob, ended_at=None).exists()
    for chat in (team.chat, other):
        with pytest.raises(NotFound):
            get_chat_for(team.bob, chat.id, ChatVerb.SEE)


def test_the_audit_trail_tells_who_left_from_who_was_removed(team):
    carol = make_person("Carol")
    Membership.objects.create(workspace=team.workspace, actor=carol, role=Role.SUGGESTER)
    workspaces.leave_workspace(team.bob, team.workspace.id)
    workspaces.remove_member(team.alice, team.workspace.id, carol.id)
    records = AuditRecord.objects.filter(action__in=["member.left", "member.removed"]).order_by("pk")
    assert [(record.action, record.actor_id, record.object_id) for record in records] == [
        ("member.left", team.bob.id, team.bob.id),
        ("member.removed", team.alice.id, carol.id),
    ]


def test_a_participant_who_is_added_again_keeps_their_row(team):
    participant = ChatActor.objects.get(chat=team.chat, actor=team.bob)
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)
    chats.add_participant(team.alice, team.chat.id, team.bob.id)
    participant.refresh_from_db()
    assert participant.ended_at is None
    with pytest.raises(Conflict) as refusal:
        chats.add_participant(team.alice, team.chat.id, team.bob.id)
    assert refusal.value.code == Code.ALREADY_PARTICIPANT


def test_the_last_editor_cannot_be_removed(team):
    with pytest.raises(Conflict) as refusal:
        workspaces.remove_member(team.alice, team.workspace.id, team.alice.id)
    assert refusal.value.code == Code.LAST_EDITOR
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role="editor")
    workspaces.remove_member(team.alice, team.workspace.id, team.alice.id)
    assert list(Membership.objects.filter(workspace=team.workspace).values_list("actor", flat=True)) == [team.bob.id]


def test_a_link_of_a_demoted_editor_is_refused(team):
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role="editor")
    _, url = chats.create_link(team.bob, team.chat.id, role="editor", hours=1)
    token = url.rsplit("/", 1)[1]
    assert chats.get_invitation(token)
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role="suggester")
    with pytest.raises(NotFound):
        chats.accept_link(team.charlie, token)
    assert not Membership.objects.filter(actor=team.charlie, workspace=team.workspace).exists()


AGENT = {"kind": Kind.AGENT, "name": "A", "handle": "a"}
HUMAN = {"kind": Kind.HUMAN, "name": "H", "handle": "h", "username": "h", "email": "h@example.org"}


PUBLISHED_AT = datetime(2026, 1, 1, tzinfo=UTC)
PUBLIC = {**AGENT, "is_public": True, "published_at": PUBLISHED_AT}
SHIPPED = {**PUBLIC, "is_shipped": True}
PUBLISHED = {**PUBLIC, "published_by_workspace": True, "published_from_agent": True}


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({**AGENT, "kind": "ghost"}, "actor_kind_known"),
        ({**AGENT}, "agent_has_a_workspace_or_is_public"),
        ({**AGENT, "workspace": True, "email": "a@example.org"}, "agent_never_signs_in"),
        ({**AGENT, "workspace": True, "username": "a"}, "agent_never_signs_in"),
        ({**AGENT, "workspace": True, "is_active": True}, "agent_never_signs_in"),
        ({**AGENT, "workspace": True, "is_staff": True}, "agent_never_signs_in"),
        ({**PUBLISHED, "workspace": True}, "agent_has_a_workspace_or_is_public"),
        ({**SHIPPED, "published_at": None}, "public_agent_has_its_date"),
        ({**AGENT, "workspace": True, "published_at": PUBLISHED_AT}, "only_public_agents_are_published"),
        ({**AGENT, "workspace": True, "handle": "robin"}, "agent_handle_unique_in_workspace"),
        ({**SHIPPED, "published_by_workspace": True}, "shipped_agents_have_no_publisher"),
        ({**SHIPPED, "published_from_agent": True}, "shipped_agents_have_no_publisher"),
        ({**PUBLIC}, "published_agents_have_a_publisher"),
        ({**PUBLISHED, "published_from_agent": None}, "published_agents_have_a_publisher"),
        ({**SHIPPED, "name": "ＫＮＯＷＮ", "handle": "other"}, "public_agent_name_unique"),
        ({**SHIPPED, "normalized_name": None}, "public_agent_has_normalized_name"),
        ({**SHIPPED, "normalized_name": ""}, "public_agent_has_normalized_name"),
        ({**AGENT, "workspace": True, "normalized_name": "a"}, "public_agent_has_normalized_name"),
        ({**SHIPPED, "name": "Other", "handle": "known"}, "public_agent_handle_unique"),
        (
            {**PUBLISHED, "published_from_agent": "robin", "name": "Again", "handle": "again"},
            "published_once_per_origin",
        ),
        ({**HUMAN, "workspace": True}, "human_is_global_and_known"),
        ({**HUMAN, "email": None}, "human_is_global_and_known"),
        ({**HUMAN, "username": None}, "human_is_global_and_known"),
        ({**HUMAN, "username": "other"}, "human_is_global_and_known"),
        ({**HUMAN, "description": "x"}, "human_is_global_and_known"),
        ({**HUMAN, "is_public": True, "published_at": PUBLISHED_AT}, "human_is_global_and_known"),
        ({**HUMAN, "handle": "alice", "username": "alice"}, "actors_actor_username_key"),
        ({**HUMAN, "email": "alice@example.org"}, "actors_actor_email_key"),
    ],
    ids=str,
)
def test_the_database_refuses_invalid_actors_by_the_expected_constraint(team, fields, rule):
    wren = make_agent(team.workspace, team.alice, "Wren")
    Actor.objects.create(**named({**SHIPPED, "name": "Known", "handle": "known"}, team, None))
    copy = {**PUBLISHED, "name": "Copy", "handle": "copy"}
    Actor.objects.create(**named(copy, team, team.robin))
    before = Actor.objects.count()
    with pytest.raises(IntegrityError) as refusal, transaction.atomic():
        Actor.objects.create(
            **named(fields, team, team.robin if fields.get("published_from_agent") == "robin" else wren)
        )
    assert rule_of(refusal.value) == rule
    assert Actor.objects.count() == before


def rule_of(error: IntegrityError) -> str:
    """Return the name of the violated constraint."""
    cause = error.__cause__
    assert isinstance(cause, psycopg.Error)
    return cause.diag.constraint_name or ""


def named(fields, team, origin):
    """Return the fields with rows in place of `True`, and the normalized name of a public agent."""
    rows = {"workspace": team.workspace, "published_by_workspace": team.workspace, "published_from_agent": origin}
    normalized = {"normalized_name": normalize_for_comparison(fields["name"])} if "is_public" in fields else {}
    return normalized | {name: rows[name] if name in rows and value else value for name, value in fields.items()}


def test_every_constraint_of_an_actor_is_tested():
    [mark] = test_the_database_refuses_invalid_actors_by_the_expected_constraint.pytestmark
    tried = {rule for _, rule in mark.args[1]}
    assert {constraint.name for constraint in Actor._meta.constraints} <= tried


def published(team):
    """Create a public copy of Robin, without a service."""
    return Actor.objects.create(**named({**PUBLISHED, "name": "Copy", "handle": "copy"}, team, team.robin))


def delete_rows_of(agent):
    """Delete all rows of an agent without a service, except the agent that was published from it."""
    with connection.cursor() as cursor:
        cursor.execute("UPDATE actors_actor SET current_spec_id = NULL WHERE id = %s", [agent.id])
        for table, column in (
            ("agents_agentspec", "agent_id"),
            ("chats_chatactor", "actor_id"),
            ("actors_actor", "id"),
        ):
            cursor.execute(f"DELETE FROM {table} WHERE {column} = %s", [agent.id])
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def test_the_original_of_a_public_agent_cannot_be_deleted_by_the_service_or_in_the_database(team):
    copy = published(team)
    with pytest.raises(Conflict) as refusal:
        agents.delete_agent(team.alice, team.robin.id)
    assert refusal.value.code == Code.STILL_PUBLIC
    with pytest.raises(ProtectedError):
        team.robin.delete()
    with pytest.raises(IntegrityError) as refused, transaction.atomic():
        delete_rows_of(team.robin)
    assert "published_from_agent" in rule_of(refused.value)
    team.robin.refresh_from_db()
    assert (team.robin.status, Actor.objects.filter(pk=copy.pk).exists()) == ("ready", True)
    Actor.objects.filter(pk=copy.pk).update(taken_down_at=now())
    agents.delete_agent(team.alice, team.robin.id)
    team.robin.refresh_from_db()
    assert team.robin.status == "deleted"


def test_a_workspace_with_another_handle_keeps_the_former_ones(team):
    args: dict[str, Any] = {"name": "Harbour", "time_zone": None}
    first = team.workspace.handle
    workspaces.create_workspace(team.charlie, name="Lighthouse", handle="taken")
    for revision, handle in enumerate(("Harbour", "harbour", "@quay", "harbour"), team.workspace.revision):
        renamed = workspaces.rename_workspace(team.alice, team.workspace.id, handle=handle, revision=revision, **args)
    assert (renamed.handle, renamed.former_handles) == ("harbour", [first, "quay"])
    for handle, error in (("taken", Conflict), ("a handle", Invalid), ("all", Conflict)):
        with pytest.raises(error):
            workspaces.rename_workspace(team.alice, team.workspace.id, handle=handle, revision=renamed.revision, **args)
    renamed.refresh_from_db()
    assert (renamed.handle, renamed.former_handles) == ("harbour", [first, "quay"])
    with pytest.raises(NotFound):
        workspaces.rename_workspace(team.charlie, team.workspace.id, handle="mine", revision=renamed.revision, **args)
