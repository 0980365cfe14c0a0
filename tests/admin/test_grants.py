"""Grants (one right on one object for one person): operators add and revoke them in the admin, and all interfaces respect them."""

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.db import transaction

from actors.models import Actor
from agents.models import AgentGrant
from agents.permissions import AgentVerb, get_agent_for
from agents.services import drafts
from chats.models import ChatGrant
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Forbidden
from common.redis_client import redis_client
from events.models import AuditRecord
from events.publish import RIGHTS_GROUP
from events.rows import Role
from notifications.models import Notification
from tests.admin.environment import build_path, sign_in_as
from tests.people import make_agent
from workspaces import services as workspaces
from workspaces.grants import list_grantable_permissions
from workspaces.models import WorkspaceGrant
from workspaces.permissions import WorkspaceVerb, get_workspace_for


def add_grant_by_form(environment, grants, verb, target, person=None):
    permission = Permission.objects.get(codename=verb)
    body = {"user": (person or environment.team.bob).pk, "permission": permission.pk, "content_object": target.pk}
    return environment.client.post(build_path(grants, "add"), body)


def try_to_save(browser, chat, agent, draft):
    body = {"revision": draft.revision, "base_version": draft.base_version, "message": "mine"}
    path = f"/api/v1/chats/{chat.id}/agents/{agent.id}/draft/save"
    return browser.post(path, body, content_type="application/json").status_code


def test_a_grant_lets_a_suggester_save_one_agent_and_no_other(environment):
    """Over REST, before the grant, with it, and after it is revoked."""
    team, browser = environment.team, sign_in_as(environment.team.bob)
    raven = make_agent(team.workspace, team.alice, "Raven")
    draft = drafts.claim_draft(actor=team.bob, chat_id=team.chat.id, agent_id=team.robin.id)
    assert try_to_save(browser, team.chat, team.robin, draft) == 403
    assert add_grant_by_form(environment, AgentGrant, "save_agent_actor", team.robin).status_code == 302
    shown = {
        agent["actor"]["name"]: agent["verbs"]
        for agent in browser.get(f"/api/v1/workspaces/{team.workspace.id}/agents").json()["results"]
    }
    assert AgentVerb.SAVE in shown["Robin"]
    assert AgentVerb.SAVE not in shown["Raven"]
    assert try_to_save(browser, team.chat, team.robin, draft) < 300
    for agent, verb in ((raven, AgentVerb.SAVE), (team.robin, AgentVerb.DELETE)):
        with pytest.raises(Forbidden):
            get_agent_for(team.bob, agent.id, verb)
    grant = AgentGrant.objects.get()
    assert environment.client.post(build_path(AgentGrant, grant.pk, "delete"), {"post": "yes"}).status_code == 302
    with pytest.raises(Forbidden):
        get_agent_for(team.bob, team.robin.id, AgentVerb.SAVE)


def test_a_grant_on_a_chat_and_on_a_workspace_takes_effect_there(environment):
    team = environment.team
    add_grant_by_form(environment, ChatGrant, "stop_run_chat", team.chat)
    add_grant_by_form(environment, WorkspaceGrant, "create_agent_workspace", team.workspace)
    assert get_chat_for(team.bob, team.chat.id, ChatVerb.STOP_ANY_RUN) == team.chat
    assert get_workspace_for(team.bob, team.workspace.id, WorkspaceVerb.CREATE_AGENT) == team.workspace
    with pytest.raises(Forbidden):
        get_workspace_for(team.bob, team.workspace.id, WorkspaceVerb.SET_MODEL)


def test_adding_and_revoking_a_grant_is_audited(environment):
    add_grant_by_form(environment, AgentGrant, "save_agent_actor", environment.team.robin)
    (record,) = AuditRecord.objects.filter(action="grant.given")
    assert (record.actor, record.object_id) == (environment.operator, environment.team.robin.id)
    assert record.workspace_id == environment.team.workspace.id
    assert record.facts == {"table": "actors.Actor", "person": str(environment.team.bob.id), "verb": "save_agent_actor"}
    environment.client.post(build_path(AgentGrant, AgentGrant.objects.get().pk, "delete"), {"post": "yes"})
    assert AuditRecord.objects.filter(action="grant.taken", object_id=environment.team.robin.id).exists()


@pytest.mark.parametrize(
    ("grants", "verb", "target", "ids"),
    [
        (AgentGrant, "save_agent_actor", "robin", ("agent_id", "Robin")),
        (ChatGrant, "stop_run_chat", "chat", ("chat_id", "")),
        (WorkspaceGrant, "create_agent_workspace", "workspace", ("", "")),
    ],
)
def test_the_person_is_notified_of_a_right_that_is_given_or_taken(environment, grants, verb, target, ids):
    subject = environment.team.__dict__[target]
    add_grant_by_form(environment, grants, verb, subject)
    add_grant_by_form(environment, grants, verb, subject)  # the same right again is no event
    environment.client.post(build_path(grants, grants.objects.get().pk, "delete"), {"post": "yes"})
    taken, given = Notification.objects.order_by("-pk")
    id_field, agent_name = ids
    for notification, kind in ((given, "grant_given"), (taken, "grant_taken")):
        assert (notification.person, notification.type) == (environment.team.bob, kind)
        assert (notification.excerpt, notification.actor_name) == (verb, environment.operator.name)
        assert notification.workspace == environment.team.workspace
        assert notification.agent_name == agent_name
        known = {name: getattr(notification, name) for name in ("agent_id", "chat_id")}
        assert known == {"agent_id": None, "chat_id": None} | ({id_field: subject.pk} if id_field else {})


