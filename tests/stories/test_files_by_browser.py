"""Two people share files in a chat, find them on the page of files, and delete one."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.files.samples import make_image, make_pdf
from tests.scripted_model import ScriptedModel
from tests.stories.screens import Person, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


def attach(person: Person, name: str, content_type: str, content: bytes) -> None:
    """Choose a file in the composer, and wait until it is uploaded."""
    file: Any = {"name": name, "mimeType": content_type, "buffer": content}
    person.page.locator("[data-pane=composer] input[type=file]").set_input_files([file])
    expect(person.page.locator("li[data-state=ready]").get_by_text(name)).to_be_visible()


def test_people_share_files(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")

    # A PDF goes out with the text that was written with it, and the agent answers once.
    model.script(match="Please look at the invoice", text="I see an invoice.")
    attach(bob, "發票 17.pdf", "application/pdf", make_pdf("Invoice 17"))
    bob.page.get_by_placeholder(re.compile("^Message ")).fill("Please look at the invoice")
    bob.page.get_by_role("button", name="Send").click()
    for person in people:
        person.sees("發票 17.pdf")
        person.sees(re.compile("1 page"))
        person.sees("I see an invoice.")
    asked = model.requests[-1]
    assert "[file “發票 17.pdf”: pdf" in str(asked)

    # The agent of the template reads a short text at once.
    model.script(match="How long", text="Thirty days.")
    attach(bob, "policy.md", "text/markdown", b"# Refunds\nWithin 30 days.")
    bob.page.get_by_placeholder(re.compile("^Message ")).fill("How long?")
    bob.page.get_by_role("button", name="Send").click()
    for person in people:
        person.sees("Thirty days.")
    assert "# Refunds\\nWithin 30 days." in str(model.requests[-1].body["messages"])

    # A picture without a text wakes the agent, too. The composer says that its model cannot see it.
    model.script(match="file “night.png”", text="A picture, it seems.")
    attach(alice, "night.png", "image/png", make_image())
    expect(alice.page.get_by_text("The model of Scribe can't see pictures.")).to_be_visible()
    alice.page.get_by_role("button", name="Send").click()
    for person in people:
        person.sees("A picture, it seems.")
        expect(person.log.get_by_role("img", name="night.png")).to_be_visible()

    # Bob searches the chat by `/`, and opens a hit in it, where its words are marked. Alice finds the file by the palette.
    bob.page.get_by_role("main").focus()
    bob.page.evaluate("document.activeElement.blur()")
    bob.page.keyboard.press("/")
    bob.page.get_by_role("searchbox").fill("invoice from:me")
    bob.page.keyboard.press("Enter")
    expect(bob.page.get_by_role("combobox", name="Author")).to_have_value(re.compile("."))
    hits = bob.page.get_by_role("list", name="Messages that were found")
    expect(hits.get_by_role("button")).to_have_count(1)
    expect(hits.locator("mark")).to_have_text("invoice")
    hits.get_by_role("button").click()
    place = bob.page.get_by_role("region", name="The message in its place")
    expect(place.get_by_text("Thirty days.")).to_be_visible()
    place.get_by_role("button", name="Open in chat").click()
    bob.sees("Please look at the invoice")
    bob.page.wait_for_function("[...(CSS.highlights.get('found') ?? [])].some(range => `${range}` === 'invoice')")
    alice.page.keyboard.press("Control+k")
    alice.page.get_by_role("dialog").get_by_role("combobox").fill("發票")
    alice.page.get_by_role("option", name="All messages with “發票”").click()
    expect(alice.page.get_by_role("list", name="Messages that were found").get_by_text("發票 17.pdf")).to_be_visible()

    # Everybody in the chat finds both on the page of files; the text of the PDF can be read there.
    page = alice.page
    page.get_by_role("link", name="Files").click()
    expect(page.get_by_role("button", name="night.png")).to_be_visible()
    page.get_by_role("button", name="發票 17.pdf").click()
    detail = page.get_by_role("complementary", name="發票 17.pdf")
    expect(detail.get_by_text("Invoice 17")).to_be_visible()
    with page.expect_download() as download:
        detail.get_by_role("link", name="Download 發票 17.pdf").click()
    assert download.value.suggested_filename == "發票 17.pdf"

    # An editor deletes it: its message says so.
    detail.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("button", name="發票 17.pdf")).to_have_count(0)
    bob.sees("發票 17.pdf was deleted")

    # A file for everybody, without a chat.
    page.locator("header input[type=file]").set_input_files(
        [{"name": "rules.md", "mimeType": "text/markdown", "buffer": b"# Rules"}]
    )
    expect(page.get_by_role("button", name="rules.md")).to_be_visible()
    bob.open(f"{re.sub('/c/.*', '', bob.page.url.removeprefix(bob.stack.url))}/files")
    expect(bob.page.get_by_role("button", name="rules.md")).to_be_visible()


def test_an_attachment_can_be_removed_and_too_large_ones_say_so(people, model: ScriptedModel):
    alice, _ = people
    model.reset()
    start(alice, model)
    attach(alice, "notes.txt", "text/plain", b"hello")
    alice.page.get_by_role("button", name="Remove notes.txt").click()
    expect(alice.page.get_by_text("notes.txt")).to_have_count(0)
    empty: Any = {"name": "empty.txt", "mimeType": "text/plain", "buffer": b""}
    alice.page.locator("[data-pane=composer] input[type=file]").set_input_files([empty])
    expect(alice.page.locator("li[data-state=failed]").get_by_role("alert")).to_be_visible()
