"""The operators' view: every table opens, secrets stay hidden, changes go through services and are logged."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.test import Client

from actors.models import Actor
from agents.models import AgentGrant, Draft
from agents.permissions import AgentVerb, get_agent_for
from agents.services import drafts
from common.errors import Forbidden
from common.secrets import Secret
from events.models import AuditRecord
from tests.api.test_rights import OURS
from workspaces import services as workspaces


@pytest.fixture
def operator(team):
    team.operator = Actor.people.create_superuser("op@example.org", "a long enough password", name="Op")
    client = Client()
    assert client.login(username="op@example.org", password="a long enough password")
    return client


def path(model, *more):
    return "/".join(["/admin", model._meta.app_label, model._meta.model_name, *map(str, more)]) + "/"


MODELS = [model for model in apps.get_models() if model._meta.app_label in OURS]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_table_can_be_listed_searched_and_opened(operator, team, model):
    workspaces.set_model(
        workspace=team.workspace, actor=team.alice, provider="openai", default_model="m", revision=0,
        key=Secret("sk-CANARY-0123456789abcdef"),
    )  # fmt: skip
    drafts.take_draft(actor=team.alice, chat_id=team.chat.id, agent_id=team.robin.id)
    assert admin.site.is_registered(model)
    assert operator.get(path(model)).status_code == 200
    assert operator.get(path(model), {"q": "a"}).status_code in (200, 302)
    if row := model.objects.first():
        page = operator.get(path(model, row.pk, "change"))
        assert page.status_code == 200
        assert b"CANARY" not in page.content
        assert b"sealed_key" not in page.content
        assert b"token_hash" not in page.content
        assert AuditRecord.objects.filter(deed="admin.opened", facts__table=model._meta.label).exists() or (
            model.__name__.endswith("Grant")
        )


@pytest.mark.parametrize("who", ["alice", None])
def test_the_admin_is_closed_to_those_who_are_no_operators(team, who):
    client = Client()
    if who:
        client.force_login(team[who])
    for model in MODELS:
        assert client.get(path(model)).status_code == 302


def test_nothing_is_typed_into_a_row(operator, team):
    before = team.alice.email
    answer = operator.post(path(Actor, team.alice.pk, "change"), {"email": "evil@example.org"})
    assert answer.status_code == 403
    team.alice.refresh_from_db()
    assert team.alice.email == before
    assert operator.get(path(Actor, "add")).status_code == 403


def act(operator, model, action, *rows):
    return operator.post(path(model), {"action": action, "_selected_action": [row.pk for row in rows]}, follow=True)


def test_C3_an_operator_frees_a_lock_and_it_is_logged(operator, team):
    draft = drafts.take_draft(actor=team.bob, chat_id=team.chat.id, agent_id=team.robin.id)
    act(operator, Draft, "free_draft", draft)
    draft.refresh_from_db()
    assert (draft.holder, draft.status) == (None, "drafting")
    assert AuditRecord.objects.filter(deed="draft.freed", object_id=draft.id, actor=team.operator).exists()


def test_a_deactivated_person_is_out_at_once(operator, team):
    client = Client()
    client.force_login(team.bob)
    assert client.get("/api/v1/me").status_code == 200
    act(operator, Actor, "deactivate", team.bob)
    assert client.get("/api/v1/me").status_code == 401
    act(operator, Actor, "activate", team.bob)
    assert client.get("/api/v1/me").status_code == 200


def test_a_refused_action_is_told_and_changes_nothing(operator, team):
    page = act(operator, Actor, "deactivate", team.robin)
    assert b"Agents have no account" in page.content
    assert not AuditRecord.objects.filter(deed="person.deactivated").exists()


def test_a_grant_lets_one_suggester_save_one_agent(operator, team):
    with pytest.raises(Forbidden):
        get_agent_for(team.bob, team.robin.id, AgentVerb.SAVE)
    permission = Permission.objects.get(codename="save_agent_actor")
    body = {"user": team.bob.pk, "permission": permission.pk, "content_object": team.robin.pk}
    assert operator.post(path(AgentGrant, "add"), body).status_code == 302
    assert get_agent_for(team.bob, team.robin.id, AgentVerb.SAVE) == team.robin
    with pytest.raises(Forbidden):
        get_agent_for(team.bob, team.robin.id, AgentVerb.DELETE)
    assert AuditRecord.objects.filter(deed="grant.given", object_id=team.robin.id).exists()