def test_the_web_app_has_a_text_for_each_right_that_can_be_granted(environment):
    texts = (settings.ROOT / "frontend/src/features/notifications/wording.ts").read_text()
    rights = {
        permission.codename
        for grants in (AgentGrant, ChatGrant, WorkspaceGrant)
        for permission in list_grantable_permissions(grants)
    }
    assert len(rights) == 8
    assert [right for right in sorted(rights) if f"  {right}: 'right." not in texts] == []


def test_SEC5_the_persons_sockets_check_rights_again_when_a_grant_is_added_or_revoked(
    environment, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr(redis_client, "publish", lambda messages: sent.extend(messages))

    def collect_notifications(act):
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            act()
        return [text for channel, text in sent if channel.endswith(f"group__{RIGHTS_GROUP}")]

    (notification,) = collect_notifications(
        lambda: add_grant_by_form(environment, AgentGrant, "save_agent_actor", environment.team.robin)
    )
    assert str(environment.team.bob.id).encode() in notification
    grant = AgentGrant.objects.get()
    assert collect_notifications(
        lambda: environment.client.post(build_path(AgentGrant, grant.pk, "delete"), {"post": "yes"})
    )


def test_the_form_offers_only_rights_of_the_object_by_readable_names(environment):
    html = environment.client.get(build_path(AgentGrant, "add")).content.decode()
    assert "Can save versions of this agent" in html
    for wrong in ("Can invite people", "Can add actor", "actors | actor"):
        assert wrong not in html


@pytest.mark.parametrize(
    ("who", "words"), [("charlie", "granted to its members only"), ("robin", "people whose account is open")]
)
def test_a_grant_without_effect_is_refused_with_the_reason(environment, who, words):
    answer = add_grant_by_form(
        environment, AgentGrant, "save_agent_actor", environment.team.robin, person=environment.team[who]
    )
    assert words in answer.content.decode()
    assert not AgentGrant.objects.exists()


def test_grants_on_public_agents_are_refused(environment):
    Actor.objects.filter(pk=environment.team.robin.pk).update(
        is_public=True,
        is_shipped=True,
        workspace=None,
        published_at=environment.team.robin.created_at,
        normalized_name="robin",
    )
    answer = add_grant_by_form(environment, AgentGrant, "save_agent_actor", environment.team.robin)
    assert "Nobody may change a public agent" in answer.content.decode()
    assert not AgentGrant.objects.exists()


def test_the_pages_of_person_and_object_link_to_a_prefilled_form(environment):
    for row, named in ((environment.team.bob, "user"), (environment.team.robin, "content_object")):
        html = environment.client.get(build_path(Actor, row.pk, "change")).content.decode()
        address = f"{build_path(AgentGrant, 'add')}?{named}={row.pk}"
        assert address in html
        assert f'value="{row.pk}" selected' in environment.client.get(address).content.decode()


def test_SEC5_leaving_a_workspace_ends_grants_and_rejoining_does_not_restore_them(environment):
    team = environment.team
    for grants, verb, target in (
        (AgentGrant, "save_agent_actor", team.robin),
        (ChatGrant, "stop_run_chat", team.chat),
        (WorkspaceGrant, "create_agent_workspace", team.workspace),
    ):
        add_grant_by_form(environment, grants, verb, target)
    with transaction.atomic():
        workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    workspaces.join_workspace(team.bob, team.workspace.id, role=Role.SUGGESTER, invited_by=team.alice)
    with pytest.raises(Forbidden):
        get_agent_for(team.bob, team.robin.id, AgentVerb.SAVE)
    with pytest.raises(Forbidden):
        get_workspace_for(team.bob, team.workspace.id, WorkspaceVerb.CREATE_AGENT)
    assert not ChatGrant.objects.exists()
    ended = AuditRecord.objects.filter(action="grant.ended", actor=team.alice, workspace_id=team.workspace.id)
    assert {(record.object_id, record.facts["person"]) for record in ended} == {
        (target.id, str(team.bob.id)) for target in (team.robin, team.chat, team.workspace)
    }


def test_grants_in_other_workspaces_and_of_other_people_are_kept(environment):
    team = environment.team
    elsewhere = workspaces.create_workspace(team.bob, name="Bob's")
    add_grant_by_form(environment, WorkspaceGrant, "create_agent_workspace", elsewhere)
    add_grant_by_form(environment, AgentGrant, "save_agent_actor", team.robin, person=team.alice)
    with transaction.atomic():
        workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    assert (WorkspaceGrant.objects.count(), AgentGrant.objects.count()) == (1, 1)
