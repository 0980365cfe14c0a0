"""Two people use one browser, one after the other: nothing of the first is shown to, or sent by, the second (FAIR6)."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, Request, expect

from common.ids import new_id
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import PASSWORD, Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture
def shared(browser: Browser, stack: Stack) -> Iterator[Person]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1280, "height": 800})
    yield alice
    alice.close()


def sign_in(page: Page, email: str) -> None:
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def create_account(stack: Stack, name: str) -> str:
    """Sign up a person in another browser. Return their email address."""
    email = f"{name.lower()}-{new_id()}@example.org"
    body = {"email": email, "password": PASSWORD, "name": name}
    httpx.post(f"{stack.url}/_allauth/app/v1/auth/signup", json=body).raise_for_status()
    return email


def read_email(page: Page) -> str:
    email: str = page.evaluate("fetch('/api/v1/me').then(answer => answer.json()).then(me => me.email)")
    return email


def sign_out_everywhere_else(stack: Stack, email: str) -> None:
    """End all sessions of this person from another device."""
    app = f"{stack.url}/_allauth/app/v1"
    create_session_key = httpx.post(f"{app}/auth/login", json={"email": email, "password": PASSWORD}).json()
    headers = {"X-Session-Token": create_session_key["meta"]["session_token"]}
    httpx.delete(f"{stack.url}/api/v1/me/sessions", headers=headers).raise_for_status()


def test_FAIR6_the_next_person_at_a_browser_sees_and_sends_nothing_of_the_previous_one(
    shared, stack: Stack, model: ScriptedModel
):
    model.reset()
    start(shared, model)
    page = shared.page
    of_alice, of_bob = read_email(page), create_account(stack, "Bob")
    chat = page.url

    # A message of Alice's cannot leave, and another is half written.
    posted: list[str] = []
    page.on("request", lambda request: posted.append(get_body(request)) if is_post(request) else None)
    are_refused = True
    # Refused for a while, and intercepted to the end: what is under way while an interception ends may wait for ever.
    page.route(
        "**/messages", lambda route: route.abort() if are_refused and is_post(route.request) else route.continue_()
    )
    shared.post("a private note of Alice's")
    shared.sees(re.compile("Not sent"))
    page.get_by_placeholder(re.compile("^Message ")).fill("half a sentence")

    # Her session ends elsewhere; Bob signs in at the page that is left.
    sign_out_everywhere_else(stack, of_alice)
    page.wait_for_url("**/sign-in?next=*")
    are_refused = False
    posted.clear()
    sign_in(page, of_bob)
    page.wait_for_url("**/welcome")  # not Alice's chat: he has no workspace yet
    page.goto(chat)
    expect(page.get_by_text("Page not found")).to_be_visible()
    expect(page.get_by_text("Hello, I am Scribe.")).to_have_count(0)
    assert posted == []

    # Bob leaves; Alice finds all that is hers, where she was, and it goes out in her name.
    page.evaluate(
        "fetch('/_allauth/browser/v1/auth/session', {method: 'DELETE', headers: {'X-CSRFToken': "
        "document.cookie.match(/csrftoken=([^;]*)/)[1]}})"
    )
    page.goto(chat)
    sign_in(page, of_alice)
    page.wait_for_url("**/w/**")
    page.goto(chat)
    expect(page.get_by_placeholder(re.compile("^Message "))).to_have_value("half a sentence")
    shared.sees("a private note of Alice's")
    expect(shared.log.get_by_text("Not sent")).to_have_count(0)
    authors = shared.log.get_by_role("article", name=re.compile("^Alice")).filter(has_text="a private note of Alice's")
    expect(authors).to_have_count(1)


def is_post(request: Request) -> bool:
    return request.method == "POST" and request.url.endswith("/messages")


def get_body(request: Request) -> str:
    return request.post_data or ""
