"""Deleting a workspace: who may, what refuses it, what ends at once, and what the purge deletes."""

from datetime import datetime, timedelta

import pytest
from django.apps import apps
from django.db import connection, transaction
from django.db.models import ForeignKey

from actors.models import Actor
from agents.models import AgentSpec
from agents.permissions import agents_visible_to
from chats import services as chats
from chats.models import Chat, Message
from chats.permissions import chats_visible_to
from common.clock import now
from common.errors import AppError, Code, Conflict, Forbidden, Invalid, NotFound, QuotaReached, Unavailable
from common.secrets import Secret
from embeddings.models import EmbeddedChat
from embeddings.services.embedding import claim_due_chats, read_batch
from events.models import AuditRecord
from events.stream import get_partials
from notifications.models import Notification
from notifications.selectors import build_notification_rows, list_notifications
from publishing import services as publishing
from runs.models import Run
from runs.services import runs
from runs.services.claims import claim_run
from schedules.services.firing import fire_due_schedules
from tests.admin.environment import build_path, run_action, sign_in_as
from tests.api.client import sign_in
from tests.api.fixtures import make_team_with_things
from tests.api.test_rights import client_for, fingerprint
from tests.concurrency import ConcurrentTransaction, count_sessions_that_wait
from tests.factories.actors import PASSWORD
from tests.factories.embeddings import EmbeddingModelFactory
from tests.factories.runs import RunFactory
from tests.factories.schedules import ScheduleFactory
from tests.factories.usage import LLMCallFactory
from tests.factories.webhooks import make_delivery, make_webhook
from tests.people import make_agent, make_operator, make_person
from tests.publishing.publications import LISTING, publish
from tools.models import ToolServer, WorkspaceTool
from usage.models import LLMCall
from webhooks.models import Delivery
from webhooks.services.deliveries import _claim_next, _list_due_webhooks
from workspaces import services
from workspaces import services as workspaces
from workspaces.models import Credential, DeletedMembership, Membership, PastMembership, Workspace
from workspaces.permissions import workspaces_restorable_by, workspaces_visible_to
from workspaces.services import PURGE_TASK
from workspaces.tasks import purge_workspace, resume_purges

pytestmark = pytest.mark.django_db

KEPT = {"workspaces.workspace", "actors.actor", "events.auditrecord", "usage.llmcall", "notifications.notification"}
"""The tables with rows of a deleted workspace that stay."""


def delete(team, by="alice", **fields):
    return workspaces.delete_workspace(team[by], team.workspace.id, **{"name": "Lighthouse"} | fields)


def end_waiting_time(workspace):
    """Let the time be over in which the deletion can be undone."""
    Workspace.objects.filter(pk=workspace.id).update(deleted_at=now() - timedelta(days=14, seconds=1))


def purge(workspace):
    """Purge the workspace after its time. Return the number of batches."""
    end_waiting_time(workspace)
    batches = 0
    while workspaces.purge_workspace(workspace.id):
        batches += 1
    return batches


def test_its_members_lose_everything_at_once_and_the_others_are_notified(team):
    delete(team)
    for person in (team.alice, team.bob):
        assert not workspaces_visible_to(person).exists()
        assert not chats_visible_to(person).exists()
        assert not agents_visible_to(person).filter(workspace=team.workspace).exists()
        with pytest.raises(NotFound):
            chats.post_message(person, team.chat.id, text="hello")
    assert not Membership.objects.filter(workspace=team.workspace).exists()
    assert Actor.objects.get(pk=team.robin.pk).status == "deleted"
    [row] = build_notification_rows(team.bob, list_notifications(team.bob))
    assert (row.type, row.actor_name, row.excerpt, row.is_read) == ("workspace_deleted", "Alice", "Lighthouse", False)
    assert not Notification.objects.exclude(person=team.bob).exists()
    [record] = AuditRecord.objects.filter(action="workspace.deleted")
    assert (record.actor, record.workspace_id, record.facts) == (
        team.alice,
        team.workspace.id,
        {"name": "Lighthouse", "members": 2, "as_operator": False},
    )


