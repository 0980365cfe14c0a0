"""An operator views as Alice, sees her unread messages, changes nothing, and ends it; Alice sees it in her settings."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import PASSWORD, Person, invite, start
from tests.stories.test_public_agents_by_browser import make_operator

pytestmark = [pytest.mark.stack, pytest.mark.browser]
SHOTS = os.environ.get("STORY_SHOTS")

TRY_TO_WRITE = """async ([path, person]) => {
  const headers = { 'Content-Type': 'application/json', 'X-Atelier-Person': person,
    'X-CSRFToken': document.cookie.split('csrftoken=')[1].split(';')[0] }
  const body = JSON.stringify({ id: crypto.randomUUID(), text: 'not by me' })
  const answer = await fetch(path, { method: 'POST', headers, body })
  return [answer.status, (await answer.json()).error.code]
}"""


def shoot(person: Person, name: str) -> None:
    if SHOTS:
        person.page.screenshot(path=Path(SHOTS) / f"{name}.png")


def test_SEC45_an_operator_views_as_a_person(people, browser, stack, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    chat = re.sub(r"^https?://[^/]+", "", alice.page.url)
    alice.open("/")
    alice.page.goto("about:blank")
    bob.page.get_by_placeholder(re.compile("^Message ")).fill("Unread by Alice")
    bob.page.get_by_role("button", name="Send", exact=True).click()
    bob.sees("Unread by Alice")

    olga = Person(browser, stack, "Olga", viewport={"width": 1440, "height": 900})
    email = make_operator(olga)
    page = olga.page
    olga.open("/admin/actors/actor/?q=Alice")
    page.fill("input[name=username]", email)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.locator("#result_list tbody th a").first.click()
    shoot(olga, "viewing-admin")
    page.get_by_text("Actions").last.click()
    page.get_by_text("View as this person").click()
    page.get_by_label("Reason").fill("Ticket 7: messages are missing")
    page.get_by_label("Your password").fill(PASSWORD)
    shoot(olga, "viewing-dialog")
    page.get_by_role("button", name="View as this person").last.click()

    banner = page.get_by_role("complementary", name="Viewing as another person")
    expect(banner.get_by_text("You see Atelier as Alice sees it.")).to_be_visible()
    expect(banner.get_by_text(re.compile("until .* · Ticket 7: messages are missing"))).to_be_visible()
    olga.open(chat)
    olga.sees("Unread by Alice")
    expect(page.get_by_placeholder(re.compile("^Message "))).to_have_count(0)
    shoot(olga, "viewing-chat")
    page.set_viewport_size({"width": 390, "height": 844})
    shoot(olga, "viewing-chat-phone")
    page.set_viewport_size({"width": 1440, "height": 900})
    me = page.evaluate("fetch('/api/v1/me').then(answer => answer.json())")
    chat_id = chat.split("/c/")[1].split("?")[0]
    refusal = page.evaluate(TRY_TO_WRITE, [f"/api/v1/chats/{chat_id}/messages", me["actor"]["id"]])
    assert refusal == [403, "viewing"]
    # Alice's messages are still unread, although the chat was open.
    workspace_id, handle = (me["workspaces"][0][key] for key in ("id", "handle"))
    olga.open(f"/w/{handle}/directory")
    expect(banner).to_be_visible()
    chats = page.evaluate(f"fetch('/api/v1/workspaces/{workspace_id}/chats').then(answer => answer.json())")
    assert chats["results"][0]["unread"] > 0
    banner.get_by_role("button", name="End viewing").click()
    expect(page).to_have_url(re.compile(r"/admin/actors/actor/.*/change/"))
    olga.open("/")
    expect(page.get_by_text("Unread by Alice")).to_have_count(0)
    expect(banner).to_have_count(0)
    olga.close()

    alice.open(f"/w/{handle}/settings?section=security")
    expect(alice.page.get_by_text("Ticket 7: messages are missing")).to_be_visible()
    shoot(alice, "viewing-security")
