"""A public agent from its publication to its takedown: two workspaces and an operator in the admin."""

import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from common.ids import new_id
from launcher.home import ROOT
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import PASSWORD, Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

DESCRIPTION = "同声传译与书面翻译，保留语气。"
EXAMPLE = "Translate: good morning"
REASON = "It sent whole conversations to a glossary server."


@pytest.fixture
def people(browser: Browser, stack: Stack) -> Iterator[tuple[Person, Person, Person]]:
    lin = Person(browser, stack, "Lin", viewport={"width": 1440, "height": 900}, color_scheme="dark")
    alice = Person(browser, stack, "Alice", viewport={"width": 390, "height": 844}, has_touch=True)
    olga = Person(browser, stack, "Olga", viewport={"width": 1440, "height": 900})
    yield lin, alice, olga
    for person in (lin, alice, olga):
        person.close()


def home(person: Person) -> str:
    return re.sub(r"(/w/[^/]+).*", r"\1", person.page.url.removeprefix(person.stack.url))


def open_directory(person: Person) -> None:
    person.open(f"{home(person)}/directory")
    expect(person.page.get_by_role("heading", name="Directory")).to_be_visible()


def find_card(person: Person, name: str) -> Locator:
    return person.page.get_by_role("main").get_by_role("link", name=re.compile(f"^{name}"))


def publish(lin: Person) -> None:
    """Publish Scribe as Interpreter; its example is tried before, and what is written survives that and a reload."""
    page = lin.page
    # The link of the agent, not that of its chat, which is shown earlier.
    page.get_by_role("navigation").locator('a[href*="/agents/"]', has_text="Scribe").click()
    page.get_by_role("button", name="Publish…").click()
    expect(page.get_by_text("What is published")).to_be_visible()
    publish_now = page.get_by_role("button", name="Publish", exact=True)
    page.get_by_label("What it does").fill("")
    expect(publish_now).to_have_attribute("aria-disabled", "true")
    page.get_by_label("Name", exact=True).fill("Interpreter")
    page.get_by_label("Handle").fill("interpreter")
    page.get_by_label("What it does").fill(DESCRIPTION)
    page.get_by_role("button", name="Japanese").click()
    page.get_by_role("button", name="Add an example").click()
    page.get_by_role("textbox", name="Example 1").fill(EXAMPLE)
    page.get_by_role("button", name="Try it: example 1").click()
    expect(page.get_by_placeholder(re.compile("^Message "))).to_have_value(EXAMPLE)
    page.go_back()
    expect(page.get_by_role("textbox", name="Example 1")).to_have_value(EXAMPLE)
    page.reload()
    expect(page.get_by_role("textbox", name="Example 1")).to_have_value(EXAMPLE)
    expect(publish_now).not_to_have_attribute("aria-disabled", "true")
    publish_now.dblclick()
    expect(page.get_by_role("heading", name="Interpreter")).to_be_visible()
    expect(page.get_by_role("main").get_by_text("version 1")).to_be_visible()


def try_it(alice: Person, model: ScriptedModel) -> None:
    """Find the agent by a word of its description, and begin a chat with an example."""
    page = alice.page
    open_directory(alice)
    page.get_by_role("searchbox").fill("传译")
    expect(find_card(alice, "Scribe")).to_have_count(0)
    find_card(alice, "Interpreter").click()
    model.script(match="good morning", text="おはようございます")
    page.get_by_role("button", name=EXAMPLE).click()
    composer = page.get_by_placeholder(re.compile("^Message "))
    expect(composer).to_have_value(EXAMPLE)
    page.get_by_role("button", name="Send").click()
    alice.sees("おはようございます")
    alice.sees("Public, by Nanhai Studio")


def add_to_chat(alice: Person) -> None:
    page = alice.page
    open_directory(alice)
    find_card(alice, "Interpreter").click()
    page.get_by_role("button", name="Add to a chat…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Interpreter")).to_have_attribute("aria-disabled", "true")
    dialog.get_by_role("button", name="Scribe").click()
    alice.sees(re.compile("Interpreter"))


def give_as_tool(alice: Person) -> None:
    """Give the agent to Scribe as a tool: the workshop is opened with it in the draft, which is saved."""
    page = alice.page
    open_directory(alice)
    find_card(alice, "Interpreter").click()
    page.get_by_role("button", name="Use as a tool…").click()
    page.get_by_role("dialog").get_by_role("button", name="Scribe").click()
    expect(alice.workshop).to_be_visible()
    alice.workshop.get_by_role("tab", name="Tools").click()
    expect(alice.workshop.get_by_role("switch", name="Interpreter")).to_be_checked()
    expect(alice.workshop.get_by_text("Public, by Nanhai Studio")).to_be_visible()
    alice.workshop.get_by_role("button", name="Save…").click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("^Save")).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def report(alice: Person) -> None:
    page = alice.page
    open_directory(alice)
    find_card(alice, "Interpreter").click()
    for is_second in (False, True):
        page.get_by_role("button", name="Report…").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_label("Sends data where it should not").check()
        dialog.get_by_label("What happened?").fill("It quoted a text that only its publisher can know.")
        dialog.get_by_role("button", name="Send report").click()
        if is_second:
            expect(dialog.get_by_role("alert")).to_contain_text("already")
        else:
            expect(dialog.get_by_text("An operator will read your report.")).to_be_visible()
        page.keyboard.press("Escape")


