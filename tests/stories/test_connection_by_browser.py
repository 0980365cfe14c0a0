"""A line that breaks, and a server that is away: both are said, and nothing is lost or torn down."""

import re

import pytest
from playwright.sync_api import Browser, Request, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def test_the_shell_stays_when_the_server_is_away_and_going_about_does_not_wait_for_it(
    browser: Browser, stack: Stack, model: ScriptedModel
):
    alice = Person(browser, stack, "Alice", viewport={"width": 1280, "height": 800})
    model.reset()
    start(alice, model)
    page = alice.page
    page.clock.install()
    side = page.get_by_role("navigation", name="Workspace")
    side.get_by_role("link", name=re.compile("Suggestions")).click()
    expect(page.get_by_text("No pending suggestions")).to_be_visible()  # its parts have been loaded
    page.go_back()
    alice.sees("Hello, I am Scribe.")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(path_of(request)))

    # What is known of the person is old, and looking at a link asks for nothing.
    page.clock.fast_forward("02:00")
    side.get_by_role("link", name=re.compile("Suggestions")).hover()
    side.get_by_role("link", name="Settings").hover()
    side.get_by_role("link", name=re.compile("Suggestions")).hover()
    assert "/api/v1/me" not in asked

    # Offline is said at once; a click leads on, and the sidebar stays.
    alice.context.set_offline(True)
    page.evaluate("window.dispatchEvent(new Event('offline'))")
    expect(page.get_by_text("You are offline.")).to_be_visible()
    side.get_by_role("link", name=re.compile("Suggestions")).click()
    page.wait_for_url("**/suggestions")
    expect(side).to_be_visible()
    expect(page.get_by_text("This page could not be shown")).to_have_count(0)

    # What is said meanwhile goes out by itself.
    page.go_back()
    alice.post("typed offline")
    alice.sees(re.compile("Not sent"))
    alice.context.set_offline(False)
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(alice.log.get_by_text("Not sent")).to_have_count(0)
    expect(page.get_by_text("You are offline.")).to_have_count(0)
    alice.sees("typed offline")
    alice.close()


def path_of(request: Request) -> str:
    return re.sub(r"^https?://[^/]+", "", request.url)
