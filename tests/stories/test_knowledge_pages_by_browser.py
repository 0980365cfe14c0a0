"""An editor gives an agent knowledge pages, and decides whether other agents may give it tasks; a suggester reads that."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FilePayload, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]
RULES = "The tower closes at six."


@pytest.fixture
def people(browser: Browser, stack: Stack) -> Iterator[tuple[Person, Person]]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    bob = Person(browser, stack, "Bob", viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    yield alice, bob
    alice.close()
    bob.close()


def find_path(person: Person) -> str:
    return re.sub(r"^https?://[^/]+", "", person.page.url)


def open_page(person: Person, name: str) -> None:
    person.open(re.sub(r"(/w/[^/]+).*", rf"\1/{name}", find_path(person)))


def open_settings_of_pages(person: Person, chat: str) -> None:
    person.open(chat)
    person.open_workshop()
    person.workshop.get_by_role("tab", name=re.compile("Tools")).click()


def test_an_agent_answers_from_the_pages_that_its_editor_has_chosen(
    people: tuple[Person, Person], model: ScriptedModel, tmp_path
):
    alice, bob = people
    model.reset()
    model.script(text="At six (rules.md).")
    start(alice, model)
    invite(alice, bob, "suggester")
    chat = find_path(alice)
    page, dialog, workshop = alice.page, alice.page.get_by_role("dialog"), alice.workshop

    open_page(alice, "files")
    files: list[FilePayload] = [
        {"name": "rules.md", "mimeType": "text/markdown", "buffer": RULES.encode()},
        {"name": "燈塔的開放時間.txt", "mimeType": "text/plain", "buffer": "夏天開到八點。".encode()},
    ]
    page.locator("input[type=file]").set_input_files(files)
    expect(page.get_by_role("button", name=re.compile("rules.md")).first).to_be_visible()

    open_settings_of_pages(alice, chat)
    workshop.get_by_role("button", name="Edit", exact=True).click()
    workshop.get_by_role("switch", name="read_pages").click()
    workshop.get_by_role("button", name=re.compile("^read_pages")).click()
    expect(workshop.get_by_text("No page is chosen.")).to_be_visible()
    workshop.get_by_role("button", name="Add pages…").click()
    dialog.get_by_role("button", name="rules.md").click()
    dialog.get_by_role("searchbox").fill("燈塔")
    expect(dialog.get_by_role("button", name="rules.md")).to_have_count(0)
    dialog.get_by_role("button", name="燈塔的開放時間.txt").click()
    page.screenshot(path=tmp_path / "picker.png")
    dialog.get_by_role("button", name="Done").click()
    expect(workshop.get_by_text("rules.md")).to_be_visible()
    page.screenshot(path=tmp_path / "pages.png")
    workshop.get_by_role("button", name="Remove 燈塔的開放時間.txt").click()
    expect(workshop.get_by_text("燈塔的開放時間.txt")).to_have_count(0)
    workshop.get_by_role("button", name="Apply here").click()
    alice.sees(re.compile("applied draft"))

    alice.post("When does the tower close?")
    alice.sees("At six (rules.md).")
    asked = json.dumps(model.requests[-1].body["messages"][0], ensure_ascii=False)
    assert RULES in asked
    assert "八點" not in asked

    # A suggester reads which pages there are.
    bob.page.reload()
    open_settings_of_pages(bob, chat)
    bob.workshop.get_by_role("button", name=re.compile("^read_pages")).click()
    expect(bob.workshop.get_by_text("rules.md")).to_be_visible()
    expect(bob.workshop.get_by_role("button", name="Add pages…")).to_have_count(0)
    bob.page.screenshot(path=tmp_path / "suggester.png")

    # A page whose file was deleted is named as missing.
    open_page(alice, "files")
    page.get_by_role("button", name="rules.md").click()
    page.get_by_role("button", name="Delete…").click()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("rules.md")).to_have_count(0)
    open_settings_of_pages(alice, chat)
    workshop.get_by_role("button", name=re.compile("^read_pages")).click()
    expect(workshop.get_by_text("A page that was deleted")).to_be_visible()
    page.evaluate("localStorage.setItem('atelier.language', 'zh-hant')")
    page.reload()
    page.get_by_role("tab", name=re.compile("工具")).click()
    page.get_by_role("button", name=re.compile("^read_pages")).click()
    expect(page.get_by_text("已刪除的頁面")).to_be_visible()
    page.screenshot(path=tmp_path / "missing-zh-hant.png")


def test_an_editor_decides_whether_other_agents_may_give_an_agent_tasks(
    people: tuple[Person, Person], model: ScriptedModel, tmp_path
):
    alice, _ = people
    model.reset()
    start(alice, model)
    page = alice.page
    page.locator('a[href*="/agents/"]').filter(has_text="Scribe").click()
    switch = page.get_by_role("switch", name="Other agents of the workspace may give it tasks")
    expect(switch).to_be_checked()
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        switch.click()
    expect(switch).not_to_be_checked()
    switch.scroll_into_view_if_needed()
    page.screenshot(path=tmp_path / "tasks.png")
    page.reload()
    expect(switch).not_to_be_checked()
