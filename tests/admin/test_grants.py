"""One right on one object for one person: given in the admin, asked everywhere."""

import pytest
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
from tests.admin.environment import page, sign_in_as
from tests.people import make_agent
from workspaces import services as workspaces
from workspaces.models import Role, WorkspaceGrant
from workspaces.permissions import WorkspaceVerb, get_workspace_for


def give(environment, grants, verb, target, person=None):
    permission = Permission.objects.get(codename=verb)
    body = {"user": (person or environment.team.bob).pk, "permission": permission.pk, "content_object": target.pk}
    return environment.client.post(page(grants, "add"), body)


def saves(browser, chat, agent, draft):
    body = {"revision": draft.revision, "base_version": draft.base_version, "message": "mine"}
    path = f"/api/v1/chats/{chat.id}/agents/{agent.id}/draft/save"
    return browser.post(path, body, content_type="application/json").status_code


def test_S03_one_suggester_may_save_one_agent_and_only_there(environment):
    """Over REST, before and after the grant, and not any more when it is taken."""
    team, browser = environment.team, sign_in_as(environment.team.bob)
    raven = make_agent(team.workspace, team.alice, "Raven")
    draft = drafts.claim_draft(actor=team.bob, chat_id=team.chat.id, agent_id=team.robin.id)
    assert saves(browser, team.chat, team.robin, draft) == 403
    assert give(environment, AgentGrant, "save_agent_actor", team.robin).status_code == 302
    shown = {agent["actor"]["name"]: agent["verbs"] for agent in
             browser.get(f"/api/v1/workspaces/{team.workspace.id}/agents").json()["results"]}  # fmt: skip
    assert AgentVerb.SAVE in shown["Robin"]
    assert AgentVerb.SAVE not in shown["Raven"]
    assert saves(browser, team.chat, team.robin, draft) < 300
    for agent, verb in ((raven, AgentVerb.SAVE), (team.robin, AgentVerb.DELETE)):
        with pytest.raises(Forbidden):
            get_agent_for(team.bob, agent.id, verb)
    grant = AgentGrant.objects.get()
    assert environment.client.post(page(AgentGrant, grant.pk, "delete"), {"post": "yes"}).status_code == 302
    with pytest.raises(Forbidden):
        get_agent_for(team.bob, team.robin.id, AgentVerb.SAVE)


def test_a_grant_on_a_chat_and_on_a_workspace_takes_effect_there(environment):
    team = environment.team
    give(environment, ChatGrant, "stop_run_chat", team.chat)
    give(environment, WorkspaceGrant, "create_agent_workspace", team.workspace)
    assert get_chat_for(team.bob, team.chat.id, ChatVerb.STOP_ANY_RUN) == team.chat
    assert get_workspace_for(team.bob, team.workspace.id, WorkspaceVerb.CREATE_AGENT) == team.workspace
    with pytest.raises(Forbidden):
        get_workspace_for(team.bob, team.workspace.id, WorkspaceVerb.SET_MODEL)


def test_who_gave_it_and_when_is_in_the_trail_of_object_and_person(environment):
    give(environment, AgentGrant, "save_agent_actor", environment.team.robin)
    (record,) = AuditRecord.objects.filter(action="grant.given")
    assert (record.actor, record.object_id) == (environment.operator, environment.team.robin.id)
    assert record.workspace_id == environment.team.workspace.id
    assert record.facts == {"table": "actors.Actor", "person": str(environment.team.bob.id), "verb": "save_agent_actor"}
    environment.client.post(page(AgentGrant, AgentGrant.objects.get().pk, "delete"), {"post": "yes"})
    assert AuditRecord.objects.filter(action="grant.taken", object_id=environment.team.robin.id).exists()


def test_SEC5_the_persons_sockets_are_asked_anew_when_it_is_given_and_taken(
    environment, monkeypatch, django_capture_on_commit_callbacks
):
    sent = []
    monkeypatch.setattr(redis_client, "publish", lambda messages: sent.extend(messages))

    def told(act):
        sent.clear()
        with django_capture_on_commit_callbacks(execute=True):
            act()
        return [text for channel, text in sent if channel.endswith(f"group__{RIGHTS_GROUP}")]

    (given,) = told(lambda: give(environment, AgentGrant, "save_agent_actor", environment.team.robin))
    assert str(environment.team.bob.id).encode() in given
    grant = AgentGrant.objects.get()
    assert told(lambda: environment.client.post(page(AgentGrant, grant.pk, "delete"), {"post": "yes"}))


def test_rights_are_chosen_by_readable_names_and_only_those_of_the_object(environment):
    html = environment.client.get(page(AgentGrant, "add")).content.decode()
    assert "Can save versions of this agent" in html
    for wrong in ("Can invite people", "Can add actor", "actors | actor"):
        assert wrong not in html


@pytest.mark.parametrize(
    ("who", "words"), [("charlie", "opens no door by itself"), ("robin", "people whose account is open")]
)
def test_a_grant_that_would_do_nothing_is_refused_with_the_reason(environment, who, words):
    answer = give(environment, AgentGrant, "save_agent_actor", environment.team.robin, person=environment.team[who])
    assert words in answer.content.decode()
    assert not AgentGrant.objects.exists()


def test_nobody_is_let_into_a_public_agent(environment):
    Actor.objects.filter(pk=environment.team.robin.pk).update(
        is_public=True, is_shipped=True, workspace=None, published_at=environment.team.robin.created_at
    )
    answer = give(environment, AgentGrant, "save_agent_actor", environment.team.robin)
    assert "Nobody may change a public agent" in answer.content.decode()
    assert not AgentGrant.objects.exists()


def test_the_pages_of_person_and_object_lead_to_a_form_that_is_filled_in(environment):
    for row, named in ((environment.team.bob, "user"), (environment.team.robin, "content_object")):
        html = environment.client.get(page(Actor, row.pk, "change")).content.decode()
        address = f"{page(AgentGrant, 'add')}?{named}={row.pk}"
        assert address in html
        assert f'value="{row.pk}" selected' in environment.client.get(address).content.decode()


def test_SEC5_who_leaves_the_workspace_loses_what_was_granted_and_coming_back_gives_nothing_back(environment):
    team = environment.team
    for grants, verb, target in ((AgentGrant, "save_agent_actor", team.robin), (ChatGrant, "stop_run_chat", team.chat),
                                 (WorkspaceGrant, "create_agent_workspace", team.workspace)):  # fmt: skip
        give(environment, grants, verb, target)
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


def test_what_was_granted_elsewhere_and_to_others_stays(environment):
    team = environment.team
    elsewhere = workspaces.create_workspace(team.bob, name="Bob's")
    give(environment, WorkspaceGrant, "create_agent_workspace", elsewhere)
    give(environment, AgentGrant, "save_agent_actor", team.robin, person=team.alice)
    with transaction.atomic():
        workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    assert (WorkspaceGrant.objects.count(), AgentGrant.objects.count()) == (1, 1)
