"""Two people and a budget: it is warned of, used up and raised, and the page of usage and its export have the same sum."""

import csv
import io
import re
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import Person, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

MOVE_TO_NOON = """async timeZone => {
  const csrf = document.cookie.match(/csrftoken=([^;]+)/)[1]
  const me = await (await fetch('/api/v1/me')).json()
  const { id, name, revision } = me.workspaces[0]
  const headers = { 'Content-Type': 'application/json', 'X-CSRFToken': csrf }
  const body = JSON.stringify({ name, revision, time_zone: timeZone })
  const answer = await fetch(`/api/v1/workspaces/${id}`, { method: 'PATCH', headers, body })
  if (!answer.ok) throw new Error(await answer.text())
}"""
"""Sets the time zone of the workspace."""
PRICE = "100"
"""Dollars per million tokens of an answer: 8,192 tokens, the most that is reserved, cost $0.82."""


def get_noon_zone() -> str:
    """Return a time zone in which it is about noon, so that no day ends during the story."""
    hours = datetime.now(UTC).hour - 12
    return f"Etc/GMT{hours:+d}" if hours else "Etc/GMT"


def open_page(person: Person, path: str) -> None:
    workspace = urlsplit(person.page.url).path.split("/")[2]
    person.open(f"/w/{workspace}/{path}")


def find_budget(person: Person) -> Locator:
    return person.page.get_by_role("listitem").filter(has=person.page.get_by_label("Limit in dollars"))


def ask(person: Person, text: str) -> None:
    """Post a message by the button: on a phone, Enter begins a new line."""
    person.page.get_by_placeholder(re.compile("^Message ")).fill(text)
    person.page.get_by_role("button", name="Send").click()


def script_answer(model: ScriptedModel, text: str, tokens: int) -> None:
    model.script(text=text, usage={"prompt_tokens": 1_000, "completion_tokens": tokens})


def set_price_and_budget(alice: Person) -> None:
    page = alice.page
    page.evaluate(MOVE_TO_NOON, get_noon_zone())
    open_page(alice, "settings?section=budgets")
    page.get_by_label("Provider").select_option("openai_compatible")
    page.get_by_label("Input, $ per million tokens").fill("1")
    page.get_by_label("Output, $ per million tokens").fill(PRICE)
    page.get_by_role("button", name="Set price").click()
    expect(page.get_by_text("OpenAI-compatible · all models")).to_be_visible()
    page.get_by_role("combobox", name="Period").select_option("day")
    page.get_by_label("Limit in dollars").fill("5")
    page.get_by_role("button", name="Add budget").click()
    expect(find_budget(alice).get_by_text("of $5.00")).to_be_visible()


def test_a_budget_is_used_up_and_raised(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    chat = urlsplit(alice.page.url).path
    set_price_and_budget(alice)

    # Bob's first answer costs $4.10, 82 %: Alice is notified, and Bob, who cannot change budgets, is not.
    script_answer(model, "The first answer.", 40_990)
    ask(bob, "first")
    bob.sees("The first answer.")
    bell = alice.page.get_by_role("navigation").get_by_role("button", name=re.compile("^Notifications"))
    expect(bell).to_have_accessible_name("Notifications, 1 unread")
    bell.click()
    expect(alice.page.get_by_role("dialog").get_by_text("$4.10 / $5.00")).to_be_visible()
    alice.page.keyboard.press("Escape")
    expect(find_budget(alice).get_by_text("82% used. At 100% the runs stop.")).to_be_visible()

    # The second uses it up. The third is not sent to the model: both see why, and the composer says so before the next one.
    script_answer(model, "The second answer.", 9_490)
    ask(bob, "second")
    bob.sees("The second answer.")
    requests = len(model.requests)
    bob.page.get_by_placeholder(re.compile("^Message ")).fill("third")
    expect(bob.page.get_by_text("Agents can't answer: too little is left of the budget.")).to_be_visible()
    ask(bob, "third")
    alice.open(chat)
    for person in people:
        person.sees("Stopped by today's budget.")
        person.sees(re.compile(r"could cost up to \$0\.0\d+; left today: \$0 of \$5\.00"))
    expect(bob.log.get_by_role("link", name="Raise budget…")).to_have_count(0)
    bob.sees("Alice can raise it.")
    assert len(model.requests) == requests
    alice.page.get_by_placeholder(re.compile("^Message ")).fill("Bob, I look at it.")
    expect(alice.page.get_by_text("Agents can't answer: too little is left of the budget.")).to_be_visible()
    alice.page.get_by_placeholder(re.compile("^Message ")).fill("")

    # Alice raises it, and Bob's retry is answered.
    script_answer(model, "The third answer.", 100)
    alice.log.get_by_role("link", name="Raise budget…").click()
    find_budget(alice).get_by_label("Limit in dollars").fill("20")
    find_budget(alice).get_by_role("button", name="Save changes").click()
    expect(find_budget(alice).get_by_text("of $20.00")).to_be_visible()
    # His page reads the budgets again when they change; until then the button is blocked.
    bob.sees("There is enough left now to retry.")
    bob.log.get_by_role("button", name="Retry").last.click()
    bob.sees("The third answer.")

    # The page of usage, and the export with the same sum.
    open_page(alice, "usage")
    page = alice.page
    page.get_by_label("Period").select_option("month")
    expect(page.get_by_role("img", name=re.compile(r"Bar chart.*\$5\.06 in all"))).to_be_visible()
    for group, first in (("Agent", "Scribe"), ("Version", "Scribe v1"), ("Person", "Bob"), ("Model", "scripted")):
        page.get_by_role("radio", name=group, exact=True).or_(
            page.get_by_role("button", name=group, exact=True)
        ).click()
        row = page.get_by_role("row").filter(has_text=first)
        expect(row.get_by_text("$5.06")).to_be_visible()
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV").click()
        text = Path(download.value.path()).read_text().removeprefix("\ufeff")
        costs = [float(found["cost in USD"]) for found in csv.DictReader(io.StringIO(text))]
        assert round(sum(costs), 6) == 5.061
    open_page(bob, "usage")
    expect(bob.page.get_by_role("row").filter(has_text="Scribe")).to_be_visible()
    bob.page.evaluate("localStorage.setItem('atelier.language', 'zh-hant')")
    bob.page.reload()
    expect(bob.page.get_by_role("heading", name="用量")).to_be_visible()
    bob.open(chat)
    expect(bob.log.get_by_text("這次沒有答完，下面是下一次的結果。")).to_be_visible()
