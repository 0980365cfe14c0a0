"""A schedule from the agent's page: written with its next runs shown, run now, and its line in the chat."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture
def alice(browser: Browser, stack: Stack, model: ScriptedModel) -> Iterator[Person]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    model.reset()
    start(alice, model)
    yield alice
    alice.close()


def test_an_editor_writes_a_schedule_and_runs_it(alice, model):
    page, chat = alice.page, alice.page.url
    agent = page.evaluate(
        """async () => {
          const {workspaces: [{id, handle}]} = await (await fetch('/api/v1/me')).json()
          const {results: [row]} = await (await fetch(`/api/v1/workspaces/${id}/agents`)).json()
          return {path: `/w/${handle}/agents/${row.actor.id}/schedule`, name: row.actor.name}
        }"""
    )
    alice.open(agent["path"])
    page.get_by_role("button", name="Add…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Morning fares")
    dialog.get_by_label("What to do").fill("Say good morning.")
    often = dialog.get_by_label("How often")
    often.select_option("Custom (cron)")
    dialog.get_by_label("When (cron)").fill("* * * * *")
    expect(dialog.get_by_text("At least 5 minutes between two times.")).to_be_visible()
    often.select_option("Working days")
    dialog.get_by_label("Time", exact=True).fill("08:00")
    expect(dialog.locator("time")).to_have_count(3)
    dialog.get_by_role("button", name="Save").click()
    item = page.get_by_role("article", name="Morning fares")
    expect(item.get_by_text("Working days at 08:00")).to_be_visible()
    expect(item.locator("time")).to_have_count(3)
    model.script(text="Good morning to all of you.", match="Say good morning.", times=1)
    item.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Run now").click()
    page.goto(chat)
    alice.sees("The schedule “Morning fares” woke")
    alice.sees("Good morning to all of you.")
