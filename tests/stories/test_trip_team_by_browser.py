"""A newcomer without a key gets a whole team by one click. Its lead plans a trip as a board, which the demo model plays."""

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


QUESTION = "Four days in Kyoto for six people under 120,000, dry weather if possible."


def test_a_newcomer_creates_the_trip_team_by_one_click_and_sees_its_board(alice: Person, tmp_path):
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
    boards = alice.log.locator("[data-board]")
    expect(boards).to_have_count(0)

    alice.post(QUESTION)
    board = alice.log.get_by_role("region", name="Board, 4 tasks")
    expect(board).to_contain_text("The demo model splits each trip in the same way")
    for number, agent in enumerate(("Weather", "Travel", "Finance", "Travel"), 1):
        expect(board.locator(f"[data-task='{number}']")).to_contain_text(agent)
    expect(board).to_contain_text("4 done", timeout=90_000)
    alice.sees(re.compile("I am the demo model, and I play Travel lead. Tasks of my plan: 4."), seconds=90)
    alice.sees(re.compile("Nothing is booked."))
    page.screenshot(path=tmp_path / "board.png", full_page=True)
    # It is the same from the stored rows.
    page.reload()
    expect(board).to_contain_text("4 done")
    expect(boards).to_have_count(1)
    alice.sees(re.compile("Nothing is booked."))
    assert alice.errors == []
