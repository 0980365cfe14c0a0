"""Two people in one chat: Alice's own key pays for her requests, and the workspace's model answers Bob."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]
KEY = "sk-of-alice-0123456789abcdef"


def open_settings(person: Person, section: str) -> Page:
    workspace = urlsplit(person.page.url).path.split("/")[2]
    person.open(f"/w/{workspace}/settings?section={section}")
    return person.page


def list_sent_keys(model: ScriptedModel) -> list[str]:
    return [request.headers.get("Authorization", "") for request in model.requests]


def save_own_model(alice: Person, model: ScriptedModel) -> None:
    page = open_settings(alice, "ownModel")
    page.get_by_text("Another server").click()
    page.get_by_label("Server URL").fill(model.api_base)
    page.get_by_label("Key", exact=True).fill(KEY)
    page.get_by_label("Default model").fill("own")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text("Not tested since it was saved.")).to_be_visible()
    page.get_by_role("button", name="Test connection").click()
    expect(page.get_by_text(re.compile("Tested .*: it answered"))).to_be_visible()
    assert list_sent_keys(model)[-1] == f"Bearer {KEY}"
    assert KEY not in page.content()


def test_the_key_of_alice_pays_for_her_requests_and_the_workspace_for_those_of_bob(
    browser: Browser, stack: Stack, model: ScriptedModel
):
    model.reset()
    alice, bob = (Person(browser, stack, name) for name in ("Alice", "Bob"))
    start(alice, model)
    invite(alice, bob, "suggester")
    chat = urlsplit(alice.page.url).path
    save_own_model(alice, model)
    expect(alice.page.get_by_text("Not used, because members may not use their own models")).to_be_visible()
    page = open_settings(alice, "model")
    page.get_by_role("switch", name="Members may use their own models here").click()
    expect(page.get_by_text("Your own key pays for your requests here (own).")).to_be_visible()
    expect(open_settings(alice, "ownModel").get_by_text("Used for your requests")).to_be_visible()

    alice.open(chat)
    model.reset()
    model.script(text="answered at the expense of Alice", match="hello from Alice")
    model.script(text="answered at the expense of the workspace", match="hello from Bob")
    alice.post("hello from Alice")
    bob.sees("answered at the expense of Alice")
    bob.post("hello from Bob")
    alice.sees("answered at the expense of the workspace")
    assert list_sent_keys(model) == [f"Bearer {KEY}", ""]
    expect(bob.log.get_by_text("own · Paid by Alice's own key")).to_have_count(1)
    for label, sentence in (
        (
            "at the expense of Alice",
            "Paid by Alice's own key, because Alice asked, and members may use their own models",
        ),
        (
            "of the workspace",
            "Paid by the workspace's key, because the person who asked has set no model of their own.",
        ),
    ):
        bob.page.get_by_role("article").filter(has_text=label).last.get_by_role("button", name="v1").click()
        expect(bob.page.get_by_role("dialog").get_by_text(sentence)).to_be_visible()
        bob.page.keyboard.press("Escape")
    expect(open_settings(bob, "model").get_by_role("switch")).to_be_disabled()
    expect(bob.page.get_by_text(re.compile("The workspace's key pays for your requests here"))).to_be_visible()

    model.reset()
    model.script(mode="status", status=401, error="Organisation org-OF-ALICE has no quota")
    alice.post("hello again")
    alice.sees(re.compile("Alice's own model didn't answer"))
    assert set(list_sent_keys(model)) == {f"Bearer {KEY}"}
    assert "org-OF-ALICE" not in alice.page.content()
    page = open_settings(alice, "ownModel")
    expect(page.get_by_text(re.compile("Failed in a run .*org-OF-ALICE"))).to_be_visible()
    page.get_by_role("button", name="Delete your model").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete your model").click()
    expect(page.get_by_text("Failed in a run")).to_have_count(0)
    model.reset()
    alice.open(chat)
    alice.post("and now?")
    alice.sees("Scripted answer.")
    assert list_sent_keys(model) == [""]
    alice.close()
    bob.close()
