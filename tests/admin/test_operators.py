"""Access to the admin: who may enter, what each level may do, and the content security policy."""

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
    build_action_url,
    build_path,
    create_rows,
    list_action_names,
    run_action,
    run_list_action,
    sign_in_as,
)
from tests.factories.actors import PASSWORD
from tests.people import make_operator


def set_level_and_sign_in(environment, person, name):
    run_action(environment.client, person, "set_access_level", level=name)
    person.refresh_from_db()
    return sign_in_as(person)


@pytest.mark.parametrize(
    "path", ["/admin/", "/admin/login/", "/admin/actors/actor/", "/admin/jsi18n/", "/admin/nothing/"]
)
def test_SEC1_a_person_who_is_no_operator_gets_404_without_a_hint(team, path):
    answer, nowhere = sign_in_as(team.alice).get(path), sign_in_as(team.alice).get("/api/v1/nothing-here")
    assert answer.status_code == nowhere.status_code == 404
    assert answer.content == b"There is nothing at this URL."
    assert "unfold" not in str(answer.headers)
    opened = sign_in_as(team.alice).get(path, headers={"accept": "text/html"})
    assert (opened.status_code, b"unfold" in opened.content) == (404, False)


def test_signed_out_people_are_redirected_to_sign_in(db):
    for path in ("/admin/", "/admin/runs/run/", "/admin/nothing/"):
        answer = Client().get(path)
        assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (302, "/admin/login/")


def test_an_agent_cannot_sign_in_to_the_admin(environment):
    browser = sign_in_as(environment.team.robin)
    assert browser.get("/admin/").status_code == 302
    assert not Client().login(username="robin", password="")


def test_a_reader_can_see_everything_and_change_nothing(environment, without_navigation):
    """Each action of each table gets 403 and changes nothing."""
    create_rows(environment.team, 1)
    reader = set_level_and_sign_in(environment, environment.team.alice, "reader")
    before = AuditRecord.objects.exclude(action="admin.opened").count()
    for model in MODELS:
        row = model._default_manager.order_by("-pk")[0]
        assert reader.get(build_path(model)).status_code == 200
        html = reader.get(build_path(model, row.pk, "change")).content.decode()
        for name in list_action_names(model):
            assert build_action_url(row, name) not in html
            assert run_action(reader, row, name).status_code == 403
            run_list_action(reader, model, name, row)
    assert reader.get(build_path(AgentGrant, "add")).status_code == 403
    assert (
        reader.post(build_path(AgentGrant, AgentGrant.objects.all()[0].pk, "delete"), {"post": "yes"}).status_code
        == 403
    )
    assert AuditRecord.objects.exclude(action="admin.opened").count() == before


def test_an_operator_can_do_everything_except_appoint_operators(environment):
    operator = set_level_and_sign_in(environment, environment.team.alice, "operator")
    run_action(operator, environment.team.bob, "deactivate")
    assert not Actor.objects.get(pk=environment.team.bob.pk).is_active
    assert (
        b"Only a superuser can appoint operators"
        in run_action(operator, environment.team.bob, "set_access_level", level="superuser").content
    )
    assert not Actor.objects.get(pk=environment.team.bob.pk).is_staff


@pytest.mark.parametrize("name", ["deactivate", "reset_link", "sign_out", "revoke_tokens"])
def test_an_operator_cannot_change_the_account_of_another_operator(environment, name):
    operator = set_level_and_sign_in(environment, environment.team.alice, "operator")
    other = make_operator("Other")
    assert b"Only a superuser changes an operator" in run_action(operator, other, name).content
    assert not AuditRecord.objects.filter(object_id=other.pk).exclude(action="admin.opened").exists()


@pytest.mark.parametrize(
    ("name", "verbs"), [("reader", {"view"}), ("operator", {"view", "change"}), ("no_access", set())]
)
def test_a_level_applies_to_all_tables_including_later_ones(environment, name, verbs):
    set_level_and_sign_in(environment, environment.team.alice, name)
    table = ContentType.objects.create(app_label="agents", model="newcomer")
    for verb in ("view", "change", "add", "delete"):
        Permission.objects.create(content_type=table, codename=f"{verb}_newcomer", name=verb)
    alice = Actor.objects.get(pk=environment.team.alice.pk)
    assert {verb for verb in ("view", "change", "add", "delete") if alice.has_perm(f"agents.{verb}_newcomer")} == verbs
    assert alice.has_perm("agents.add_agentgrant") is (name == "operator")
    assert not alice.has_perm("auth.view_group")


def test_a_demoted_operator_loses_access_with_the_next_request(environment):
    operator = set_level_and_sign_in(environment, environment.team.alice, "operator")
    assert operator.get("/admin/").status_code == 200
    set_level_and_sign_in(environment, environment.team.alice, "no_access")
    assert operator.get("/admin/").status_code == 404
    assert operator.get("/api/v1/me").status_code == 200


def test_SEC5_signing_out_closes_the_sockets_of_the_session(environment, monkeypatch):
    notified: list[object] = []
    monkeypatch.setattr(admin_site, "publish_rights_changed", notified.append)
    assert environment.client.post("/admin/logout/").status_code in (200, 302)
    assert notified == [environment.operator.pk]
    assert environment.client.get("/api/v1/me").status_code == 401


def test_the_level_of_a_superuser_cannot_be_changed(environment):
    run_action(environment.client, environment.operator, "set_access_level", level="no_access")
    assert Actor.objects.get(pk=environment.operator.pk).is_superuser


def test_SEC21_failed_sign_ins_to_the_admin_are_limited(environment, settings):
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


def test_SEC21_sign_in_is_refused_while_attempts_cannot_be_counted(environment, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "5/5m/key"}
    settings.CACHES = {"default": settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1"}}
    answer = Client().post("/admin/login/", {"username": environment.operator.email, "password": PASSWORD})
    assert "not possible right now" in answer.content.decode()


def test_the_wider_content_security_policy_applies_to_the_admin_only(environment):
    admin = environment.client.get(build_path(Run)).headers["Content-Security-Policy"]
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