def test_its_keys_are_not_used_its_invite_links_end_and_its_handle_is_free_after_the_purge(db):
    team, _ = make_team_with_things()
    workspaces.set_model(
        team.alice, team.workspace.id, provider="openai", default_model="gpt", revision=0, key=Secret("sk-example-key")
    )
    _, url = chats.create_link(team.alice, team.chat.id, role="editor", hours=1)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    delete(team)
    for person in (team.alice, team.charlie):
        with pytest.raises(NotFound) as refusal:
            chats.accept_link(person, url.rsplit("/", 1)[1])
        assert refusal.value.code == Code.LINK_DEAD
    with pytest.raises(Conflict):
        workspaces.create_workspace(team.charlie, name="Lighthouse", handle=team.workspace.handle)
    assert workspaces.create_workspace(team.charlie, name="Lighthouse").handle != team.workspace.handle
    purge(team.workspace)
    for model in (Credential, ToolServer, WorkspaceTool, PastMembership, DeletedMembership):
        assert not model._default_manager.filter(workspace=team.workspace).exists()
    again = workspaces.create_workspace(team.charlie, name="Lighthouse", handle=team.workspace.handle)
    assert again.handle == team.workspace.handle


def test_a_public_agent_refuses_it_by_name_and_nothing_changes(team):
    copy = publish(team)
    before = fingerprint()
    for by, fields in (("alice", {}), ("operator", {"as_operator": True})):
        actor = make_operator() if by == "operator" else team.alice
        before = fingerprint()
        with pytest.raises(Conflict) as refusal:
            workspaces.delete_workspace(actor, team.workspace.id, name="Lighthouse", **fields)
        assert refusal.value.code == Code.WORKSPACE_HAS_PUBLIC_AGENTS
        assert refusal.value.hints == ["Take Interpreter (@interpreter) down first."]
        assert refusal.value.data["agents"] == [
            {"agent_id": str(copy.id), "name": "Interpreter", "handle": "interpreter", "origin_id": str(team.robin.id)}
        ]
        assert fingerprint() == before
    publishing.take_down_agent(team.alice, copy.id)
    delete(team)
    purge(team.workspace)
    copy.refresh_from_db()
    assert (copy.published_by_workspace, copy.published_from_agent, copy.taken_down_at is None) == (
        team.workspace,
        team.robin,
        False,
    )
    assert AgentSpec.objects.filter(agent=copy).exists()


@pytest.mark.parametrize(
    ("who", "fields", "error"),
    [
        ("bob", {}, Forbidden),
        ("charlie", {}, NotFound),
        ("robin", {}, Forbidden),
        ("alice", {"name": "lighthouse"}, Invalid),
        ("alice", {"name": ""}, Invalid),
        ("alice", {"as_operator": True}, Forbidden),
    ],
    ids=str,
)
def test_others_may_not_and_another_name_is_no_confirmation(team, who, fields, error):
    before = fingerprint()
    with pytest.raises(error):
        delete(team, who, **fields)
    assert fingerprint() == before


def test_a_second_request_finds_nothing_and_changes_nothing(team):
    delete(team)
    operator = make_operator()
    before = fingerprint()
    with pytest.raises(NotFound):
        delete(team)
    with pytest.raises(NotFound):
        workspaces.delete_workspace(operator, team.workspace.id, name="Lighthouse", as_operator=True)
    assert fingerprint() == before
    api = sign_in(team.alice.email, PASSWORD)
    body = {"name": "Lighthouse", "password": PASSWORD}
    assert api("POST", f"workspaces/{team.workspace.id}/deletion", body).status_code == 404


def test_an_operator_deletes_it_and_is_not_named(team):
    workspaces.delete_workspace(make_operator(), team.workspace.id, name=" Lighthouse ", as_operator=True)
    assert set(Notification.objects.values_list("person__name", "actor_name")) == {("Alice", ""), ("Bob", "")}


def test_the_action_of_the_admin_needs_the_name_and_shows_why_it_is_refused(team):
    copy = publish(team, name="<b x-init=alert(1)>Hi</b>")
    client = sign_in_as(make_operator())
    page = build_path(Workspace, team.workspace.pk, "change")
    text = run_action(client, team.workspace, "delete_workspace", workspace_name="Lighthouse").content.decode()
    assert "&lt;b x-init=alert(1)&gt;Hi&lt;/b&gt; (@interpreter)" in text
    assert "<b x-init" not in text
    publishing.take_down_agent(team.alice, copy.id)
    run_action(client, team.workspace, "delete_workspace", workspace_name="Another")
    assert Workspace.objects.filter(pk=team.workspace.pk, deleted_at=None).exists()
    assert "delete-workspace" in client.get(page).content.decode()
    run_action(client, team.workspace, "delete_workspace", workspace_name="Lighthouse")
    assert Workspace.objects.filter(pk=team.workspace.pk, deleted_at__isnull=False).exists()
    assert AuditRecord.objects.filter(action="workspace.deleted", facts__as_operator=True).count() == 1
    assert "delete-workspace" not in client.get(page).content.decode()


