"""Notifications in a browser: a mention is shown in every tab, links to its message, and is then read in all tabs."""

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from common.ids import new_id
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import PATIENCE, Person, get_chat_id, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture
def people(browser: Browser, stack: Stack) -> Iterator[tuple[Person, Person]]:
    alice, bob = (Person(browser, stack, name, viewport={"width": 1280, "height": 800}) for name in ("Alice", "Bob"))
    yield alice, bob
    alice.close()
    bob.close()


def find_notifications_button(page: Page) -> Locator:
    return page.get_by_role("navigation").get_by_role("button", name=re.compile("^Notifications"))


def test_a_mention_is_shown_in_every_tab_and_links_to_its_message(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    handle = bob.page.evaluate("fetch('/api/v1/me').then(answer => answer.json()).then(me => me.actor.handle)")
    bob.page.get_by_role("link", name="Settings").first.click()
    bob.page.wait_for_url(re.compile("/settings"))  # who has the chat open has read the mention already
    other = bob.context.new_page()
    other.goto(bob.page.url)
    expect(find_notifications_button(other)).to_be_visible()

    model.script(match="fare", text="Noted.")
    alice.post(f"@{handle} look at the fare table")
    for page in (bob.page, other):
        expect(find_notifications_button(page)).to_have_accessible_name("Notifications, 1 unread")
    expect(bob.page.get_by_role("status").filter(has_text="1 unread notification")).to_be_attached()

    find_notifications_button(bob.page).press("Enter")
    bob.page.get_by_role("dialog").get_by_role("link", name=re.compile("Alice mentioned you in #Scribe")).press("Enter")
    expect(bob.log.get_by_text("look at the fare table").first).to_be_in_viewport()
    expect(bob.log.locator("article:focus")).to_contain_text("look at the fare table")
    for page in (bob.page, other):
        expect(find_notifications_button(page)).to_have_accessible_name("Notifications")
    expect(find_notifications_button(alice.page)).to_have_accessible_name("Notifications")


RECORD_SHOWN = """
window.shown = [];
window.Notification = class extends Notification {
  constructor(title, options) {
    super(title, options);
    window.shown.push({title, body: options.body, open: () => this.onclick()});
  }
};
"""


def list_shown(*pages: Page) -> list[str]:
    """List what the browser has shown in these tabs."""
    return [text for page in pages for text in page.evaluate("shown.map(({title, body}) => `${title}: ${body}`)")]


def test_one_tab_shows_mentions_by_the_browser_but_not_of_muted_chats_or_of_the_one_in_view(
    people, model: ScriptedModel
):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    me = bob.send("GET", "me")
    handle, workspace = me["actor"]["handle"], me["workspaces"][0]
    chats = {
        title: alice.send(
            "POST", f"workspaces/{workspace['id']}/chats", {"title": title, "actor_ids": [me["actor"]["id"]]}
        )["chat"]["id"]
        for title in ("Quiet", "Other")
    }
    bob.send("PUT", f"chats/{chats['Quiet']}/muted", {"until": None})
    in_view = get_chat_id(bob.page)

    def mention(chat: str, text: str) -> None:
        body = {"id": str(new_id()), "text": f"@{handle} {text}", "wake": "nobody"}
        alice.send("POST", f"chats/{chat}/messages", body)

    bob.context.grant_permissions(["notifications"])
    bob.context.add_init_script(RECORD_SHOWN)
    bob.page.reload()
    other = bob.context.new_page()
    other.goto(f"{bob.stack.url}/w/{workspace['handle']}/settings?section=notifications")
    switch = other.get_by_role("switch", name="Show notifications in this browser")
    # The tab that shows notifications has read those that there are: it shows the later ones.
    with bob.context.expect_event("response", lambda answer: "/api/v1/notifications?unread=true" in answer.url):
        switch.click()
    expect(switch).to_be_checked()
    other.get_by_role("button", name="Show one now").click()
    assert list_shown(other) == ["This is how a notification looks: undefined"]
    lock = f"atelier.viewed.{in_view}"
    other.wait_for_function(
        "async name => (await navigator.locks.query()).held.some(lock => lock.name === name)", arg=lock
    )

    mention(in_view, "in view")
    mention(chats["Quiet"], "muted")
    mention(chats["Other"], "the fare table")
    for page in (bob.page, other):
        expect(find_notifications_button(page)).to_have_accessible_name("Notifications, 4 unread")
    until = time.monotonic() + PATIENCE
    while len(shown := list_shown(bob.page, other)) < 2 and time.monotonic() < until:
        bob.page.wait_for_timeout(100)
    assert sorted(shown) == [
        "Alice mentioned you in #Other: @Bob the fare table",
        "This is how a notification looks: undefined",
    ]
    page = other if len(list_shown(other)) == 2 else bob.page
    page.evaluate("shown.at(-1).open()")
    expect(page.get_by_role("log").locator("article:focus")).to_contain_text("the fare table")


def test_a_reader_requests_the_draft_and_is_notified_when_it_is_released(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    alice.open_workshop()
    alice.workshop.get_by_role("button", name="Edit", exact=True).click()
    bob.open_workshop()
    wait = bob.workshop.get_by_role("button", name="Notify me when free")

    bob.workshop.get_by_role("button", name="Request edit").click()
    asked = bob.workshop.get_by_role("button", name="Requested")
    expect(asked).to_be_visible()
    bob.page.reload()
    asked.click()
    bob.page.get_by_role("listitem").filter(has_text="You already asked").hover()  # The toast stays under the mouse.
    expect(wait).to_have_attribute("aria-pressed", "true")
    expect(find_notifications_button(alice.page)).to_have_accessible_name("Notifications, 1 unread")
    find_notifications_button(alice.page).press("Enter")
    expect(alice.page.get_by_role("link", name=re.compile("Bob asks to edit the draft of Scribe"))).to_be_visible()
    alice.page.keyboard.press("Escape")

    alice.workshop.get_by_role("button", name="Discard", exact=True).click()
    find_notifications_button(bob.page).press("Enter")
    bob.page.get_by_role("link", name=re.compile("The draft of Scribe in #Scribe is free")).press("Enter")
    bob.workshop.get_by_role("button", name="Edit", exact=True).click()
    expect(alice.workshop.get_by_role("button", name="Request edit")).to_be_visible()
    expect(alice.workshop.get_by_role("button", name="Notify me when free")).to_have_attribute("aria-pressed", "false")
