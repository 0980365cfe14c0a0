"""One's own account, in two browsers: a forgotten password, and a token for a program."""

import re
import time

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from common.ids import new_id
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.browser]

expect.set_options(timeout=20_000)


def a_page(browser: Browser, wrong: list[str]) -> Page:
    page = browser.new_context(locale="en-US").new_page()
    page.set_default_timeout(20_000)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda said: wrong.append(said.text) if "Content Security" in said.text else None)
    return page


def come_in(page: Page, stack: Stack, email: str) -> str:
    """A new person with a workspace; the address of its settings."""
    page.goto(f"{stack.address}/sign-up")
    page.get_by_label("Your name").fill("Alice")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill("a long enough password")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_label("Name of the workspace").fill(f"Lab {new_id()}")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/welcome?*step=model*")
    page.goto(stack.address)
    page.wait_for_url("**/w/**")
    return re.sub(r"(/w/[^/]+).*", r"\1/settings", page.url)


def link_in_the_log(stack: Stack, email: str) -> str:
    """What a mail would hold: this installation has no mail server."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        _, _, after = stack.log.partition(f"To: {email}")
        if found := re.search(r"http\S+/reset-password/\S+", after):
            return found[0]
        time.sleep(0.1)
    raise TimeoutError("No mail was written into the log.")


def test_a_token_is_made_and_a_forgotten_password_ends_the_other_session(stack, browser):
    wrong: list[str] = []
    email = f"alice-{new_id()}@example.org"
    first, second = a_page(browser, wrong), a_page(browser, wrong)
    settings = come_in(first, stack, email)
    first.goto(f"{settings}?section=tokens")
    first.get_by_label("What is it for?").fill("Deploy script")
    first.get_by_role("button", name="Make a token").click()
    text = first.get_by_label("New token").input_value()

    second.goto(f"{stack.address}/sign-in")
    second.get_by_role("link", name="Forgot password?").click()
    second.get_by_label("Email").fill(email)
    second.get_by_role("button", name="Send the link").click()
    expect(second.get_by_text("sends no email")).to_be_visible()
    second.goto(link_in_the_log(stack, email))
    second.get_by_label("New password").fill("quite another password")
    second.get_by_role("button", name="Set the password").click()
    second.wait_for_url("**/w/**")

    first.wait_for_url("**/sign-in**")  # its socket has ended, and it noticed
    by_token = httpx.get(f"{stack.address}/api/v1/me", headers={"Authorization": f"Bearer {text}"})
    assert by_token.json()["email"] == email
    second.goto(f"{stack.address}/api/docs/")
    expect(second.locator("[data-path='/api/v1/me']").first).to_be_visible()
    assert wrong == []