def test_an_operator_starts_nothing_in_a_deleted_workspace(team):
    """Not even a run of a public agent, which works until the purge deletes the chat."""
    sam = make_person("Sam")
    others = workspaces.create_workspace(sam, name="Others")
    wren = make_agent(others, sam, "Wren")
    theirs = publishing.publish_agent(sam, wren.id, name="Wren", handle="wren", **LISTING)
    chat = chats.create_chat(team.alice, team.workspace.id, title="Theirs", actor_ids=[theirs.id])
    message = chats.post_message(team.alice, chat.id, text="hello", wake="nobody")[0]
    ended = RunFactory.create(
        chat=chat, agent=theirs, on_behalf_of=team.alice, state="failed", trigger_id=message.id, trigger_seq=message.seq
    )
    delete(team)
    again = runs.retry_run(make_operator(), ended.id, as_operator=True)
    assert claim_run(again.id, "test") is None
    again.refresh_from_db()
    assert (again.state, again.error_code) == ("failed", "rights_lost")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("first", ["deletion", "publication"])
def test_of_a_deletion_and_a_concurrent_publication_one_succeeds(team, first):
    deletion, publication = (lambda: delete(team)), (lambda: publish(team))
    begun, waiting = (deletion, publication) if first == "deletion" else (publication, deletion)
    with transaction.atomic():
        begun()
        other = ConcurrentTransaction(waiting)
        assert count_sessions_that_wait() == 1
    with pytest.raises(AppError) as refusal:
        other.result()
    is_deleted = Workspace.objects.get(pk=team.workspace.pk).deleted_at is not None
    is_public = Actor.objects.filter(is_public=True).exists()
    assert (is_deleted, is_public) == (first == "deletion", first == "publication")
    expected = Code.NOT_FOUND if is_deleted else Code.WORKSPACE_HAS_PUBLIC_AGENTS
    assert refusal.value.code == expected


@pytest.mark.django_db(transaction=True)
def test_of_two_concurrent_deletions_one_succeeds(team):
    with transaction.atomic():
        delete(team)
        other = ConcurrentTransaction(lambda: delete(team))
        assert count_sessions_that_wait() == 1
    with pytest.raises(NotFound):
        other.result()
    assert AuditRecord.objects.filter(action="workspace.deleted").count() == 1
    assert Notification.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_nobody_joins_by_a_link_while_it_is_deleted(team):
    _, url = chats.create_link(team.alice, team.chat.id, role="editor", hours=1)
    with transaction.atomic():
        delete(team)
        other = ConcurrentTransaction(lambda: chats.accept_link(team.charlie, url.rsplit("/", 1)[1]))
        assert count_sessions_that_wait() == 1
    with pytest.raises(NotFound):
        other.result()
    assert not Membership.objects.filter(workspace=team.workspace).exists()


# --- undoing it -------------------------------------------------------------------------------------------------------

VOLATILE = {"workspaces.workspace", "actors.actor", "events.auditrecord", "notifications.notification", "runs.run"}
"""The tables in which a deletion that was undone leaves a trace: revisions, records, and runs that were stopped."""


def restore(team, by="alice", **fields):
    return workspaces.restore_workspace(team[by], team.workspace.id, **fields)


def test_undoing_it_restores_members_rights_agents_keys_and_content(db):
    team, _ = make_team_with_things()
    key = Secret("sk-example-key")
    workspaces.set_model(team.alice, team.workspace.id, provider="openai", default_model="gpt", revision=0, key=key)
    wren = make_agent(team.workspace, team.alice, "Wren")
    Actor.objects.filter(pk=wren.pk).update(status="suspended")
    gone = make_agent(team.workspace, team.alice, "Gone")
    Actor.objects.filter(pk=gone.pk).update(status="deleted")
    _, url = chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)
    before = read_rows()
    delete(team)
    assert restore(team).deleted_at is None
    after = read_rows()
    assert {name for name, rows in after.items() if rows != before[name]} <= VOLATILE
    statuses = dict(Actor.objects.filter(workspace=team.workspace).values_list("name", "status"))
    assert statuses == {"Robin": "ready", "Wren": "suspended", "Gone": "deleted"}
    assert not DeletedMembership.objects.exists()
    assert not Notification.objects.filter(type="workspace_deleted").exists()
    chats.post_message(team.bob, team.chat.id, text="here again", wake="nobody")
    assert chats.accept_link(team.charlie, url.rsplit("/", 1)[1]).chat_id == team.chat.id
    [record] = AuditRecord.objects.filter(action="workspace.restored")
    assert (record.actor, record.workspace_id) == (team.alice, team.workspace.id)


