"""An editor changes, renames and deletes tools and imports a file; a suggester reads them only."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import Person, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Fares", "version": "1"},
    "servers": [{"url": "https://fares.example.org"}],
    "paths": {"/fares": {"get": {"operationId": "list_fares", "summary": "List fares"}}},
}


def find_path(person: Person) -> str:
    """Return the path of the page without the address of the installation."""
    return re.sub(r"^https?://[^/]+", "", person.page.url)


def open_tools(person: Person) -> None:
    person.open(re.sub(r"(/w/[^/]+).*", r"\1/settings?section=tools", find_path(person)))


def test_an_editor_changes_and_deletes_tools_and_imports_a_file_and_a_suggester_may_not(
    people: tuple[Person, Person], model: ScriptedModel, tmp_path
):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    chat = find_path(alice)
    page, dialog = alice.page, alice.page.get_by_role("dialog")

    # A server with one tool, whose form has an argument.
    open_tools(alice)
    page.get_by_role("button", name="Add an HTTP server…").click()
    dialog.get_by_label("Name").fill("Booking")
    dialog.get_by_label("Base URL").fill("https://booking.example.org")
    dialog.get_by_role("button", name="Add the server").click()
    booking = page.get_by_role("region", name="Booking")
    booking.get_by_role("button", name="Add a tool").click()
    dialog.get_by_label("Name").fill("find_seats")
    dialog.get_by_label("Description").fill("Find free seats.")
    dialog.get_by_label("Path", exact=True).fill("/seats")
    dialog.get_by_role("button", name="Add an argument").click()
    dialog.get_by_role("textbox", name="Name").nth(1).fill("day")
    dialog.get_by_role("button", name="Add a tool").click()
    expect(booking.get_by_text("find_seats", exact=True)).to_be_visible()

    # An agent gets it in its draft.
    alice.open(chat)
    alice.open_workshop()
    alice.workshop.get_by_role("tab", name=re.compile("Tools")).click()
    alice.workshop.get_by_role("button", name="Edit", exact=True).click()
    alice.workshop.get_by_role("switch", name="find_seats").click()
    alice.workshop.get_by_role("button", name="Apply here").click()
    alice.sees(re.compile("applied draft"))

    # It is changed, by the form it was made with; the agents that have it are named before it is renamed.
    open_tools(alice)
    booking.get_by_role("button", name="More for find_seats").click()
    page.screenshot(path=tmp_path / "menu.png")
    page.get_by_role("menuitem", name="Change…").press("Enter")
    expect(dialog.get_by_label("Path", exact=True)).to_have_value("/seats")
    expect(dialog.get_by_role("textbox", name="Name").nth(1)).to_have_value("day")
    dialog.get_by_label("Method").select_option("POST")
    expect(dialog.get_by_label("Effect")).to_have_value("write")
    dialog.get_by_label("Time limit").fill("45")
    dialog.get_by_label("Name", exact=True).first.fill("hold_seats")
    expect(dialog.get_by_text(re.compile("will work without it until it is switched on"))).to_be_visible()
    page.screenshot(path=tmp_path / "change.png")
    dialog.get_by_role("button", name="Save changes").click()
    expect(dialog).to_have_count(0)
    row = booking.get_by_role("listitem").filter(has_text="hold_seats")
    expect(row).to_contain_text("POST /seats")
    expect(row).to_contain_text("writes")
    row.get_by_role("button", name="More for hold_seats").click()
    page.get_by_role("menuitem", name="Change…").press("Enter")
    expect(dialog.get_by_label("Time limit")).to_have_value("45")
    dialog.get_by_label("Name", exact=True).first.fill("find_seats")
    dialog.get_by_role("button", name="Save changes").click()
    expect(dialog).to_have_count(0)

    # A document is chosen as a file; a file that is too large, or no text, is refused before it is sent.
    page.get_by_role("button", name="Import from OpenAPI…").click()
    chooser = dialog.locator("input[type=file]")
    chooser.set_input_files(
        {"name": "large.yaml", "mimeType": "application/yaml", "buffer": b"a" * (8 * 1024 * 1024 + 1)}
    )
    expect(dialog.get_by_role("alert")).to_contain_text("large.yaml is too large")
    chooser.set_input_files({"name": "image.json", "mimeType": "application/json", "buffer": b"\xff\xfe\x00"})
    expect(dialog.get_by_role("alert")).to_contain_text("image.json is not a text file")
    page.screenshot(path=tmp_path / "refused-file.png")
    document = json.dumps(DOCUMENT).encode()
    chooser.set_input_files({"name": "fares.json", "mimeType": "application/json", "buffer": document})
    dialog.get_by_role("checkbox", name="GET /fares").click()
    expect(dialog.get_by_label("Base URL")).to_have_value("https://fares.example.org")
    page.screenshot(path=tmp_path / "file.png")
    dialog.get_by_role("button", name="Add 1 tool").click()
    fares = page.get_by_role("region", name="Fares")
    expect(fares.get_by_text("list_fares", exact=True)).to_be_visible()

    # The definition of an imported tool is that of its document: only the other fields are in its form.
    fares.get_by_role("button", name="More for list_fares").click()
    page.get_by_role("menuitem", name="Change…").press("Enter")
    expect(dialog.get_by_label("Path", exact=True)).to_have_count(0)
    dialog.get_by_label("Name").fill("search_fares")
    page.screenshot(path=tmp_path / "rename.png")
    dialog.get_by_role("button", name="Save changes").click()
    expect(fares.get_by_text("search_fares")).to_be_visible()

    # A suggester reads the same tools, and has no button that changes them.
    open_tools(bob)
    theirs = bob.page.get_by_role("region", name="Booking")
    theirs.get_by_role("button", name="Read…").click()
    expect(bob.page.get_by_role("dialog")).to_contain_text("Find free seats.")
    bob.page.screenshot(path=tmp_path / "suggester-reads.png")
    bob.page.keyboard.press("Escape")
    for name in ("More for", "Test…", "Add", "Delete", "Import"):
        expect(bob.page.get_by_role("button", name=name)).to_have_count(0)
    expect(theirs.get_by_role("switch")).to_be_disabled()
    bob.page.screenshot(path=tmp_path / "suggester.png")

    # A deleted tool is gone for both. Before, the agents that have it are named.
    booking.get_by_role("button", name="More for find_seats").click()
    page.get_by_role("menuitem", name="Delete…").click()
    expect(dialog.get_by_text(re.compile("will work without it"))).to_be_visible()
    page.screenshot(path=tmp_path / "delete.png")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog).to_have_count(0)
    for person in people:
        expect(person.page.get_by_text("find_seats")).to_have_count(0)
    page.screenshot(path=tmp_path / "tools.png", full_page=True)
