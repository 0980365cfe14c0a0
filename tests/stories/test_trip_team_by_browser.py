"""A newcomer without a key gets a whole team by one click, and its lead greets in their chat."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.stack import Stack
from tests.stories.screens import Person

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture
def alice(browser: Browser, stack: Stack) -> Iterator[Person]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    yield alice
    alice.close()


def test_a_newcomer_creates_the_trip_team_by_one_click(alice: Person, tmp_path):
    page = alice.page
    alice.open("/sign-up")
    alice.fill_in_account("Sign up")
    page.get_by_label("Workspace name").fill("Lighthouse")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Demo model").first.click()
    page.get_by_role("button", name="Continue").click()
    group = page.get_by_role("group", name="Or start with a whole team")
    expect(group.get_by_role("listitem")).to_contain_text(["Travel lead", "Weather", "Finance", "Travel", "General"])
    page.screenshot(path=tmp_path / "templates.png", full_page=True)
    group.get_by_role("button", name="Create the team and its chat").click()
    alice.sees("Hello, I am Travel lead, and these are my agents.")
    # Travel lead answers a message that mentions nobody; the others do not.
    alice.post("Hello")
    alice.sees("Hello! I am Travel lead.")
    page.screenshot(path=tmp_path / "chat.png")
    assert alice.errors == []
