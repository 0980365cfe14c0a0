"""The main job in two browsers at once, with a real worker and a scripted model."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, invite_by_forms, start, start_by_forms

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture
def people(browser: Browser, stack: Stack) -> Iterator[tuple[Person, Person]]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    bob = Person(browser, stack, "Bob", viewport={"width": 1280, "height": 800}, color_scheme="dark")
    yield alice, bob
    alice.close()
    bob.close()


def test_the_main_job(people, stack: Stack, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start_by_forms(alice, model)
    invite_by_forms(alice, bob, "suggester")

    # Both see the answer arrive word by word, stamped v1.
    model.script(match="hello", text="Good morning to you both, what shall I write today?", every=0.25)
    alice.post("hello")
    for person in people:
        person.sees("Good morning to you")
        expect(person.log.get_by_text("what shall I write today?")).to_have_count(0)
    for person in people:
        person.sees("Good morning to you both, what shall I write today?")
        person.sees("v1")

    # Alice edits; Bob sees the text and cannot edit it.
    alice.open_workshop()
    bob.open_workshop()
    alice.workshop.get_by_role("button", name="Edit", exact=True).click()
    expect(alice.prompt).to_have_attribute("contenteditable", "true")
    alice.prompt.click()
    alice.page.keyboard.press("Control+End")
    alice.page.keyboard.type("\nSHOUT-MARK: write in capitals.")
    expect(bob.workshop.get_by_text("Alice is writing. You're following live.")).to_be_visible()
    expect(bob.workshop.get_by_text("SHOUT-MARK: write in capitals.")).to_be_visible()
    expect(bob.prompt).to_have_attribute("contenteditable", "false")

    # Applied: the next answer follows the new prompt, stamped as a draft.
    model.script(match="again", mode="echo")
    alice.workshop.get_by_role("button", name="Apply here").click()
    bob.sees(re.compile("Alice applied draft r1"))
    bob.post("again please")
    for person in people:
        person.sees(re.compile("SHOUT-MARK"))
        person.sees(re.compile("draft r1 · Alice"))

    # Saved: v2, a message in the chat, and no draft any more.
    alice.workshop.get_by_role("button", name="Save…").click()
    dialog = alice.page.get_by_role("dialog")
    dialog.get_by_label("What changed?").fill("Louder")
    dialog.get_by_role("button", name="Save as v2").click()
    for person in people:
        person.sees(re.compile("Alice saved v2 of Scribe"))
    bob.post("again, once more")
    for person in people:
        expect(person.log.get_by_role("button", name="v2")).to_be_visible()

    # A tool call: its arguments, its result, the answer.
    bob.post("What is the time in Tokyo?")
    for person in people:
        person.sees("current_time")
        person.log.get_by_text("current_time").last.click()
        person.sees(re.compile("Tokyo"))

    # A reload in the middle of an answer misses nothing.
    model.script(match="count", count=40, every=0.15)
    alice.post("count for me")
    bob.sees(re.compile(r"w0 w1 w2"))
    bob.page.reload()
    bob.sees(re.compile(r"w0 w1 w2 .*w5"))
    for person in people:
        person.sees(re.compile(r"w0 w1 w2 .*w39"))

    # Stop.
    model.script(match="go on", count=900, every=0.15)
    alice.post("go on and on")
    stop = alice.log.get_by_role("button", name="Stop")
    bob.sees(re.compile(r"w0 w1 w2 w3"))
    stop.last.click()
    for person in people:
        person.sees(re.compile("Stopped by Alice|Alice stopped Scribe"))
        expect(person.log.get_by_role("button", name="Stop")).to_have_count(0)


def test_after_a_worker_is_killed_the_answer_is_shown_once(people, stack: Stack, model: ScriptedModel):
    alice, _ = people
    model.reset()
    start(alice, model)
    model.script(match="survive", count=40, every=0.15)
    alice.post("survive this")
    alice.sees(re.compile("w0 w1 w2 w3"))
    stack.kill("worker")
    alice.sees(re.compile("w0 w1 .*w39"))
    expect(alice.log.get_by_text(re.compile("w0 w1"))).to_have_count(1)
