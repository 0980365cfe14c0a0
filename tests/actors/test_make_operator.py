"""`manage.py make_operator`: the first operator is an account that exists, or a new one."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.db.models import Q

from actors.models import Actor
from events.models import AuditRecord
from tests.api.client import APP, Api
from tests.people import make_team

pytestmark = pytest.mark.django_db
EMAIL, PASSWORD = "dora@example.org", "a long enough password"


def make_operator(email):
    output = StringIO()
    call_command("make_operator", email, stdout=output)
    return output.getvalue()


def opens_admin(email, password):
    session = Api()
    session.client.login(username=email, password=password)
    return session.client.get("/admin/").status_code == 200


def test_who_has_signed_up_is_promoted_and_keeps_their_password():
    body = {"email": EMAIL, "password": PASSWORD, "name": "Dora"}
    assert Api()("POST", f"{APP}/auth/signup", body).status_code == 200
    assert not opens_admin(EMAIL, PASSWORD)
    printed = make_operator("Dora@Example.org")
    assert printed.startswith("Dora (@dora, signed up 20")
    assert "reset-password" not in printed
    assert opens_admin(EMAIL, PASSWORD)
    assert Actor.people.get().is_superuser
    assert AuditRecord.objects.get(action="person.level_set").facts == {"level": "superuser"}


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
