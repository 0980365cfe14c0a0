"""A lost connection and an unavailable server are shown, and nothing is lost."""

import re

import pytest
from playwright.sync_api import Browser, Request, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def test_the_web_app_stays_usable_while_the_server_is_unavailable(browser: Browser, stack: Stack, model: ScriptedModel):
    alice = Person(browser, stack, "Alice", viewport={"width": 1280, "height": 800})
    model.reset()
    start(alice, model)
    page = alice.page
    page.clock.install()
    side = page.get_by_role("navigation", name="Workspace")
    side.get_by_role("link", name=re.compile("Suggestions")).click()
    expect(page.get_by_text("No pending suggestions")).to_be_visible()  # loads the code of this screen
    page.go_back()
    alice.sees("Hello, I am Scribe.")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(get_path(request)))

    # The data of the person are old, but hovering over a link sends no request.
    page.clock.fast_forward("02:00")
    side.get_by_role("link", name=re.compile("Suggestions")).hover()
    side.get_by_role("link", name="Settings").hover()
    side.get_by_role("link", name=re.compile("Suggestions")).hover()
    assert "/api/v1/me" not in asked

    # Being offline is shown at once; links work, and the sidebar stays.
    alice.context.set_offline(True)
    page.evaluate("window.dispatchEvent(new Event('offline'))")
    expect(page.get_by_text("You are offline.")).to_be_visible()
    side.get_by_role("link", name=re.compile("Suggestions")).click()
    page.wait_for_url("**/suggestions")
    expect(side).to_be_visible()
    expect(page.get_by_text("This page could not be shown")).to_have_count(0)

    # A message that was written offline is sent later by itself.
    page.go_back()
    alice.post("typed offline")
    alice.sees(re.compile("Not sent"))
    alice.context.set_offline(False)
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(alice.log.get_by_text("Not sent")).to_have_count(0)
    expect(page.get_by_text("You are offline.")).to_have_count(0)
    alice.sees("typed offline")
    alice.close()


def get_path(request: Request) -> str:
    return re.sub(r"^https?://[^/]+", "", request.url)
