"""From a bad answer to a saved version by keyboard, and retrying a bad answer with the draft."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, join_by_link, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture
def alice(browser: Browser, stack: Stack, model: ScriptedModel) -> Iterator[Person]:
    model.reset()
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    start(alice, model)
    yield alice
    alice.close()


class KeyPresses:
    """Counts the key presses other than typed text."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.pressed: list[str] = []

    def press(self, chord: str) -> None:
        self.pressed.append(chord)
        self.person.page.keyboard.press(chord)

    def type(self, text: str) -> None:
        self.person.page.keyboard.type(text)


def test_five_key_presses_lead_from_a_bad_answer_to_a_saved_version(
    browser: Browser, stack: Stack, alice: Person, model: ScriptedModel
):
    """The question was asked before a second person came, since when Scribe answers only when it is addressed."""
    page, bob = alice.page, Person(browser, stack, "Bob")
    composer = page.get_by_placeholder(re.compile("^Message "))
    model.script(match="cost", mode="echo")
    alice.post("What does it cost?")
    alice.sees(re.compile("You are Scribe, the team"))
    join_by_link(alice, bob, "suggester")
    alice.sees("Bob joined")
    keys = KeyPresses(alice)

    keys.press("Control+.")
    expect(alice.prompt).to_be_focused()
    keys.type(" PRICES-MARK: in dollars.")
    expect(alice.workshop.get_by_text("Saved as draft")).to_be_visible()
    expect(alice.prompt).to_contain_text("PRICES-MARK: in dollars.")

    keys.press("Control+Enter")
    alice.sees("Alice applied draft r1 of Scribe in this chat")
    expect(page.get_by_role("button", name="Ask again")).to_be_visible()
    expect(composer).to_be_focused()
    expect(page.get_by_role("status").filter(has_text="will answer")).to_contain_text("Scribe")

    keys.press("Enter")
    for person in (alice, bob):
        person.sees(re.compile("draft r1 · Alice"))
        person.sees(re.compile("PRICES-MARK: in dollars."))
    expect(page.get_by_role("button", name="Ask again")).to_have_count(0)

    keys.press("Control+s")
    expect(page.get_by_role("dialog").get_by_label("What changed?")).to_be_focused()

    keys.press("Enter")
    alice.sees("Alice saved v2 of Scribe")
    expect(composer).to_be_focused()

    bob.sees("Alice saved v2 of Scribe")
    assert len(keys.pressed) == 5
    bob.close()


def test_keys_pressed_while_the_draft_starts_are_not_lost(alice: Person, model: ScriptedModel):
    alice.page.keyboard.press("Control+.")
    expect(alice.prompt).to_be_focused()
    # The first key's request is delayed back: the others come meanwhile.
    delayed: list[Route] = []

    def delay_first_write(route: Route) -> None:
        if delayed or route.request.method != "PUT":
            route.continue_()
        else:
            delayed.append(route)

    alice.page.route("**/draft", delay_first_write)
    alice.page.keyboard.type(" Answer in one sentence.")
    expect(alice.prompt).to_contain_text(" Answer in one sentence.")
    for _ in range(200):
        if delayed:
            break
        alice.page.wait_for_timeout(100)
    delayed[0].continue_()
    expect(alice.workshop.get_by_text("Saved as draft")).to_be_visible()
    alice.page.reload()
    expect(alice.prompt).to_contain_text(" Answer in one sentence.")


def test_a_bad_answer_is_retried_with_the_draft(alice: Person, model: ScriptedModel):
    model.script(match="cost", mode="echo")
    alice.post("What does it cost?")
    bad = alice.log.get_by_role("article").filter(has_text="You are Scribe, the team")
    expect(bad).to_be_visible()
    bad.hover()
    expect(bad.get_by_role("button", name="Try again with the draft")).to_have_count(0)

    alice.open_workshop()
    alice.prompt.click()
    alice.page.keyboard.type("PRICES-MARK ")
    expect(alice.workshop.get_by_text("Saved as draft")).to_be_visible()
    bad.hover()
    bad.get_by_role("button", name="Try again with the draft").click()
    alice.sees("Alice applied draft r1 of Scribe in this chat")
    alice.sees(re.compile("draft r1 · Alice"))
    alice.sees(re.compile("PRICES-MARK"))
    asked = alice.log.get_by_role("article", name=re.compile("^Alice, ")).filter(has_text="What does it cost?")
    expect(asked).to_have_count(2)


def test_the_message_of_an_apply_shows_the_changed_lines(alice: Person):
    alice.page.keyboard.press("Control+.")
    expect(alice.prompt).to_be_focused()
    alice.page.keyboard.type(" PRICES-MARK: in dollars.")
    expect(alice.workshop.get_by_text("Saved as draft")).to_be_visible()
    expect(alice.prompt).to_contain_text("PRICES-MARK: in dollars.")
    alice.page.keyboard.press("Control+Enter")
    alice.sees("Alice applied draft r1 of Scribe in this chat")
    alice.log.get_by_role("button", name="1 line changed").press("Enter")
    diff = alice.log.get_by_role("region", name="Diff")
    expect(diff.locator("ins")).to_contain_text("PRICES-MARK: in dollars.")
    expect(diff.locator("del")).to_have_count(1)