def test_another_editor_undoes_what_an_editor_of_one_minute_did(team):
    """The founder undoes it, and removes the person, who can then neither delete it nor undo another deletion."""
    sam = make_person("Sam")
    workspaces.join_workspace(sam, team.workspace.id, role="editor", invited_by=team.alice)
    workspaces.delete_workspace(sam, team.workspace.id, name="Lighthouse")
    assert set(Notification.objects.values_list("person__name", "type", "actor_name")) == {
        ("Alice", "workspace_deleted", "Sam"),
        ("Bob", "workspace_deleted", "Sam"),
    }
    restore(team)
    workspaces.remove_member(team.alice, team.workspace.id, sam.id)
    with pytest.raises(NotFound):
        workspaces.delete_workspace(sam, team.workspace.id, name="Lighthouse")
    delete(team)
    assert Notification.objects.filter(person=team.bob, type="workspace_deleted").count() == 1
    before = fingerprint()
    with pytest.raises(NotFound):
        workspaces.restore_workspace(sam, team.workspace.id)
    assert fingerprint() == before
    restore(team)


@pytest.mark.parametrize("who", ["bob", "charlie", "robin", "nobody of it"])
def test_a_suggester_a_stranger_an_agent_and_a_closed_account_cannot_undo_it(team, who):
    sam = make_person("Sam")
    workspaces.join_workspace(sam, team.workspace.id, role="editor", invited_by=team.alice)
    delete(team)
    Actor.objects.filter(pk=sam.pk).update(is_active=False)
    before = fingerprint()
    with pytest.raises(NotFound):
        workspaces.restore_workspace(sam if who == "nobody of it" else team[who], team.workspace.id)
    with pytest.raises(Forbidden):
        restore(team, as_operator=True)
    assert fingerprint() == before
    assert not workspaces_restorable_by(team.bob).exists()


def test_it_is_undone_once_and_not_after_its_time(team):
    before = fingerprint()
    with pytest.raises(NotFound):
        restore(team)
    assert fingerprint() == before
    delete(team)
    restore(team)
    before = fingerprint()
    with pytest.raises(NotFound):
        restore(team)
    assert fingerprint() == before
    delete(team)
    for end in (lambda: end_waiting_time(team.workspace), lambda: purge(team.workspace)):
        end()
        before = fingerprint()
        for by, fields in (("alice", {}), ("operator", {"as_operator": True})):
            actor = (
                Actor.objects.filter(is_superuser=True).first() or make_operator() if by == "operator" else team.alice
            )
            with pytest.raises(NotFound):
                workspaces.restore_workspace(actor, team.workspace.id, **fields)
        assert not workspaces_restorable_by(team.alice).exists()


def test_a_deletion_by_an_operator_is_undone_by_an_operator_only(team):
    operator = make_operator()
    workspaces.delete_workspace(operator, team.workspace.id, name="Lighthouse", as_operator=True)
    with pytest.raises(NotFound):
        restore(team)
    client = sign_in_as(operator)
    page = build_path(Workspace, team.workspace.pk, "change")
    assert "restore-workspace" in client.get(page).content.decode()
    run_action(client, team.workspace, "restore_workspace")
    assert Workspace.objects.filter(pk=team.workspace.pk, deleted_at=None, deleted_by=None).exists()
    assert workspaces_visible_to(team.alice).exists()
    assert "restore-workspace" not in client.get(page).content.decode()


def test_an_operator_who_is_an_editor_and_deletes_as_an_operator_is_undone_by_operators_only(team):
    operator = make_operator()
    workspaces.join_workspace(operator, team.workspace.id, role="editor", invited_by=team.alice)
    workspaces.delete_workspace(operator, team.workspace.id, name="Lighthouse", as_operator=True)
    before = fingerprint()
    for person in (team.alice, operator):
        assert not workspaces_restorable_by(person).exists()
        with pytest.raises(NotFound):
            workspaces.restore_workspace(person, team.workspace.id)
    assert fingerprint() == before
    workspaces.restore_workspace(operator, team.workspace.id, as_operator=True)
    workspaces.delete_workspace(operator, team.workspace.id, name="Lighthouse")
    restore(team)


