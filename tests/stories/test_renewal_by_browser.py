"""A page that was open during a deploy: its files are gone from the server, and nobody loses a word."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

WORDS = "half a thought"


@pytest.fixture
def alice(browser: Browser, stack: Stack, model: ScriptedModel) -> Iterator[Person]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1280, "height": 800})
    model.reset()
    start(alice, model)
    yield alice
    alice.close()


def lose(page: Page, part: str) -> None:
    """The file of a part of the page is gone."""
    page.route(f"**/assets/{part}-*.js", lambda route: route.fulfill(status=404))


def test_a_page_that_misses_a_file_loads_itself_anew_once_and_keeps_what_is_written(alice: Person):
    page = alice.page
    loads: list[str] = []
    page.on("load", lambda page: loads.append(page.url))
    missing = page.get_by_role("alert").filter(has_text="could not be loaded")
    composer = page.get_by_placeholder(re.compile("^Message "))
    lose(page, "WorkshopPanel")
    lose(page, "Palette")

    # Where something would be lost, it is offered.
    chat = page.url
    page.goto(re.sub(r"/c/.*", "/settings?section=profile", chat))
    name = page.get_by_role("main").get_by_label("Your name")
    name.fill(WORDS)
    loads.clear()
    page.keyboard.press("Control+k")
    expect(missing).to_be_visible()
    expect(name).to_have_value(WORDS)
    assert loads == []

    # Where nothing would be, it is done, once.
    page.goto(chat)
    composer.fill(WORDS)
    loads.clear()
    page.get_by_role("button", name=re.compile("^Workshop")).click()
    expect(missing).to_be_visible()
    expect(composer).to_have_value(WORDS)
    assert len(loads) == 1

    # The files of the new version are there.
    page.unroute_all()
    missing.get_by_role("button", name="Reload").click()
    expect(alice.workshop).to_be_visible()
    expect(composer).to_have_value(WORDS)
    assert len(loads) == 2
