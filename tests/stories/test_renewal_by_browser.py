"""A page that was open during a deployment: its files are no longer on the server, but no typed text is lost."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

TEXT = "half a thought"


@pytest.fixture
def alice(browser: Browser, stack: Stack, model: ScriptedModel) -> Iterator[Person]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1280, "height": 800})
    model.reset()
    start(alice, model)
    yield alice
    alice.close()


def remove_file(page: Page, part: str) -> None:
    """Let the file of a part of the page be missing."""
    page.route(f"**/assets/{part}-*.js", lambda route: route.fulfill(status=404))


def test_a_page_with_a_missing_file_reloads_once_and_keeps_the_draft_message(alice: Person):
    page = alice.page
    loads: list[str] = []
    page.on("load", lambda page: loads.append(page.url))
    missing = page.get_by_role("alert").filter(has_text="could not be loaded")
    composer = page.get_by_placeholder(re.compile("^Message "))
    remove_file(page, "WorkshopPanel")
    remove_file(page, "Palette")

    # If typed text would be lost, reloading is offered.
    chat = page.url
    page.goto(re.sub(r"/c/.*", "/settings?section=profile", chat))
    name = page.get_by_role("main").get_by_label("Your name")
    name.fill(TEXT)
    loads.clear()
    page.keyboard.press("Control+k")
    expect(missing).to_be_visible()
    expect(name).to_have_value(TEXT)
    assert loads == []

    # If nothing would be lost, the page reloads once.
    page.goto(chat)
    composer.fill(TEXT)
    loads.clear()
    page.get_by_role("button", name=re.compile("^Workshop")).click()
    expect(missing).to_be_visible()
    expect(composer).to_have_value(TEXT)
    assert len(loads) == 1

    # The files of the new version are there.
    page.unroute_all()
    missing.get_by_role("button", name="Reload").click()
    expect(alice.workshop).to_be_visible()
    expect(composer).to_have_value(TEXT)
    assert len(loads) == 2