def test_editors_undo_what_an_editor_did_whose_account_is_closed_since_then(team):
    sam = make_person("Sam")
    workspaces.join_workspace(sam, team.workspace.id, role="editor", invited_by=team.alice)
    workspaces.delete_workspace(sam, team.workspace.id, name="Lighthouse")
    Actor.objects.filter(pk=sam.pk).update(is_active=False)
    assert workspaces_restorable_by(team.alice).get() == team.workspace
    restore(team)


def take_role(by, team, person, how, **fields):
    """Take the role editor from a person, by another role or by removing them."""
    if how == "demoted":
        workspaces.change_role(by, team.workspace.id, person.id, role="suggester", **fields)
    else:
        workspaces.remove_member(by, team.workspace.id, person.id, **fields)


@pytest.mark.parametrize("how", ["demoted", "removed", "demoted, then removed"])
def test_an_editor_from_whom_a_later_editor_took_the_role_undoes_the_deletion_and_is_an_editor_again(team, how):
    """Also the second time: who gets the role back counts as an editor since the first time."""
    sam = make_person("Sam")
    workspaces.join_workspace(sam, team.workspace.id, role="editor", invited_by=team.alice)
    for _ in range(2):
        for one in how.split(", then "):
            take_role(sam, team, team.alice, one)
        workspaces.delete_workspace(sam, team.workspace.id, name="Lighthouse")
        notified = Notification.objects.filter(type="workspace_deleted").values_list("person__name", flat=True)
        assert sorted(notified) == ["Alice", "Bob"]
        rows = client_for(team, "alice").ok("GET", "notifications")["results"]
        assert [row["type"] for row in rows].count("workspace_deleted") == 1
        assert workspaces_restorable_by(team.alice).get() == team.workspace
        restore(team)
        roles = dict(team.workspace.memberships.values_list("actor__name", "role"))
        assert roles == {"Alice": "editor", "Bob": "suggester", "Sam": "editor"}
    workspaces.remove_member(team.alice, team.workspace.id, sam.id)


def test_others_who_restore_do_not_give_a_former_editor_the_role_back(team):
    sam = make_person("Sam")
    workspaces.join_workspace(sam, team.workspace.id, role="editor", invited_by=team.alice)
    workspaces.remove_member(sam, team.workspace.id, team.alice.id)
    workspaces.delete_workspace(sam, team.workspace.id, name="Lighthouse")
    workspaces.restore_workspace(sam, team.workspace.id)
    assert not team.workspace.memberships.filter(actor=team.alice).exists()


@pytest.mark.parametrize(
    "case", ["left", "demoted themselves", "an earlier editor", "an operator", "long ago", "closed account"]
)
@pytest.mark.parametrize("how", ["demoted", "removed"])
def test_other_former_editors_cannot_undo_it_and_those_outside_are_not_notified(team, case, how):
    sam = make_person("Sam")
    workspaces.join_workspace(sam, team.workspace.id, role="editor", invited_by=team.alice)
    former, deleter = (sam, team.alice) if case == "an earlier editor" else (team.alice, sam)
    if case == "left":
        workspaces.leave_workspace(former, team.workspace.id)
    elif case == "demoted themselves":
        take_role(former, team, former, "demoted")
    elif case == "an operator":
        take_role(make_operator(), team, former, how, as_operator=True)
    else:
        take_role(deleter, team, former, how)
    if case == "long ago":
        for model in (Membership, PastMembership):
            model.objects.filter(editor_until__isnull=False).update(editor_until=now() - timedelta(days=14, seconds=1))
    if case == "closed account":
        Actor.objects.filter(pk=former.pk).update(is_active=False)
    is_outside = not Membership.objects.filter(workspace=team.workspace, actor=former).exists()
    workspaces.delete_workspace(deleter, team.workspace.id, name="Lighthouse")
    assert not (is_outside and Notification.objects.filter(person=former, type="workspace_deleted").exists())
    before = fingerprint()
    assert not workspaces_restorable_by(former).exists()
    with pytest.raises(NotFound):
        workspaces.restore_workspace(former, team.workspace.id)
    assert fingerprint() == before


def test_a_removed_editor_who_joins_again_with_another_role_may_still_undo_it(team):
    sam = make_person("Sam")
    workspaces.join_workspace(sam, team.workspace.id, role="editor", invited_by=team.alice)
    workspaces.remove_member(sam, team.workspace.id, team.alice.id)
    workspaces.join_workspace(team.alice, team.workspace.id, role="suggester", invited_by=sam)
    workspaces.delete_workspace(sam, team.workspace.id, name="Lighthouse")
    restore(team)
    assert team.workspace.memberships.get(actor=team.alice).role == "editor"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("other", ["undo", "purge"])
