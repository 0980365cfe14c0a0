"""Who gets in, how far, and under which policy of the browser."""

import pytest
from django.contrib.auth.models import Permission
from django.contrib.contenttypes.models import ContentType
from django.core.cache import cache
from django.test import Client

from actors.models import Actor
from agents.models import AgentGrant
from events.models import AuditRecord
from operators import site as admin_site
from runs.models import Run
from tests.admin.environment import (
    MODELS,
    action_names,
    action_url,
    fill,
    page,
    run_action,
    run_list_action,
    sign_in_as,
)
from tests.factories.actors import PASSWORD
from tests.people import make_operator


def level(environment, person, name):
    run_action(environment.client, person, "set_level", level=name)
    person.refresh_from_db()
    return sign_in_as(person)


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/login/", "/admin/actors/actor/", "/admin/jsi18n/", "/admin/nothing/"]
)
def test_SEC1_who_is_no_operator_finds_nothing_and_no_hint(team, path):
    answer, nowhere = sign_in_as(team.alice).get(path), sign_in_as(team.alice).get("/api/v1/nothing-here")
    assert answer.status_code == nowhere.status_code == 404
    assert answer.content == b"There is nothing at this address."
    assert "unfold" not in str(answer.headers)


def test_the_signed_out_are_asked_to_sign_in_whatever_they_ask_for(db):
    for path in ("/admin/", "/admin/runs/run/", "/admin/nothing/"):
        answer = Client().get(path)
        assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (302, "/admin/login/")


def test_S02_an_agent_never_gets_in(environment):
    browser = sign_in_as(environment.team.robin)
    assert browser.get("/admin/").status_code == 302
    assert not Client().login(username="robin", password="")


def test_a_reader_sees_everything_and_does_nothing(environment):
    """Every button of every table, pressed all the same: 403, and nothing has changed."""
    fill(environment.team, 1)
    reader = level(environment, environment.team.alice, "reader")
    before = AuditRecord.objects.exclude(action="admin.opened").count()
    for model in MODELS:
        row = model._default_manager.order_by("-pk")[0]
        assert reader.get(page(model)).status_code == 200
        html = reader.get(page(model, row.pk, "change")).content.decode()
        for name in action_names(model):
            assert action_url(row, name) not in html
            assert run_action(reader, row, name).status_code == 403
            run_list_action(reader, model, name, row)
    assert reader.get(page(AgentGrant, "add")).status_code == 403
    assert reader.post(page(AgentGrant, AgentGrant.objects.all()[0].pk, "delete"), {"post": "yes"}).status_code == 403
    assert AuditRecord.objects.exclude(action="admin.opened").count() == before


def test_an_operator_does_everything_but_make_operators(environment):
    operator = level(environment, environment.team.alice, "operator")
    run_action(operator, environment.team.bob, "deactivate")
    assert not Actor.objects.get(pk=environment.team.bob.pk).is_active
    assert (
        b"Only a superuser can appoint operators"
        in run_action(operator, environment.team.bob, "set_level", level="superuser").content
    )
    assert not Actor.objects.get(pk=environment.team.bob.pk).is_staff


@pytest.mark.parametrize("name", ["deactivate", "reset_link", "sign_out", "revoke_tokens"])
def test_no_operator_gets_lock_of_another_operators_account(environment, name):
    operator = level(environment, environment.team.alice, "operator")
    other = make_operator("Other")
    assert b"Only a superuser changes an operator" in run_action(operator, other, name).content
    assert not AuditRecord.objects.filter(object_id=other.pk).exclude(action="admin.opened").exists()


@pytest.mark.parametrize(("name", "verbs"), [("reader", {"view"}), ("operator", {"view", "change"}), ("nobody", set())])
def test_a_level_means_the_tables_there_are_also_those_that_came_after_it_was_given(environment, name, verbs):
    level(environment, environment.team.alice, name)
    table = ContentType.objects.create(app_label="agents", model="newcomer")
    for verb in ("view", "change", "add", "delete"):
        Permission.objects.create(content_type=table, codename=f"{verb}_newcomer", name=verb)
    alice = Actor.objects.get(pk=environment.team.alice.pk)
    assert {verb for verb in ("view", "change", "add", "delete") if alice.has_perm(f"agents.{verb}_newcomer")} == verbs
    assert alice.has_perm("agents.add_agentgrant") is (name == "operator")
    assert not alice.has_perm("auth.view_group")


def test_who_is_no_operator_any_more_is_out_with_the_next_request(environment):
    operator = level(environment, environment.team.alice, "operator")
    assert operator.get("/admin/").status_code == 200
    level(environment, environment.team.alice, "nobody")
    assert operator.get("/admin/").status_code == 404
    assert operator.get("/api/v1/me").status_code == 200


def test_SEC5_signing_out_ends_what_the_session_has_open(environment, monkeypatch):
    told: list[object] = []
    monkeypatch.setattr(admin_site, "notify_rights_changed", told.append)
    assert environment.client.post("/admin/logout/").status_code in (200, 302)
    assert told == [environment.operator.pk]
    assert environment.client.get("/api/v1/me").status_code == 401


def test_a_superuser_stays_one(environment):
    run_action(environment.client, environment.operator, "set_level", level="nobody")
    assert Actor.objects.get(pk=environment.operator.pk).is_superuser


def test_SEC21_guessing_at_the_operators_door_is_limited(environment, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "5/5m/key"}
    cache.clear()
    body = {"username": environment.operator.email, "password": "wrong", "next": "/admin/"}
    answers = [Client().post("/admin/login/", body).content.decode() for _ in range(8)]
    assert "Too many" not in answers[0]
    assert "Too many" in answers[-1]
    right = Client().post("/admin/login/", body | {"password": PASSWORD})
    assert "Too many" in right.content.decode()
    cache.clear()
    assert Client().post("/admin/login/", body | {"password": PASSWORD}).status_code == 302


def test_SEC21_who_cannot_be_counted_stays_outside(environment, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "5/5m/key"}
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1"}}
    answer = Client().post("/admin/login/", {"username": environment.operator.email, "password": PASSWORD})
    assert "not possible right now" in answer.content.decode()


def test_the_operators_policy_is_wider_and_for_their_pages_alone(environment):
    admin = environment.client.get(page(Run)).headers["Content-Security-Policy"]
    assert "script-src 'self' 'unsafe-eval';" in admin + ";"
    assert "'unsafe-inline'" not in admin.partition("script-src")[2].partition(";")[0]
    assert "frame-ancestors 'none'" in admin
    assert "default-src 'none'" in admin
    for path in ("/", "/sign-in", "/api/v1/me", "/admin", "/administrator/"):
        policy = Client().get(path).headers["Content-Security-Policy"]
        assert "unsafe-eval" not in policy, path
        assert "style-src 'self'" in policy
    assert "unsafe-eval" in Client().get("/admin/login/").headers["Content-Security-Policy"]
    assert "unsafe-eval" not in sign_in_as(environment.team.bob).get("/admin/").headers["Content-Security-Policy"]