def make_operator(olga: Person) -> str:
    """Create a superuser and return the email address."""
    email = f"olga-{new_id()}@example.org"
    variables = {"DJANGO_SUPERUSER_PASSWORD": PASSWORD}
    subprocess.run(
        [sys.executable, "-m", "launcher.manage", "createsuperuser", "--noinput", "--email", email],
        cwd=ROOT,
        env=olga.stack.environment | variables,
        check=True,
        capture_output=True,
    )
    return email


def sign_in_to_admin(olga: Person) -> None:
    email = make_operator(olga)
    olga.open("/admin/")
    page = olga.page
    page.fill("input[name=username]", email)
    page.fill("input[name=password]", PASSWORD)
    page.click("button[type=submit]")
    page.wait_for_selector("#nav-sidebar-apps", state="attached")


def open_takedown(olga: Person) -> Locator:
    """Open the report, the listing of its agent, and the dialog of the takedown, which names whom it affects."""
    page = olga.page
    olga.open("/admin/publishing/agentreport/?state__exact=open")
    page.locator("#result_list tbody th a").first.click()
    page.get_by_role("link", name="Listing and takedown").click()
    page.locator("#result_list tbody th a").first.click()
    page.get_by_role("link", name="Take down").click()
    dialog = page.locator("#dialog")
    expect(dialog.get_by_label("It affects")).to_have_value(
        re.compile(r"^1 workspace: Lighthouse \(2\); 2 chats; a tool of 1 agent: Scribe \(Lighthouse\)")
    )
    return dialog


def take_down(olga: Person) -> None:
    dialog = open_takedown(olga)
    dialog.get_by_label("What its users and its publisher read").fill(REASON)
    dialog.locator("button[type=submit]").click()
    expect(olga.page.get_by_text(REASON).first).to_be_visible()


def read_takedown(alice: Person) -> None:
    """Read in the chat, in the composer and in the notifications that the agent was taken down, and remove it."""
    page = alice.page
    alice.open(home(alice))
    page.get_by_role("main").get_by_role("link", name="Scribe").first.click()
    alice.sees(re.compile(f"was taken down and does not answer any more: {REASON}"))
    page.get_by_placeholder(re.compile("^Message ")).fill("@interpreter hello")
    expect(page.get_by_text("Cannot answer:")).to_be_visible()
    page.get_by_role("button", name="Remove Interpreter from this chat").click()
    expect(page.get_by_text("Cannot answer:")).to_have_count(0)
    page.get_by_placeholder(re.compile("^Message ")).fill("")
    alice.open(home(alice))
    page.get_by_role("button", name=re.compile("^Notifications")).click()
    page.get_by_role("dialog").get_by_role("link", name=re.compile("Interpreter was taken down")).click()
    expect(page.get_by_role("heading", name="Interpreter was taken down")).to_be_visible()
    expect(page.get_by_text(REASON)).to_be_visible()
    expect(page.get_by_role("button", name="Publish again…")).to_have_count(0)


def publish_anew(lin: Person) -> None:
    """Read why it was taken down, correct it, and publish it anew in one step."""
    page = lin.page
    page.get_by_role("button", name=re.compile("^Notifications")).click()
    page.get_by_role("dialog").get_by_role("link", name=re.compile("Interpreter was taken down")).click()
    page.get_by_role("button", name="Publish again…").click()
    expect(page.get_by_text("Interpreter was taken down by an operator")).to_be_visible()
    expect(page.get_by_label("What it does")).to_have_value(DESCRIPTION)
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_role("heading", name="Interpreter", exact=True)).to_be_visible()


def test_a_public_agent_is_published_tried_reported_taken_down_and_published_anew(people, model: ScriptedModel):
    lin, alice, olga = people
    model.reset()
    start(lin, model, workspace="Nanhai Studio")
    publish(lin)
    start(alice, model)
    try_it(alice, model)
    add_to_chat(alice)
    give_as_tool(alice)
    report(alice)
    sign_in_to_admin(olga)
    take_down(olga)
    read_takedown(alice)
    publish_anew(lin)
    open_directory(alice)
    expect(find_card(alice, "Interpreter")).to_be_visible()
