"""An editor deletes a workspace, and restores it: what refuses it, and what its members see afterwards."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import PASSWORD, Person, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

ASK = """async ([method, path, body]) => {
  const csrf = document.cookie.match(/csrftoken=([^;]+)/)[1]
  const headers = { 'Content-Type': 'application/json', 'X-CSRFToken': csrf }
  const answer = await fetch('/api/v1/' + path, { method, headers, body: body && JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  return answer.json()
}"""
"""Sends a request of the signed-in person."""


@pytest.fixture
def people(browser: Browser, stack: Stack) -> Iterator[tuple[Person, Person]]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    bob = Person(browser, stack, "Bob", viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    yield alice, bob
    alice.close()
    bob.close()


def test_an_editor_deletes_a_workspace_after_its_public_agent_was_taken_down(
    people, stack: Stack, model: ScriptedModel
):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    page = alice.page
    chat_path = urlsplit(page.url).path
    handle, chat = chat_path.split("/")[2], chat_path.split("/")[4]
    agent = page.evaluate(ASK, ["GET", f"chats/{chat}/participants", None])["results"]
    [scribe] = [row["actor"]["id"] for row in agent if row["actor"]["kind"] == "agent"]
    public = f"scribe-{handle}"
    body = {"name": f"Scribe of {handle}", "handle": public, "description": "Writes.", "category": "writing"}
    page.evaluate(ASK, ["POST", f"agents/{scribe}/publish", body])

    bob.open(f"/w/{handle}/settings?section=general")
    expect(bob.page.get_by_role("button", name="Leave this workspace…")).to_be_visible()
    assert bob.page.get_by_role("button", name="Delete this workspace…").count() == 0
    bob.open(chat_path)

    alice.open(f"/w/{handle}/settings?section=general")
    page.get_by_role("button", name="Delete this workspace…").click()
    dialog = page.get_by_role("dialog")
    button = dialog.get_by_role("button", name="Delete Lighthouse")
    expect(button).to_have_attribute("aria-disabled", "true")
    dialog.get_by_label("Type Lighthouse to confirm").fill("Lighthouse")
    dialog.get_by_label("Your password").fill(f"{PASSWORD} not")
    button.click()
    expect(dialog.get_by_text("That isn't your password.")).to_be_visible()
    dialog.get_by_label("Your password").fill(PASSWORD)
    button.click()
    expect(dialog.get_by_role("alert")).to_contain_text("People elsewhere use agents that it has published.")
    dialog.get_by_role("link", name=f"Scribe of {handle}").click()
    expect(page.get_by_role("heading", name=f"Scribe of {handle}").first).to_be_visible()
    page.evaluate(ASK, ["POST", f"directory/{public}/takedown", {"reason": ""}])

    alice.open(f"/w/{handle}/settings?section=general")
    page.get_by_role("button", name="Delete this workspace…").click()
    dialog.get_by_label("Type Lighthouse to confirm").fill("Lighthouse")
    dialog.get_by_label("Your password").fill(PASSWORD)
    button.dblclick()
    expect(page.get_by_role("heading", name="Deleted workspaces")).to_be_visible()
    assert page.evaluate(ASK, ["GET", "workspaces", None])["results"] == []
    expect(bob.page.get_by_placeholder(re.compile("^Message "))).to_have_count(0)
    rows = bob.page.evaluate(ASK, ["GET", "notifications", None])["results"]
    assert [(row["type"], row["excerpt"]) for row in rows if row["type"] == "workspace_deleted"] == [
        ("workspace_deleted", "Lighthouse")
    ]
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("link", name="Scribe").first).to_be_visible()
    bob.open(chat_path)
    expect(bob.page.get_by_placeholder(re.compile("^Message "))).to_be_visible()
    rows = bob.page.evaluate(ASK, ["GET", "notifications", None])["results"]
    assert [row["type"] for row in rows if row["type"] == "workspace_deleted"] == []
