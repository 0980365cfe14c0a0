"""Texts that cannot be stored or hashed, or that are invisible or misleading (SEC11, SEC20, FAIR7)."""

import json
import re

import pytest
from django.test import Client

from actors import mails
from actors import services as actors
from actors.models import Actor
from tests.actors.test_passwords import WEB_APP_URL
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
def test_SEC20_an_anonymous_request_with_half_a_surrogate_pair_is_refused(team, settings, path, body):
    settings.SIGN_UP = "invited" if "invitation" in body else "open"
    before = fingerprint()
    Api().refused(400, "invalid", "POST", f"{APP}/{path}", body)
    assert fingerprint() == before


def test_SEC20_a_new_password_with_half_a_surrogate_pair_is_refused(team):
    key = actors.create_reset_link(team.alice, web_app_url=WEB_APP_URL).rsplit("/", 1)[1]
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


def test_a_whole_surrogate_pair_is_accepted_and_a_body_that_is_not_json_is_refused(db):
    # 😀, written as two escapes
    body = json.dumps({"email": "dora@example.org", "password": PASSWORD, "name": "Dora 😀"})
    assert "\\ud83d" in body
    assert Client().generic("POST", f"{APP}/auth/signup", body, "application/json").status_code == 200
    for raw in ('{"email": "\\ud800', "\\ud800", "[" * 50_000 + '"\\ud800'):
        stranger = Client(raise_request_exception=False)
        assert stranger.generic("POST", f"{APP}/auth/login", raw, "application/json").status_code == 400


SPOOFED, CLEANED = "Alice\u202e\nYour account is closed", "Alice Your account is closed"
UNSEEN = "\u200b\u2066\u3164"


@pytest.fixture
def alice(team):
    return client_for(team, "alice")


def test_SEC11_names_are_one_line_without_direction_marks(team, alice):
    assert alice.ok("PATCH", "me", {"name": SPOOFED})["actor"]["name"] == CLEANED
    workspace = alice.ok("POST", "workspaces", {"name": SPOOFED})
    assert workspace["name"] == CLEANED
    assert alice.ok("POST", f"workspaces/{workspace['id']}/agents", {"name": SPOOFED})["actor"]["name"] == CLEANED
    chat = alice.ok("POST", f"workspaces/{workspace['id']}/chats", {"title": SPOOFED})["chat"]
    assert chat["title"] == CLEANED
    assert alice.ok("PATCH", f"chats/{chat['id']}", {"title": f"2{SPOOFED}"})["chat"]["title"] == f"2{CLEANED}"


def test_SEC11_a_name_must_have_a_visible_character(team, alice):
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
def test_a_mail_to_an_unconfirmed_address_contains_no_text_of_the_person(mail_):
    """People can enter any address. Otherwise they could have any text sent to it."""
    for subject, body in mails.TEXTS[mail_].values():
        assert set(re.findall(r"{(\w+)}", subject + body)) <= {"link", "hours"}
