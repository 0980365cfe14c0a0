"""An agent remembers over its chats: a note by its tool, the memory page, changing, forgetting and clearing."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def find_path(person: Person) -> str:
    return re.sub(r"^https?://[^/]+", "", person.page.url)


def test_an_editor_reads_changes_and_clears_what_an_agent_remembers(
    people: tuple[Person, Person], model: ScriptedModel, tmp_path
):
    alice, _ = people
    model.reset()
    call = {"name": "remember", "arguments": json.dumps({"text": "Group fares need ten travellers."})}
    model.script(calls=[call], then={"text": "I will keep that in mind."})
    start(alice, model)
    page, workshop = alice.page, alice.workshop
    chat = find_path(alice)

    # The setting is a change of the spec, like others.
    alice.open_workshop()
    workshop.get_by_role("tab", name=re.compile("Tools")).click()
    workshop.get_by_role("button", name="Edit", exact=True).click()
    workshop.get_by_role("switch", name="remember").click()
    workshop.get_by_role("tab", name=re.compile("Limits")).click()
    workshop.get_by_label("Memory").select_option("agent")
    page.screenshot(path=tmp_path / "setting.png")
    workshop.get_by_role("button", name="Save…").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Save")).click()
    expect(workshop.get_by_text("v2").first).to_be_visible()

    alice.post("Group fares need ten travellers: remember that.")
    alice.sees("I will keep that in mind.")

    # Another chat of the same people reads the note and what was done.
    model.script(text="Ten travellers.")
    page.keyboard.press("Escape")
    alice.open(re.sub(r"(/w/[^/]+).*", r"\1/agents", chat))
    page.locator('a[href*="/agents/"]', has_text="Scribe").first.click()
    expect(page.get_by_role("link", name="Memory", exact=True)).to_be_visible()
    agent = find_path(alice)
    page.get_by_role("button", name="Start a chat").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Start|Create")).click()
    alice.post("How many do group fares need?")
    alice.sees("Ten travellers.")
    system = model.requests[-1].body["messages"][0]["content"]
    assert "Group fares need ten travellers." in system
    assert "You: I will keep that in mind." in system
    expect(page.get_by_text("notes used: 1 · earlier runs: 1")).to_be_visible()

    # The page of the memory: the note with its source, changed in place.
    alice.open(agent)
    page.get_by_role("link", name="Memory", exact=True).click()
    expect(page.get_by_text("Group fares need ten travellers.").first).to_be_visible()
    page.get_by_role("button", name="Edit this note").click()
    page.get_by_label("Note", exact=True).fill("Group fares need ten travellers; children under 2 do not count.")
    page.screenshot(path=tmp_path / "editing.png")
    page.get_by_role("button", name="Save note").click()
    expect(page.get_by_text("was: “Group fares need ten travellers.”")).to_be_visible()
    page.get_by_role("button", name="Add a note").click()
    page.get_by_label("Note", exact=True).fill("長輩多的團，飯店離地鐵 500 公尺內。")
    page.get_by_label("Where it may be used").select_option("everywhere")
    page.get_by_role("button", name="Save note").click()
    expect(page.get_by_text("written by Alice")).to_be_visible()
    page.screenshot(path=tmp_path / "memory-light.png")
    page.emulate_media(color_scheme="dark")
    page.screenshot(path=tmp_path / "memory-dark.png")
    page.set_viewport_size({"width": 390, "height": 844})
    page.screenshot(path=tmp_path / "memory-phone-dark.png")
    page.emulate_media(color_scheme="light")
    page.screenshot(path=tmp_path / "memory-phone.png", full_page=True)
    page.set_viewport_size({"width": 1440, "height": 900})

    # Found by words; forgetting can be undone.
    page.get_by_label("Find a note").fill("飯店")
    expect(page.get_by_text("children under 2")).to_have_count(0)
    page.get_by_label("Find a note").fill("")
    # In the page: the toast is a list item with that text, too.
    row = page.get_by_role("main").get_by_role("listitem").filter(has_text="children under 2")
    row.get_by_role("button", name="Forget this note").click()
    undo = page.get_by_role("button", name="Undo").first
    undo.hover()  # A toast stays while the mouse is over it.
    expect(row).to_have_count(0)
    page.screenshot(path=tmp_path / "forgotten.png")
    undo.click()
    expect(row).to_be_visible()

    # Clearing the history can be undone.
    page.get_by_role("button", name="Read all").click()
    expect(page.get_by_text("I will keep that in mind.")).to_be_visible()
    page.get_by_role("button", name="Clear…").click()
    page.screenshot(path=tmp_path / "clearing.png")
    page.get_by_role("dialog").get_by_role("button", name="Clear…").click()
    expect(page.get_by_text("I will keep that in mind.")).to_have_count(0)
    # In the page: the toast with the same button is gone after a while.
    page.get_by_role("main").get_by_role("button", name="Undo").click()
    expect(
        page.get_by_role("button", name="Read all").or_(page.get_by_role("button", name="Show less"))
    ).to_be_visible()
