"""An editor finds out why an agent answered, and what was sent to its model; a suggester sees the figures and not the request."""

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import Person, get_box, join_by_link, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]
SHOTS = os.environ.get("STORY_SHOTS")


def shoot(person: Person, name: str) -> None:
    if SHOTS:
        person.page.screenshot(path=Path(SHOTS) / f"{name}.png")


def test_an_answer_leads_to_its_run_and_to_what_was_sent(people: tuple[Person, Person], model: ScriptedModel):
    alice, bob = people
    model.reset()
    model.script(calls=[{"name": "current_time", "arguments": '{"timezone": "UTC"}'}], then={"text": "At six."})
    start(alice, model)
    join_by_link(alice, bob, "suggester")
    bob.sees("Hello, I am Scribe.")
    alice.page.keyboard.press("Escape")
    alice.post("@scribe when does it close?")
    alice.sees("At six.")
    page = alice.page
    answer = alice.log.get_by_text("At six.").last
    expect(alice.log.get_by_text("29 tokens")).to_be_visible()
    answer.hover()
    page.get_by_role("button", name="More", exact=True).last.focus()
    page.keyboard.press("Enter")
    page.get_by_role("menuitem", name="Why did it answer?").click()
    expect(page.get_by_text(re.compile("Alice mentioned it in"))).to_be_visible()
    steps = page.get_by_role("list", name="Steps")
    expect(steps.get_by_text("current_time")).to_be_visible()
    expect(steps.get_by_role("button", name=re.compile("Model call 2"))).to_be_visible()
    request = page.get_by_role("complementary", name="Request")
    expect(request.get_by_text("when does it close?")).to_be_visible()
    expect(request.get_by_text(re.compile("You are Scribe, the team"))).to_be_visible()
    request.get_by_role("radio", name="Answered").click()
    expect(request.get_by_text("At six.")).to_be_visible()
    path = re.sub(r"^https?://[^/]+", "", page.url)

    # The tabs of the agent's page.
    page.get_by_role("link", name="Runs of Scribe").click()
    expect(page.get_by_role("link", name="Runs", exact=True)).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("button", name=re.compile("Alice mentioned it"))).to_be_visible()
    expect(page.get_by_text(re.compile("Alice mentioned it in"))).to_be_visible()
    page.get_by_role("link", name="Through its eyes").click()
    expect(page.get_by_text("You see what Scribe sees.")).to_be_visible()
    expect(page.get_by_text("when does it close?")).to_be_visible()

    # Bob is a suggester: he sees the figures, and neither the request nor the viewpoint.
    bob.open(path)
    expect(bob.page.get_by_text(re.compile("Alice mentioned it in"))).to_be_visible()
    expect(bob.page.get_by_role("list", name="Steps").get_by_text("current_time")).to_be_visible()
    expect(bob.page.get_by_role("complementary", name="Request")).to_have_count(0)
    alice.page.get_by_role("link", name="Overview").click()
    overview = re.sub(r"^https?://[^/]+", "", alice.page.url)
    bob.open(overview)
    expect(bob.page.get_by_role("link", name="Runs", exact=True)).to_be_visible()
    expect(bob.page.get_by_role("link", name="Through its eyes")).to_have_count(0)


CREATE_AGENT = """async ([workspace, name]) => {
  const headers = { 'Content-Type': 'application/json', 'X-CSRFToken': document.cookie.split('csrftoken=')[1].split(';')[0] }
  const body = JSON.stringify({ name, prompt: 'Help.' })
  await fetch(`/api/v1/workspaces/${workspace}/agents`, { method: 'POST', headers, body })
}"""


def test_agents_are_moved_in_the_tree_by_drag_and_by_keyboard(people: tuple[Person, Person], model: ScriptedModel):
    alice, _ = people
    model.reset()
    start(alice, model)
    page = alice.page
    me = page.evaluate("fetch('/api/v1/me').then(answer => answer.json())")
    for name in ("Lead", "Mapmaker"):
        page.evaluate(CREATE_AGENT, [me["workspaces"][0]["id"], name])
    side = page.get_by_role("navigation", name="Workspace")
    lead, mapmaker, scribe = (
        side.locator('a[href*="/agents/"]').filter(has_text=name) for name in ("Lead", "Mapmaker", "Scribe")
    )

    def get_depths() -> list[int]:
        return [round(get_box(agent)["x"] - get_box(lead)["x"]) for agent in (lead, mapmaker, scribe)]

    expect(mapmaker).to_be_visible()
    assert get_depths() == [0, 0, 0]
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        scribe.drag_to(lead)
    expect(scribe).to_have_css("margin-left", "20px")
    mapmaker.focus()
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        page.keyboard.press("Alt+ArrowRight")
    expect(mapmaker).to_have_css("margin-left", "20px")
    lead.drag_to(scribe)
    expect(page.get_by_text("It would report to itself.", exact=True)).to_be_visible()
    shoot(alice, "tree-sidebar")
    mapmaker.focus()
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        page.keyboard.press("Alt+ArrowLeft")
    expect(mapmaker).to_have_css("margin-left", "0px")
    # The place for an agent that is to report to nobody is there while one is dragged.
    in_sidebar = side.get_by_text("Drop it here to let it report to nobody")
    expect(in_sidebar).to_have_count(0)
    scribe.hover()
    page.mouse.down()
    mapmaker.hover()
    in_sidebar.hover()
    shoot(alice, "tree-sidebar-top")
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        page.mouse.up()
    expect(scribe).to_have_css("margin-left", "0px")
    expect(in_sidebar).to_have_count(0)
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        scribe.drag_to(lead)
    expect(scribe).to_have_css("margin-left", "20px")
    scribe.click()
    tree = page.get_by_role("list", name="In the team")
    expect(tree.get_by_text("Lead")).to_be_visible()
    shoot(alice, "tree-overview")

    # The place for an agent that is to report to nobody is there while one is dragged.
    top = tree.get_by_text("Drop it here to let it report to nobody")
    expect(top).to_have_count(0)
    tree.get_by_role("listitem").filter(has_text="Scribe").hover()
    page.mouse.down()
    tree.get_by_text("Lead").hover()
    top.hover()
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        page.mouse.up()
    expect(scribe).to_have_css("margin-left", "0px")
    expect(top).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 844})
    expect(tree.get_by_text("Lead")).to_be_visible()
    shoot(alice, "tree-overview-phone")
