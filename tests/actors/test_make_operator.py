"""`manage.py make_operator`: the first operator is an account that exists, or a new one."""

import sys
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.db.models import Q

from actors.models import Actor
from actors.services.passwords import set_verified_email
from events.models import AuditRecord
from tests.api.client import APP, Api
from tests.people import make_person, make_team

pytestmark = pytest.mark.django_db
EMAIL, PASSWORD = "dora@example.org", "a long enough password"


class Terminal(StringIO):
    def isatty(self):
        return True


def make_operator(email, *options):
    output = StringIO()
    call_command("make_operator", email, *options, stdout=output)
    return output.getvalue()


def sign_up():
    body = {"email": EMAIL, "password": PASSWORD, "name": "Dora"}
    assert Api()("POST", f"{APP}/auth/signup", body).status_code == 200
    return Actor.people.get()


def opens_admin(email, password):
    session = Api()
    session.client.login(username=email, password=password)
    return session.client.get("/admin/").status_code == 200


@pytest.mark.parametrize(("options", "answer"), [((), "y\n"), ((), " YES\n"), (("--yes",), None)])
def test_who_has_signed_up_is_promoted_after_a_confirmation_and_keeps_their_password(monkeypatch, options, answer):
    sign_up()
    assert not opens_admin(EMAIL, PASSWORD)
    monkeypatch.setattr(sys, "stdin", StringIO() if answer is None else Terminal(answer))
    printed = make_operator("Dora@Example.org", *options)
    assert "Dora (@dora) is an operator now." in printed
    assert "reset-password" not in printed
    assert opens_admin(EMAIL, PASSWORD)
    assert Actor.people.get().is_superuser
    assert AuditRecord.objects.get(action="person.level_set").facts == {"level": "superuser"}


@pytest.mark.parametrize("stdin", [Terminal("n\n"), Terminal("\n"), Terminal(""), StringIO("y\n")])
def test_without_a_confirmation_an_account_is_shown_and_not_changed(monkeypatch, capsys, stdin):
    sign_up()
    before = Actor.objects.values().get()
    monkeypatch.setattr(sys, "stdin", stdin)
    with pytest.raises(CommandError, match="Nothing was changed") as refused:
        call_command("make_operator", EMAIL)
    assert refused.value.returncode == 1
    printed = capsys.readouterr().out
    assert "Dora (@dora)" in printed
    assert f"{EMAIL} (NOT verified" in printed
    assert f"{before['created_at']:%Y-%m-%d %H:%M}" in printed
    assert ("[y/N]" in printed) == stdin.isatty()
    assert Actor.objects.values().get() == before
    assert not AuditRecord.objects.filter(action="person.level_set").exists()


def test_a_verified_address_is_shown_as_such():
    set_verified_email(sign_up())
    assert f"{EMAIL} (verified)" in make_operator(EMAIL, "--yes")


def test_an_account_that_took_the_address_during_the_question_is_not_promoted(monkeypatch):
    class Changing(Terminal):
        def readline(self, size: int | None = -1, /):
            Actor.people.update(email="old@example.org")
            Actor.people.filter(pk=make_person("Mallory").pk).update(email=EMAIL)
            return "y\n"

    sign_up()
    monkeypatch.setattr(sys, "stdin", Changing())
    with pytest.raises(CommandError, match="has changed"):
        make_operator(EMAIL)
    assert not Actor.people.filter(Q(is_staff=True) | Q(is_superuser=True)).exists()


def test_without_an_account_one_is_created_with_a_link_for_its_password(settings):
    settings.WEB_APP_URL = "http://testserver"
    printed = make_operator(EMAIL)
    assert not opens_admin(EMAIL, "")
    link = printed.split()[-1]
    body = {"key": link.removeprefix("http://testserver/reset-password/"), "password": PASSWORD}
    Api().ok("POST", f"{APP}/auth/password/reset", body)
    assert opens_admin(EMAIL, PASSWORD)


def test_the_command_can_be_repeated():
    make_operator(EMAIL)
    assert "reset-password" not in make_operator(EMAIL)
    assert Actor.people.count() == 1
    assert AuditRecord.objects.filter(action="person.level_set").count() == 1


@pytest.mark.parametrize(
    ("email", "message"),
    [
        ("", "not an email address"),
        ("robin", "not an email address"),  # the handle of an agent
        ("@robin", "not an email address"),
        ("Dora <dora@example.org>", "not an email address"),
        ("closed@example.org", "is closed"),
    ],
)
def test_a_refused_address_changes_nobody(email, message):
    team = make_team()
    Actor.people.filter(pk=team.bob.pk).update(email="closed@example.org", is_active=False)
    before = list(Actor.objects.order_by("pk").values())
    with pytest.raises(CommandError, match=message):
        make_operator(email)
    assert list(Actor.objects.order_by("pk").values()) == before
    assert not AuditRecord.objects.filter(action="person.level_set").exists()


def test_agents_are_never_operators():
    team = make_team()
    with pytest.raises(IntegrityError, match="agent_never_signs_in"), transaction.atomic():
        Actor.objects.filter(pk=team.robin.pk).update(email="robin@example.org")
    make_operator("robin@example.org")
    assert not Actor.objects.filter(pk=team.robin.pk).filter(Q(is_staff=True) | Q(is_superuser=True)).exists()
