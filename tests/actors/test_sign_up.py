"""The modes of sign-up: open, invited and closed."""

import pytest

from actors.models import Actor
from chats import services as chats
from tests.api.client import APP, Api
from tests.factories.actors import PASSWORD

pytestmark = pytest.mark.django_db


def sign_up(**more):
    body = {"email": "dora@example.org", "password": PASSWORD, "name": "Dora", **more}
    answer = Api()("POST", f"{APP}/auth/signup", body)
    return answer.status_code, answer.json().get("error", {}).get("code")


@pytest.fixture
def link(team):
    made, url = chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)
    return made, url.rsplit("/", 1)[1]


def test_everyone_can_sign_up_in_mode_open(team):
    assert Api().ok("GET", "sign-up") == {"mode": "open", "confirms_email": False}
    assert sign_up()[0] == 200


def test_sign_up_requires_a_valid_link_in_mode_invited(team, link, settings):
    settings.SIGN_UP = "invited"
    assert Api().ok("GET", "sign-up")["mode"] == "invited"
    made, token = link
    chats.revoke_link(team.alice, made.id)
    for tried in ({}, {"invitation": ""}, {"invitation": "x"}, {"invitation": token}, {"invitation": "\x00"}):
        status, code = sign_up(**tried)
        assert status in (400, 403)
        assert code in ("sign_up_closed", None)
    assert not Actor.people.filter(email="dora@example.org").exists()
    _, url = chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)
    assert sign_up(invitation=url.rsplit("/", 1)[1])[0] == 200


def test_no_one_can_sign_up_in_mode_closed(team, link, settings):
    settings.SIGN_UP = "closed"
    assert sign_up(invitation=link[1]) == (403, "sign_up_closed")
    assert not Actor.people.filter(email="dora@example.org").exists()
