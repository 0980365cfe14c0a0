"""Returning to a chat: the first new message, which messages become read, and links to old messages."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, get_chat_id, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

POST = """async ([chat, texts]) => {
  for (const text of texts) {
    const token = document.cookie.match(/csrftoken=([^;]*)/)[1]
    const headers = {'Content-Type': 'application/json', 'X-CSRFToken': token}
    const body = JSON.stringify({id: crypto.randomUUID(), text, wake: 'nobody'})
    for (;;) {
      const answer = await fetch(`/api/v1/chats/${chat}/messages`, {method: 'POST', headers, body})
      if (answer.ok) break
      const {error} = await answer.json()
      if (error.code !== 'limit_reached') throw new Error(error.code)
      await new Promise(done => setTimeout(done, error.data.seconds * 1000))
    }
  }
}"""


@pytest.fixture
def people(browser: Browser, stack: Stack, model: ScriptedModel) -> Iterator[tuple[Person, Person]]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1280, "height": 800})
    bob = Person(browser, stack, "Bob", viewport={"width": 1280, "height": 800})
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    yield alice, bob
    alice.close()
    bob.close()


def find_chat_link(page: Page, title: str):
    return page.get_by_role("navigation", name="Workspace").locator(f'a[href*="/c/"]:has-text("{title}")')


def make_chat(person: Person, title: str) -> None:
    page = person.page
    page.get_by_role("button", name="New chat").first.click()
    page.get_by_role("dialog").get_by_label("Chat name").fill(title)
    page.get_by_role("dialog").get_by_role("button", name="Create chat").click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def test_a_chat_opens_at_the_first_new_message_and_only_seen_messages_are_read(people):
    alice, bob = people
    page, chat = bob.page, get_chat_id(alice.page)
    new_line = bob.log.get_by_text("New", exact=True)
    make_chat(bob, "Elsewhere")

    # The chat was open before, so its older messages are loaded; the separator is shown nevertheless.
    alice.page.evaluate(POST, [chat, ["one", "two", "three"]])
    expect(find_chat_link(page, "Scribe").locator("[data-unread]")).to_contain_text("3")
    find_chat_link(page, "Scribe").click()
    expect(new_line).to_be_in_viewport()
    expect(bob.log.get_by_text("three")).to_be_in_viewport()
    find_chat_link(page, "Elsewhere").click()
    expect(find_chat_link(page, "Scribe").locator("[data-unread]")).to_have_count(0)

    # More new messages than a page: a bar shows it, and none of them becomes read.
    tall = "\n\n".join(["and so on"] * 6)
    alice.page.evaluate(POST, [chat, [f"number {at}.\n\n{tall}" for at in range(130)]])
    expect(find_chat_link(page, "Scribe").locator("[data-unread]")).to_contain_text("99+")
    page.reload()
    find_chat_link(page, "Scribe").click()
    bar = page.get_by_role("status").filter(has_text=re.compile(r"99\+ new since \d\d:\d\d"))
    expect(bar).to_be_visible()
    find_chat_link(page, "Elsewhere").click()
    page.reload()
    expect(find_chat_link(page, "Scribe").locator("[data-unread]")).to_contain_text("99+")

    # The jump leads to the first; from there the newest is one press away.
    find_chat_link(page, "Scribe").click()
    bar.get_by_role("button", name="Jump").click()
    expect(new_line).to_be_in_viewport()
    expect(bob.log.get_by_text("number 0.")).to_be_in_viewport()
    expect(bob.log.get_by_text("number 129.")).to_have_count(0)
    page.get_by_role("button", name="Jump to newest").click()
    expect(bob.log.get_by_text("number 129.")).to_be_in_viewport()
    expect(page.get_by_role("button", name="Jump to newest")).to_have_count(0)

    # One message more, far from the end: the pill counts messages, not what else the log holds.
    bob.log.hover()
    page.mouse.wheel(0, -3000)
    expect(page.get_by_role("button", name="Jump to newest")).to_be_visible()
    alice.post("one more thing")
    expect(page.get_by_role("button", name="1 new message")).to_be_visible()


def test_a_chat_that_was_seen_is_shown_before_any_answer_of_the_server(people):
    alice, bob = people
    page, chat = bob.page, get_chat_id(alice.page)
    alice.page.evaluate(POST, [chat, ["seen already"]])
    bob.sees("seen already")
    make_chat(bob, "Elsewhere")
    bob.context.set_offline(True)
    alice.page.evaluate(POST, [chat, ["posted meanwhile"]])
    find_chat_link(page, "Scribe").click()
    expect(bob.log.get_by_text("seen already")).to_be_in_viewport()
    expect(bob.log.get_by_text("posted meanwhile")).to_have_count(0)
    bob.context.set_offline(False)
    expect(bob.log.get_by_text("posted meanwhile")).to_be_in_viewport()


def test_messages_that_were_seen_right_before_a_reload_are_read(people):
    alice, bob = people
    chat = get_chat_id(alice.page)
    for text in ("seen first", "seen second"):
        alice.page.evaluate(POST, [chat, [text]])
        expect(bob.log.get_by_text(text)).to_be_in_viewport()
    bob.page.reload()
    expect(bob.log.get_by_text("seen second")).to_be_in_viewport()
    expect(bob.log.get_by_text("New", exact=True)).to_have_count(0)


def test_a_link_opens_a_message_at_any_distance_or_reports_that_it_is_gone(people):
    alice, bob = people
    page, chat = bob.page, get_chat_id(alice.page)
    tall = "\n\n".join(["and so on"] * 6)
    alice.page.evaluate(POST, [chat, ["the very first thing"]])
    alice.sees("the very first thing")
    first = alice.log.locator("article", has_text="the very first thing").get_attribute("data-message")
    alice.page.evaluate(POST, [chat, [f"number {at}.\n\n{tall}" for at in range(110)]])
    page.reload()
    bob.sees(re.compile(r"number \d+\."))

    def follow(message: str | None) -> None:
        """Follow a link as the app does: each navigation has a key of its own."""
        page.evaluate(
            "path => { history.pushState({__TSR_key: crypto.randomUUID()}, '', path);"
            " dispatchEvent(new PopStateEvent('popstate')) }",
            f"{page.url.split('#')[0]}#{message}",
        )

    follow(first)
    expect(bob.log.get_by_text("the very first thing")).to_be_in_viewport()
    page.get_by_role("button", name="Jump to newest").click()
    expect(bob.log.get_by_text("number 109.")).to_be_in_viewport()
    follow(first)
    expect(bob.log.get_by_text("the very first thing")).to_be_in_viewport()

    # The following pages are loaded up to the end.
    bob.log.focus()
    last = bob.log.get_by_text("number 109.")
    page.keyboard.press("End")
    while not last.count():
        more = bob.log.evaluate("log => log.scrollHeight")
        page.keyboard.press("End")
        page.wait_for_function(
            "height => document.querySelector('#log').scrollHeight !== height || "
            "document.body.innerText.includes('number 109.')",
            arg=more,
        )
    page.keyboard.press("End")
    expect(last).to_be_in_viewport()
    follow("01a20402-4ab5-74f2-8e29-359224e0a725")
    page.get_by_role("listitem").filter(
        has_text="That message is gone"
    ).hover()  # A toast stays while the mouse is over it.
