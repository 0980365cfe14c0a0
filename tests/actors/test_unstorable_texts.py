"""Texts that cannot be stored, hashed or seen, or that pose as other text (SEC11, SEC20, FAIR7)."""

import json
import re

import pytest
from django.test import Client

from actors import mails
from actors import services as actors
from actors.models import Actor
from tests.actors.test_passwords import ADDRESS
from tests.api.client import APP, Api
from tests.api.test_rights import client_for, fingerprint
from tests.factories.actors import PASSWORD

pytestmark = pytest.mark.django_db

HALF = "\ud800"
BODIES = [
    ("auth/signup", {"email": "dora@example.org", "password": PASSWORD, "name": f"Do{HALF}ra"}),
    ("auth/signup", {"email": "dora@example.org", "password": f"{PASSWORD}\udfff", "name": "Dora"}),
    ("auth/signup", {"email": f"do{HALF}ra@example.org", "password": PASSWORD, "name": "Dora"}),
    ("auth/signup", {"email": "dora@example.org", "password": PASSWORD, "name": "Dora", "invitation": HALF}),
    ("auth/login", {"email": "alice@example.org", "password": HALF}),
    ("auth/login", {"email": f"alice@{HALF}", "password": PASSWORD}),
    ("auth/password/request", {"email": f"alice@{HALF}.org"}),
    ("auth/password/reset", {"key": f"{HALF}-x", "password": PASSWORD}),
]


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_SEC20_half_of_a_surrogate_pair_is_refused_to_an_outsider(team, settings, path, body):
    settings.SIGN_UP = "invited" if "invitation" in body else "open"
    before = fingerprint()
    Api().refused(400, "invalid", "POST", f"{APP}/{path}", body)
    assert fingerprint() == before


def test_SEC20_password_with_half_a_pair_is_refused_to_who_changes_it(team):
    key = actors.create_reset_link(team.alice, address=ADDRESS).rsplit("/", 1)[1]
    browser = Client()
    browser.force_login(team.alice)
    before = fingerprint()
    Api().refused(400, "invalid", "POST", f"{APP}/auth/password/reset", {"key": key, "password": f"{PASSWORD}{HALF}"})
    for body in (
        {"current_password": HALF, "new_password": "another long password"},
        {"current_password": PASSWORD, "new_password": f"another long {HALF}"},
    ):
        path = "/_allauth/browser/v1/account/password/change"
        answer = browser.generic("POST", path, json.dumps(body), "application/json")
        assert answer.status_code == 400
    assert fingerprint() == before


def test_a_whole_pair_and_what_is_no_json_are_read_as_before(db):
    # 😀, written as two escapes
    body = json.dumps({"email": "dora@example.org", "password": PASSWORD, "name": "Dora 😀"})
    assert "\\ud83d" in body
    assert Client().generic("POST", f"{APP}/auth/signup", body, "application/json").status_code == 200
    for raw in ('{"email": "\\ud800', "\\ud800", "[" * 50_000 + '"\\ud800'):
        stranger = Client(raise_request_exception=False)
        assert stranger.generic("POST", f"{APP}/auth/login", raw, "application/json").status_code == 400


SPOOFED, SHOWN = "Alice\u202e\nYour account is closed", "Alice Your account is closed"
UNSEEN = "\u200b\u2066\u3164"


@pytest.fixture
def alice(team):
    return client_for(team, "alice")


def test_SEC11_names_of_all_kinds_are_one_line_and_turn_nothing(team, alice):
    assert alice.ok("PATCH", "me", {"name": SPOOFED})["actor"]["name"] == SHOWN
    workspace = alice.ok("POST", "workspaces", {"name": SPOOFED})
    assert workspace["name"] == SHOWN
    assert alice.ok("POST", f"workspaces/{workspace['id']}/agents", {"name": SPOOFED})["actor"]["name"] == SHOWN
    chat = alice.ok("POST", f"workspaces/{workspace['id']}/chats", {"title": SPOOFED})["chat"]
    assert chat["title"] == SHOWN
    assert alice.ok("PATCH", f"chats/{chat['id']}", {"title": f"2{SPOOFED}"})["chat"]["title"] == f"2{SHOWN}"


def test_SEC11_nobody_and_nothing_is_called_by_a_name_that_cannot_be_seen(team, alice):
    before = fingerprint()
    for method, path in (
        ("PATCH", "me"),
        ("POST", "workspaces"),
        ("POST", f"workspaces/{team.workspace.id}/agents"),
    ):
        alice.refused(400, "invalid", method, path, {"name": UNSEEN})
    assert fingerprint() == before
    Api().ok("POST", f"{APP}/auth/signup", {"email": "dora@example.org", "password": PASSWORD, "name": UNSEEN})
    assert Actor.people.get(email="dora@example.org").name == "dora"


@pytest.mark.parametrize("mail_", ["confirm", "email_change"])
def test_mail_to_an_address_that_nobody_has_confirmed_carries_nothing_that_they_wrote(mail_):
    """Anybody can name anybody's address: our mails would be the letters of whoever does."""
    for subject, body in mails.TEXTS[mail_].values():
        assert set(re.findall(r"{(\w+)}", subject + body)) <= {"link", "hours"}
