"""A session cookie is refused for a page that was loaded for another person."""

import pytest
from django.test import Client

from chats.models import Message
from common.ids import new_id


@pytest.fixture
def browser(team):
    """A browser in which Bob is signed in. A page of Alice may still be open."""
    client = Client()
    client.force_login(team.bob)
    return client


def post(browser, team, person):
    body = {"id": str(new_id()), "text": "a note of Alice's"}
    return browser.post(
        f"/api/v1/chats/{team.chat.id}/messages",
        body,
        "application/json",
        headers={"X-Atelier-Person": str(person.id)},
    )


def test_FAIR6_a_request_of_a_page_of_another_person_is_refused(team, browser):
    before = Message.objects.count()
    answer = post(browser, team, team.alice)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "not_signed_in")
    assert Message.objects.count() == before
    read = browser.get("/api/v1/me", headers={"X-Atelier-Person": str(team.alice.id)})
    assert read.status_code == 401


def test_a_page_of_the_same_person_is_served(team, browser):
    answer = post(browser, team, team.bob)
    assert answer.status_code == 201
    assert answer.json()["author_id"] == str(team.bob.id)
