"""The main job in two browsers at once, with a real worker and a scripted model: the story as people live it."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from common.ids import new_id
from tests.browser import chromium
from tests.scripted_model import ScriptedModel
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.browser]

PASSWORD = "a long enough password"
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium().launch_options)
        yield browser
        browser.close()


class Person:
    """Somebody at a screen of their own. What the browser's console calls an error fails the story at its end."""

    def __init__(self, browser: Browser, stack: Stack, name: str, **look) -> None:
        self.name = name
        self.stack = stack
        self.context: BrowserContext = browser.new_context(locale="en-US", **look)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", lambda said: self.errors.append(said.text) if "Content Security" in said.text else None)

    def open(self, path: str) -> None:
        self.page.goto(self.stack.address + path)

    def fill_in_account(self, button: str) -> None:
        self.page.get_by_label("Your name").fill(self.name)
        self.page.get_by_label("Email").fill(f"{self.name.lower()}-{new_id()}@example.org")
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name=button).click()

    def say(self, text: str) -> None:
        self.page.get_by_placeholder(re.compile("^Message ")).fill(text)
        self.page.keyboard.press("Enter")

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    def sees(self, text: str | re.Pattern[str], *, seconds: float = 20) -> None:
        expect(self.log.get_by_text(text).last).to_be_visible(timeout=seconds * 1000)

    @property
    def workshop(self) -> Locator:
        return self.page.get_by_role("complementary", name="Workshop")

    def open_workshop(self) -> None:
        self.page.get_by_role("button", name=re.compile("^Workshop")).click()
        expect(self.workshop).to_be_visible()

    @property
    def prompt(self) -> Locator:
        return self.workshop.get_by_role("textbox", name="Prompt")

    def close(self) -> None:
        self.context.close()
        assert self.errors == []


@pytest.fixture
def people(browser: Browser, stack: Stack) -> Iterator[tuple[Person, Person]]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    bob = Person(browser, stack, "Bob", viewport={"width": 1280, "height": 800}, color_scheme="dark")
    yield alice, bob
    alice.close()
    bob.close()


def start(alice: Person, model: ScriptedModel) -> None:
    """Sign up, name a workspace, give it a model, make Scribe: its chat is open and it has said hello."""
    alice.open("/sign-up")
    alice.fill_in_account("Sign up")
    page = alice.page
    page.get_by_label("Name of the workspace").fill("Lighthouse")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Another server").click()
    page.get_by_label("Address of the server").fill(model.api_base)
    page.get_by_label("Default model").fill("scripted")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Create and start chatting").click()
    alice.sees("Hello, I am Scribe.")


def invite(alice: Person, bob: Person, role: str) -> None:
    """Pass on a link; it leads a stranger through sign-up into the workspace and the chat."""
    page = alice.page
    page.get_by_role("button", name=re.compile("Invite|People and agents")).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Role").select_option(role)
    dialog.get_by_role("button", name="Make a link").click()
    link = dialog.get_by_role("textbox", name="Invite by link").input_value()
    page.keyboard.press("Escape")
    bob.page.goto(link)
    expect(bob.page.get_by_text("Alice invites you")).to_be_visible()
    bob.page.get_by_role("link", name="Sign up and join").click()
    bob.fill_in_account("Sign up")
    bob.sees("Hello, I am Scribe.")
    alice.sees("Bob joined")


def test_the_main_job(people, stack: Stack, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")

    # Both see the answer arrive word by word, stamped v1.
    model.script(match="hello", text="Good morning to you both, what shall I write today?", every=0.25)
    alice.say("hello")
    for person in people:
        person.sees("Good morning to you")
        expect(person.log.get_by_text("what shall I write today?")).to_have_count(0)
    for person in people:
        person.sees("Good morning to you both, what shall I write today?")
        person.sees("v1")

    # The editor writes; the other reads along and cannot type there.
    alice.open_workshop()
    bob.open_workshop()
    alice.workshop.get_by_role("button", name="Edit", exact=True).click()
    expect(alice.prompt).to_have_attribute("contenteditable", "true")
    alice.prompt.click()
    alice.page.keyboard.press("Control+End")
    alice.page.keyboard.type("\nSHOUT-MARK: write in capitals.")
    expect(bob.workshop.get_by_text("Alice is writing. You read along, live.")).to_be_visible()
    expect(bob.workshop.get_by_text("SHOUT-MARK: write in capitals.")).to_be_visible()
    expect(bob.prompt).to_have_attribute("contenteditable", "false")

    # Applied: the next answer follows the new prompt, stamped as a draft.
    model.script(match="again", mode="echo")
    alice.workshop.get_by_role("button", name="Apply here").click()
    bob.sees(re.compile("Alice applied draft r1"))
    bob.say("again please")
    for person in people:
        person.sees(re.compile("SHOUT-MARK"))
        person.sees(re.compile("draft r1 · Alice"))

    # Saved: v2, a line in the room, the draft is gone.
    alice.workshop.get_by_role("button", name="Save…").click()
    dialog = alice.page.get_by_role("dialog")
    dialog.get_by_label("What has changed").fill("Louder")
    dialog.get_by_role("button", name="Save as v2").click()
    for person in people:
        person.sees(re.compile("Alice saved v2 of Scribe"))
    bob.say("again, once more")
    for person in people:
        expect(person.log.get_by_role("button", name="v2")).to_be_visible()

    # A tool call: its arguments, its result, the answer.
    bob.say("What is the time in Tokyo?")
    for person in people:
        person.sees("current_time")
        person.log.get_by_text("current_time").last.click()
        person.sees(re.compile("Tokyo"))

    # A reload in the middle of an answer misses nothing.
    model.script(match="count", count=40, every=0.15)
    alice.say("count for me")
    bob.sees(re.compile(r"w0 w1 w2"))
    bob.page.reload()
    bob.sees(re.compile(r"w0 w1 w2 .*w5"))
    for person in people:
        person.sees(re.compile(r"w0 w1 w2 .*w39"))

    # Stop is pressed and it stops.
    model.script(match="go on", count=900, every=0.15)
    alice.say("go on and on")
    stop = alice.log.get_by_role("button", name="Stop")
    bob.sees(re.compile(r"w0 w1 w2 w3"))
    stop.last.click()
    for person in people:
        person.sees(re.compile("Stopped by Alice|Alice stopped Scribe"))
        expect(person.log.get_by_role("button", name="Stop")).to_have_count(0)


def test_the_worker_is_killed_and_the_answer_is_there_once(people, stack: Stack, model: ScriptedModel):
    alice, _ = people
    model.reset()
    start(alice, model)
    model.script(match="survive", count=40, every=0.15)
    alice.say("survive this")
    alice.sees(re.compile("w0 w1 w2 w3"))
    stack.kill("worker")
    alice.sees(re.compile("w0 w1 .*w39"), seconds=40)
    expect(alice.log.get_by_text(re.compile("w0 w1"))).to_have_count(1)