def test_of_an_undo_and_a_concurrent_undo_or_purge_one_succeeds(team, other):
    delete(team)
    with transaction.atomic():
        restore(team)
        end = restore if other == "undo" else lambda team: workspaces.purge_workspace(team.workspace.id)
        waiting = ConcurrentTransaction(lambda: end(team))
        assert count_sessions_that_wait() == (1 if other == "undo" else 0)
    if other == "undo":
        with pytest.raises(NotFound):
            waiting.result()
    else:
        assert waiting.result() is False
    assert Membership.objects.filter(workspace=team.workspace).count() == 2
    assert Chat.objects.filter(workspace=team.workspace).exists()


def test_the_limit_of_workspaces_cannot_be_passed_by_deleting_and_undoing(team, settings):
    """A deleted workspace counts for its editors until it is purged, and a restored one counts for who restores it."""
    settings.QUOTAS = settings.QUOTAS | {"workspaces": 1}
    delete(team)
    before = fingerprint()
    with pytest.raises(QuotaReached):
        workspaces.create_workspace(team.alice, name="Another")
    assert fingerprint() == before
    others = workspaces.create_workspace(team.bob, name="Another")
    workspaces.join_workspace(team.alice, others.id, role="suggester", invited_by=team.bob)
    before = fingerprint()
    with pytest.raises(QuotaReached):
        restore(team)
    assert fingerprint() == before
    workspaces.leave_workspace(team.alice, others.id)
    restore(team)
    delete(team)
    purge(team.workspace)
    workspaces.create_workspace(team.alice, name="Another")


def test_the_api_asks_for_the_password_and_refuses_tokens_and_lists_what_can_be_restored(team):
    path, body = f"workspaces/{team.workspace.id}/deletion", {"name": "Lighthouse", "password": PASSWORD}
    program, alice, bob = client_for(team, "alice", "token"), client_for(team, "alice"), client_for(team, "bob")
    before = fingerprint()
    assert program("POST", path, body).status_code == 403
    for wrong in (body | {"password": "not it"}, {"name": "Lighthouse"}):
        assert alice("POST", path, wrong).status_code == 400
    assert alice("POST", path, body | {"password": "not it"}).json()["error"]["code"] == "wrong_password"
    assert bob("POST", path, body | {"password": "not it"}).status_code == 403
    assert fingerprint() == before
    assert alice("POST", path, body).status_code == 204
    [row] = alice.ok("GET", "deleted-workspaces")["results"]
    assert (row["id"], row["name"], row["deleted_by"]["name"]) == (str(team.workspace.id), "Lighthouse", "Alice")
    assert datetime.fromisoformat(row["purge_at"]) - datetime.fromisoformat(row["deleted_at"]) == timedelta(days=14)
    assert bob.ok("GET", "deleted-workspaces")["results"] == []
    assert bob("POST", f"workspaces/{team.workspace.id}/restoration").status_code == 404
    restored = alice.ok("POST", f"workspaces/{team.workspace.id}/restoration")
    assert (restored["id"], restored["role"]) == (str(team.workspace.id), "editor")
    assert alice.ok("GET", "deleted-workspaces")["results"] == []


def test_nothing_of_a_deleted_workspace_runs_until_it_is_restored(team):
    """Schedules neither fire nor pause, and webhooks and embeddings wait."""
    schedule = ScheduleFactory.create(
        workspace=team.workspace,
        chat=team.chat,
        agent=team.robin,
        owner=team.alice,
        next_at=now() - timedelta(minutes=1),
    )
    webhook = make_webhook(team.robin)
    make_delivery(webhook)
    Delivery.objects.update(next_at=now() - timedelta(minutes=1))
    EmbeddingModelFactory.create(workspace=team.workspace)
    row = EmbeddedChat.objects.create(chat=team.chat, due_at=now() - timedelta(minutes=1))
    delete(team)
    before = fingerprint()
    assert (fire_due_schedules(), _list_due_webhooks([]), _claim_next(webhook.id)) == (0, [], None)
    assert (claim_due_chats(), read_batch(row.id, 10)) == ([], None)
    assert fingerprint() == before
    restore(team)
    assert [due.id for due in _list_due_webhooks([])] == [webhook.id]
    assert [due.id for due in claim_due_chats()] == [row.id]
    assert fire_due_schedules() == 1
    schedule.refresh_from_db()
    assert schedule.paused_reason == ""


# --- the purge --------------------------------------------------------------------------------------------------------


def list_tables():
    return [model for model in apps.get_models() if model._meta.app_label in {app.split(".")[0] for app in TABLES}]


