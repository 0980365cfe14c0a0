"""The workshop in three browsers at once: two suggestions, a merge, a comparison, saving and restoring."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Locator, Route, expect

from agents.specs.templates import AGENT_TEMPLATES
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

SEGMENTS = [
    {"text": f"{AGENT_TEMPLATES['scribe']['en'].prompt}\n", "from": []},
    {"text": "TWD-MARK: quote prices in TWD.\n", "from": ["s1"]},
    {"text": "BRIEF-MARK: be brief.", "from": ["s2"]},
]
CONFLICT = {
    "question": "How long may it be?",
    "between": ["s1", "s2"],
    "chosen": 1,
    "choices": [
        {"from": "s1", "text": "TWD-MARK: quote prices in TWD."},
        {"from": "s2", "text": "BRIEF-MARK: be brief."},
    ],
}


@dataclass
class People:
    """Alice (editor), Bob and Carol (suggesters), in a chat with Scribe."""

    alice: Person
    bob: Person
    carol: Person
    model: ScriptedModel

    @property
    def everyone(self) -> tuple[Person, ...]:
        return self.alice, self.bob, self.carol


@pytest.fixture
def people(browser: Browser, stack: Stack, model: ScriptedModel) -> Iterator[People]:
    model.reset()
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    bob = Person(browser, stack, "Bob", viewport={"width": 1280, "height": 800}, color_scheme="dark")
    carol = Person(browser, stack, "Carol", viewport={"width": 1280, "height": 800})
    start(alice, model)
    invite(alice, bob, "suggester")
    invite(alice, carol, "suggester")
    people = People(alice, bob, carol, model)
    model.script(system="You are the Summarizer", text="It says one thing more.")
    yield people
    for person in people.everyone:
        person.close()


def write(who: Person, text: str) -> None:
    """Claim the draft, and add a line at the end of the prompt."""
    if who.workshop.count() == 0:
        who.open_workshop()
    who.workshop.get_by_role("button", name=re.compile("^(Edit|Continue editing)$")).click()
    expect(who.prompt).to_have_attribute("contenteditable", "true")
    who.prompt.click()
    who.page.keyboard.press("Control+End")
    who.page.keyboard.type(f"\n{text}")


def suggest(who: Person, note: str) -> None:
    who.workshop.get_by_role("button", name="Suggest…").click()
    dialog = who.page.get_by_role("dialog")
    dialog.get_by_label("Why").fill(note)
    dialog.get_by_role("button", name="Suggest", exact=True).click()
    expect(dialog).to_have_count(0)


def open_suggestions(who: Person) -> Locator:
    """Open the screen of suggestions from the sidebar."""
    who.page.get_by_role("link", name=re.compile("^Suggestions")).first.click()
    return who.page.get_by_role("list", name="Suggestions")


def bob_suggests(people: People) -> None:
    """Bob writes while Alice watches, applies and tries the draft, may not save, and suggests it."""
    alice, bob = people.alice, people.bob
    alice.open_workshop()
    write(bob, "TWD-MARK: quote prices in TWD.")
    expect(alice.workshop.get_by_text("Bob is writing. You're following live.")).to_be_visible()
    expect(alice.workshop.get_by_text("TWD-MARK: quote prices in TWD.")).to_be_visible()
    expect(bob.workshop.get_by_role("button", name="Save…")).to_have_count(0)
    bob.workshop.get_by_role("button", name="Apply here").click()
    alice.sees(re.compile("Bob applied draft r1"))
    for text in ("one", "two", "three"):
        bob.post(text)
        alice.sees(re.compile(f"You said: .*{text}"))
    suggest(bob, "Local money")
    for person in people.everyone:
        person.sees(re.compile("Bob suggests a change to Scribe"))
        person.sees("Local money")
        # By the keyboard: the log scrolls when the summary arrives, and a click in this moment may miss the button.
        person.log.get_by_role("button", name="Summary").last.press("Enter")
        person.sees("It says one thing more.")


def carol_suggests(people: People) -> None:
    write(people.carol, "BRIEF-MARK: be brief.")
    suggest(people.carol, "Less talk")
    people.alice.sees(re.compile("Carol suggests a change to Scribe"))


def alice_merges(people: People) -> None:
    """Alice merges both suggestions; the draft shows the contributors and the conflict."""
    page = people.alice.page
    people.model.script(
        system="You are the Merge agent", text=json.dumps({"segments": SEGMENTS, "conflicts": [CONFLICT]})
    )
    listed = open_suggestions(people.alice)
    expect(listed.get_by_role("listitem")).to_have_count(2)
    listed.get_by_text("Local money").click()
    expect(page.get_by_text("TWD-MARK: quote prices in TWD.").first).to_be_visible()
    page.get_by_role("checkbox", name="Select all").check()
    page.get_by_role("button", name="Merge 2…").click()
    page.get_by_role("dialog").get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_text("How long may it be?").first).to_be_visible()
    page.get_by_role("button", name="Open the draft").or_(page.get_by_role("link", name="Open the draft")).click()
    expect(people.alice.prompt).to_contain_text("BRIEF-MARK: be brief.")
    expect(people.alice.workshop.get_by_text("How long may it be?")).to_be_visible()
    people.bob.sees(re.compile("Alice merged .* suggestions into a draft of Scribe"))


def alice_compares_and_saves(people: People) -> None:
    alice, page = people.alice, people.alice.page
    people.model.script(match="What does it cost", mode="echo")
    alice.prompt.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nEDIT-MARK: say when.")
    alice.workshop.get_by_role("button", name="Apply here").click()
    alice.sees(re.compile("Alice applied draft r1"))
    alice.workshop.get_by_role("button", name="Compare…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Message for both").fill("What does it cost?")
    dialog.get_by_role("button", name="Ask both").click()
    for person in people.everyone:
        compared = person.log.get_by_role("article", name=re.compile("asked production and draft"))
        expect(compared.get_by_role("region", name="Draft r1")).to_contain_text("EDIT-MARK")
        expect(compared.get_by_role("region", name="Production v1")).not_to_contain_text("EDIT-MARK")
    for person in (people.bob, people.carol):
        votes = person.log.get_by_role("group", name="Which is better?")
        votes.get_by_role("button", name="Draft r1").click()
        expect(votes.get_by_role("button", name="Draft r1")).to_have_attribute("aria-pressed", "true")
    alice.log.get_by_role("button", name="Save as v2…").click()
    expect(dialog.get_by_text("Draft r1: 2 votes · equal: 0 · production: 0")).to_be_visible()
    dialog.get_by_label("What changed?").fill("Two suggestions")
    late: list[Route] = []
    page.route("**/api/v1/workspaces/*/agents", lambda route: late.append(route))
    dialog.get_by_role("button", name="Save as v2").click()
    alice.sees(re.compile("Alice saved v2 of Scribe"))
    expect(alice.workshop.get_by_role("button", name="Edit", exact=True)).to_be_visible()
    expect(dialog).to_have_count(0)
    # The draft has ended, and the new version is not loaded yet.
    assert late
    expect(alice.prompt).to_contain_text("EDIT-MARK")
    for route in late:
        route.continue_()
    page.unroute_all()
    for person in people.everyone:
        person.sees(re.compile("Alice saved v2 of Scribe"))


def both_are_notified(people: People) -> None:
    for person in (people.bob, people.carol):
        person.page.get_by_role("button", name=re.compile("^Notifications, ")).click()
        expect(person.page.get_by_text(re.compile("Alice accepted your suggestion for Scribe")).first).to_be_visible()
        person.page.keyboard.press("Escape")


def alice_restores(people: People) -> None:
    """Alice compares v1 with v2, and restores v1 as v3."""
    page = people.alice.page
    people.alice.workshop.get_by_role("link", name=re.compile("[Hh]istory|Versions")).or_(
        people.alice.workshop.get_by_role("button", name=re.compile("[Hh]istory|Versions"))
    ).first.click()
    expect(page.get_by_text("EDIT-MARK: say when.").first).to_be_visible()
    page.get_by_role("button", name=re.compile("Restore v1")).click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Restore v1")).click()
    for person in (people.bob, people.carol):
        person.sees(re.compile("Alice saved v3 of Scribe"))


def alice_instructs_scribe(people: People) -> None:
    """In a chat without suggesters, Scribe writes a draft of itself, which an editor reviews."""
    call = {
        "name": "revise_prompt",
        "arguments": json.dumps({"prompt": "You are Scribe. SHORT-MARK", "reason": "shorter"}),
    }
    people.model.script(match="from now on", calls=[call], then={"text": "A draft waits for you."})
    alice, page = people.alice, people.alice.page
    page.get_by_role("button", name="New chat").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Scribe").click()
    dialog.get_by_role("textbox").fill("Only me")
    dialog.get_by_role("button", name="Create chat").click()
    expect(page.get_by_role("heading", name="Only me")).to_be_visible()
    alice.post("from now on answer shorter")
    alice.sees(re.compile("Scribe wrote a draft of itself for Alice"))
    alice.sees("A draft waits for you.")
    if alice.workshop.count() == 0:
        alice.open_workshop()
    expect(alice.workshop.get_by_text("SHORT-MARK")).to_be_visible()
    expect(alice.workshop.get_by_role("button", name="Continue editing")).to_be_visible()


STORY = (
    bob_suggests,
    carol_suggests,
    alice_merges,
    alice_compares_and_saves,
    both_are_notified,
    alice_restores,
    alice_instructs_scribe,
)


def test_from_a_suggestion_to_a_version_and_back(people: People) -> None:
    for part in STORY:
        part(people)
