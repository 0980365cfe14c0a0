"""Without a key, a newcomer sees a sub-agent at work, and finds it in the directory to chat with it."""

import re
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


def test_the_demo_model_gives_browser_a_task_and_browser_is_in_the_directory(alice: Person, tmp_path):
    page = alice.page
    alice.open("/sign-up")
    alice.fill_in_account("Sign up")
    page.get_by_label("Workspace name").fill("Lighthouse")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Demo model").first.click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Create and start chatting").click()
    alice.sees("Hello, I am Scribe.")

    alice.open_workshop()
    alice.workshop.get_by_role("tab", name=re.compile("Tools")).click()
    alice.workshop.get_by_role("button", name="Edit", exact=True).click()
    alice.workshop.get_by_role("switch", name="delegate").click()
    alice.workshop.get_by_role("button", name="Apply here").click()
    alice.sees(re.compile("applied draft"))
    alice.post("Ask Browser to find the tides of today.")
    alice.sees(re.compile("browser did the task, and says: I am the demo model, and I play Browser"))
    page.screenshot(path=tmp_path / "task.png")

    page.get_by_role("link", name="Directory").click()
    card = page.get_by_role("link", name=re.compile("Browser"))
    expect(card).to_be_visible()
    page.screenshot(path=tmp_path / "directory.png")
    card.click()
    expect(page.get_by_text("cites each source with its link").first).to_be_visible()
    page.screenshot(path=tmp_path / "browser.png")
    page.get_by_role("button", name="Try it").first.click()
    alice.post("Hello")
    alice.sees(re.compile("I am Browser|I am the demo model"))
    page.screenshot(path=tmp_path / "chat.png")