TABLES = [
    "actors",
    "agents",
    "approvals",
    "boards",
    "chats",
    "embeddings",
    "events",
    "files",
    "llm",
    "notifications",
    "publishing",
    "runs",
    "schedules",
    "suggestions",
    "tools",
    "usage",
    "workspaces",
]


def read_rows():
    """Return the rows of each table, as texts."""
    found = {}
    with connection.cursor() as cursor:
        for model in list_tables():
            cursor.execute(f'SELECT t::text FROM "{model._meta.db_table}" t')
            found[model._meta.label_lower] = {row[0] for row in cursor.fetchall()}
    return found


def test_the_purge_deletes_all_content_in_batches_and_no_row_of_other_workspaces(team, monkeypatch):
    make_team_with_things("2")
    before = read_rows()
    ours, _ = make_team_with_things("3")
    rooms = [
        chats.create_chat(ours.alice, ours.workspace.id, title=f"Room {n}", actor_ids=[ours.robin.id]) for n in range(5)
    ]
    parent = RunFactory.create(chat=rooms[0], agent=ours.robin, state="waiting_child", concurrency_key="p")
    RunFactory.create(chat=rooms[0], agent=ours.robin, root=parent, parent=parent, depth=1, input={})
    call = LLMCallFactory.create(
        workspace=ours.workspace, agent=ours.robin, spec=ours.robin.current_spec, run_id=parent.id, tree_id=parent.id
    )
    first = chats.post_message(ours.alice, rooms[0].id, text="one", wake="nobody")[0]
    chats.post_message(ours.alice, rooms[0].id, text="two", wake="nobody", reply_to=first.id)
    chats.create_link(ours.alice, rooms[0].id, role="editor", hours=1)
    delete(ours)
    monkeypatch.setattr(services, "PURGE_BATCH", 3)
    assert purge(ours.workspace) > 5
    after = read_rows()
    # Alice has a token, and Charlie a workspace.
    of_people = {"actors.apitoken", "workspaces.membership"}
    left = {name for name, rows in after.items() if rows != before[name]} - of_people
    assert left == KEPT
    for name, rows in before.items():
        assert rows <= after[name], name
    call.refresh_from_db()
    assert (call.workspace, call.agent, call.spec) == (ours.workspace, ours.robin, None)
    robin = Actor.objects.get(pk=ours.robin.pk)
    assert (robin.name, robin.description, robin.current_spec, robin.status) == ("Robin", "", None, "deleted")
    assert list(Notification.objects.filter(workspace=ours.workspace).values_list("type", flat=True)) == [
        "workspace_deleted"
    ]
    workspace = Workspace.objects.get(pk=ours.workspace.pk)
    assert workspace.purged_at is not None
    assert not workspaces.purge_workspace(workspace.id)


def test_every_table_of_a_workspace_is_purged():
    """A table with a foreign key to workspaces is in this list, in `KEPT`, or emptied at once by the deletion."""
    emptied_at_once = {"workspaces.membership"}
    purged = {
        "workspaces.deletedmembership",
        "workspaces.pastmembership",
        "workspaces.credential",
        "workspaces.workspacegrant",
        "embeddings.embeddingmodel",
        "chats.chat",
        "files.file",
        "runs.run",
        "boards.board",
        "suggestions.suggestion",
        "suggestions.merge",
        "tools.toolserver",
        "tools.workspacetool",
        "tools.toolpolicy",
        "usage.budget",
        "usage.modelprice",
        "usage.tokenfactor",
        "schedules.schedule",
        "memory.note",
        "memory.memoryclearing",
        "memory.historyentry",
        "memory.memoryuse",
    }
    tables = {
        model._meta.label_lower
        for model in apps.get_models()
        for field in model._meta.get_fields()
        if isinstance(field, ForeignKey) and field.related_model is Workspace
    }
    assert tables == (KEPT - {"workspaces.workspace", "events.auditrecord"}) | emptied_at_once | purged


def test_500_chats_are_deleted_by_tasks_that_follow_each_other(team, monkeypatch, django_capture_on_commit_callbacks):
    Chat.objects.bulk_create([Chat(workspace=team.workspace, title=str(n)) for n in range(500)])
    sent = []
    monkeypatch.setattr("workspaces.services.send_task_now", lambda name, arguments: sent.append((name, arguments)))
    monkeypatch.setattr("workspaces.tasks.send_task_now", lambda name, arguments: sent.append((name, arguments)))
    with django_capture_on_commit_callbacks(execute=True):
        delete(team)
    assert sent == []
    end_waiting_time(team.workspace)
    resume_purges()
    assert sent == [(PURGE_TASK, [str(team.workspace.id)])]
    for _, arguments in sent:
        purge_workspace(*arguments)
    assert not Chat.objects.filter(workspace=team.workspace).exists()
    assert not Message.objects.filter(chat__workspace=team.workspace).exists()
    # One of messages, three of chats, one of versions, and the last, which finds nothing.
    assert len(sent) == 6
    sent.clear()
    resume_purges()
    assert sent == []


def test_only_a_workspace_whose_time_is_over_is_purged_and_a_lost_task_is_sent_again(team, monkeypatch):
    sent = []
    monkeypatch.setattr("workspaces.services.send_task_now", lambda name, arguments: sent.append((name, arguments)))
    before = fingerprint()
    assert not workspaces.purge_workspace(team.workspace.id)
    resume_purges()
    assert (sent, fingerprint()) == ([], before)
    delete(team)
    Workspace.objects.update(deleted_at=now() - timedelta(days=14) + timedelta(minutes=1))
    before = fingerprint()
    assert not workspaces.purge_workspace(team.workspace.id)
    resume_purges()
    assert (sent, fingerprint()) == ([], before)
    end_waiting_time(team.workspace)
    resume_purges()
    resume_purges()
    assert sent == [(PURGE_TASK, [str(team.workspace.id)])] * 2


@pytest.mark.django_db(transaction=True)
def test_two_purges_do_not_work_at_the_same_time(team):
    delete(team)
    end_waiting_time(team.workspace)
    with transaction.atomic():
        assert workspaces.purge_workspace(team.workspace.id)
        other = ConcurrentTransaction(lambda: workspaces.purge_workspace(team.workspace.id))
        assert count_sessions_that_wait() == 0
        assert other.result() is False
    purge(team.workspace)
    assert Workspace.objects.get(pk=team.workspace.pk).purged_at is not None


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_run_in_progress_is_stopped_and_the_purge_waits_for_it(environment):
    team = environment.team
    environment.model.script(mode="drip", count=400, every=0.02)
    environment.post("hello")
    environment.wait(lambda: environment.model.requests)
    run = environment.runs()[-1]
    environment.wait(lambda: any("w1 " in partial.text for partial in get_partials([run.id])))
    with transaction.atomic():
        delete(team)
        # Its worker has not been asked yet.
        chat_ids = list(Chat.objects.filter(workspace=team.workspace).values_list("pk", flat=True))
        end_waiting_time(team.workspace)
        with pytest.raises(Unavailable):
            workspaces.purge_workspace(team.workspace.id)
        assert list(Chat.objects.filter(workspace=team.workspace).values_list("pk", flat=True)) == chat_ids
    environment.model.wait_until_left()
    [run] = environment.wait_until_idle()
    assert (run.state, run.stopped_by) == ("stopped", team.alice)
    [call] = LLMCall.objects.filter(run_id=run.id)
    purge(team.workspace)
    assert not Run.objects.exists()
    call.refresh_from_db()
    assert (call.error_code, call.workspace_id) == ("stopped", team.workspace.id)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("engine")
def test_a_queued_run_of_a_deleted_workspace_is_never_started(environment):
    team = environment.team
    with transaction.atomic():
        message = environment.post("hello")
        delete(team)
    environment.wait(lambda: not Run.objects.filter(state="queued").exists())
    [run] = environment.runs()
    assert (run.state, run.trigger_id) == ("stopped", message.id)
    assert not environment.model.requests
    purge(team.workspace)


def test_an_original_that_was_published_elsewhere_keeps_its_row(team):
    """A public agent that was taken down keeps naming its publisher, and another team's public agents are not touched."""
    sam = make_person("Sam")
    others = workspaces.create_workspace(sam, name="Others")
    wren = make_agent(others, sam, "Wren")
    theirs = publishing.publish_agent(sam, wren.id, name="Wren", handle="wren", **LISTING)
    chats.create_chat(team.alice, team.workspace.id, title="Theirs", actor_ids=[theirs.id])
    delete(team)
    purge(team.workspace)
    theirs.refresh_from_db()
    assert (theirs.taken_down_at, theirs.status, theirs.current_spec is None) == (None, "ready", False)


def test_the_days_in_which_a_deletion_can_be_undone_are_told_with_the_signed_in_person(team, settings):
    settings.WORKSPACE_PURGE_DAYS = 3
    assert client_for(team, "alice").ok("GET", "me")["workspace_purge_days"] == 3
