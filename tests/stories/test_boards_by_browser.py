"""A plan by hand in two browsers: its tasks, what they ask, what fails, and a task that is run again."""

import json
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import Person, get_chat_id, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

CLOCK = {"name": "current_time", "arguments": '{"timezone": "Asia/Taipei"}'}
REQUEST = "Four days in Kyoto for six people, dry weather if possible."


def create_team(alice: Person) -> None:
    """Create the agents Weather, Finance and Travel. Travel has a tool that asks."""
    workspace = alice.send("GET", "workspaces")["results"][0]["id"]
    alice.send("PUT", f"workspaces/{workspace}/tools/current_time/policy", {"policy": "ask"})
    for name, tools in (("Weather", []), ("Finance", []), ("Travel", [{"tool": "current_time"}])):
        file = {"atelier": "agent/1", "name": name, "prompt": f"You are {name}.", "tools": tools}
        alice.send("POST", f"workspaces/{workspace}/agents/import", {"text": json.dumps(file)})


def fill_in_task(form: Locator, number: int, agent: str, description: str, after: int | None = None) -> None:
    task = form.get_by_role("listitem", name=f"Task {number}")
    task.get_by_label(f"Agent of task {number}").select_option(agent)
    task.get_by_label(f"Description of task {number}").fill(description)
    if after:
        task.get_by_role("checkbox", name=f"After task {after}").click()


def plan_by_hand(alice: Person) -> None:
    """Write a plan of five tasks and start it, by the keyboard where the log may move."""
    alice.page.get_by_role("button", name="Plan tasks").click()
    form = alice.page.get_by_role("dialog", name="Plan tasks")
    form.get_by_label("What is this for?").fill(REQUEST)
    fill_in_task(form, 1, "Weather", "Find four dry days")
    form.get_by_role("button", name="Parameter", exact=True).click()
    form.get_by_label("Name of parameter 1").fill("city")
    form.get_by_label("Value of city").fill("Kyoto")
    for number, agent, description, after in (
        (2, "Finance", "Add up the trip", None),
        (3, "Travel", "Hold three rooms", None),
        (4, "Travel", "Plan each day", 1),
        (5, "Travel", "Hold a table", None),
    ):
        form.get_by_role("button", name="Add a task").press("Enter")
        fill_in_task(form, number, agent, description, after)
    form.get_by_role("button", name="Start 5 tasks").press("Enter")
    expect(form).to_have_count(0)


def get_board(person: Person) -> Locator:
    return person.log.get_by_role("region", name="Board, 5 tasks").last


def get_task(person: Person, number: int) -> Locator:
    return get_board(person).locator(f"[data-task='{number}']")


def list_lines(person: Person) -> list[str]:
    """Return the head of the board and the line of each task, without times and costs."""
    lines = get_board(person).locator("button[aria-expanded]").all_inner_texts()
    return [re.sub(r"\s+", " ", line) for line in lines]


def test_two_people_follow_and_control_a_plan_by_hand(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    create_team(alice)
    model.script(match="Find four dry days", text="19 to 22 November.")
    model.script(match="Add up the trip", mode="status", status=400, error="No rate.")
    model.script(match="Hold three rooms", calls=[CLOCK], then={"text": "Three rooms are held."})
    model.script(match="Hold a table", calls=[CLOCK], then={"text": "A table is held."})
    model.script(match="Plan each day", mode="drip", count=5000, every=0.05)
    model.script(match=REQUEST, text="Go on 19 November. The total is missing.")
    plan_by_hand(alice)

    # Both see the same: one task done, one failed twice, two that wait for Alice, and one that writes.
    for person in people:
        expect(get_task(person, 1).get_by_text("19 to 22 November.")).to_be_visible()
        expect(get_task(person, 2).get_by_text("failed twice")).to_be_visible()
        for number in (3, 5):
            expect(get_task(person, number).get_by_role("region", name="Approval: current_time")).to_be_visible()
        expect(get_task(person, 4).get_by_text("w1 w2")).to_be_visible()
        expect(get_task(person, 4).get_by_text("after 1")).to_be_visible()
        # Nothing that a task writes is a message of its own.
        expect(person.log.get_by_role("article", name=re.compile("^(Weather|Finance|Travel)"))).to_have_count(0)
    expect(get_task(alice, 3).get_by_text("waits for you")).to_be_visible()
    expect(get_task(bob, 3).get_by_text("waits for Alice")).to_be_visible()
    for name in ("Pause the board", "Stop the board", "Stop task 4", "Try again"):
        expect(get_board(bob).get_by_role("button", name=name)).to_have_attribute("aria-disabled", "true")

    # A page that is opened in the middle shows the same.
    lines = list_lines(bob)
    bob.page.reload()
    expect(get_task(bob, 4).get_by_text("w1 w2")).to_be_visible()
    assert list_lines(bob) == lines

    # Paused and resumed by Alice, for both.
    get_board(alice).get_by_role("button", name="Pause the board").press("Enter")
    for person in people:
        expect(get_board(person).get_by_text("paused by Alice")).to_be_visible()
    resume = get_board(alice).get_by_role("button", name="Continue the board")
    expect(resume).to_be_enabled()  # the answer to the pause may arrive after its frame
    resume.press("Enter")
    for person in people:
        expect(get_board(person).get_by_text("paused by Alice")).to_have_count(0)

    # The calls are equal, and Alice decides about them together. The last tasks end, and an agent of the chat answers.
    expect(get_board(bob).get_by_role("region", name="Equal calls: current_time")).to_have_count(0)
    equal = get_board(alice).get_by_role("region", name="Equal calls: current_time")
    expect(equal).to_contain_text("Tasks 3 and 5 want to run")
    equal.get_by_role("button", name="Approve all 2").press("Enter")
    for person in people:
        for number in (3, 5):
            expect(get_task(person, number).get_by_role("region", name="Approval: current_time")).to_have_count(0)
    get_task(alice, 4).get_by_role("button", name="Stop task 4").press("Enter")
    for person in people:
        person.sees("Go on 19 November. The total is missing.")
        expect(get_board(person).get_by_text("3 done · 1 failed · 1 stopped")).to_be_visible()
        missing = person.log.get_by_role("list", name="What is missing").get_by_role("listitem")
        expect(missing).to_have_count(2)
        expect(missing.first).to_contain_text("Missing: task 2, Finance.")
    # An ended board is read by REST. It was seen with its answer, so it is folded.
    lines = list_lines(bob)
    bob.page.reload()
    bob.sees("Go on 19 November. The total is missing.")
    expect(get_board(bob).get_by_text("3 done · 1 failed · 1 stopped")).to_be_visible()
    expect(get_task(bob, 1)).to_have_count(0)
    get_board(bob).get_by_role("button", name="5 tasks").press("Enter")
    expect(get_task(bob, 5)).to_be_visible()
    assert list_lines(bob) == lines

    # From the second task again, by the keys of its line: a new board, which reuses what does not follow it.
    model.script(match="yesterday", text="89,080 in all.")
    model.script(match="Plan each day", text="Four short walks.")
    model.script(match=REQUEST, text="Go on 19 November for 89,080.")
    get_task(alice, 2).get_by_role("button").first.press("r")
    form = alice.page.get_by_role("dialog", name="Run task 2 again: Finance")
    form.get_by_label("Description").fill("Add up the trip at the rate of yesterday")
    form.get_by_role("button", name="Run 2 again").press("Enter")
    for person in people:
        person.sees("Go on 19 November for 89,080.")
        expect(get_board(person).get_by_text("2 done · 3 reused")).to_be_visible()
        expect(get_task(person, 2).locator("ins")).to_have_text(re.compile("at the rate of yesterday"))
    assert alice.send("GET", f"chats/{get_chat_id(alice.page)}/boards")["results"][0]["forked_at"] == 2

    # The last plan by hand can be opened again.
    alice.page.get_by_role("button", name="Plan tasks").click()
    form = alice.page.get_by_role("dialog", name="Plan tasks")
    form.get_by_role("button", name="Open the last plan again").click()
    expect(form.get_by_label("Description of task 4")).to_have_value("Plan each day")
    expect(form.get_by_role("listitem", name="Task 4").get_by_role("checkbox", name="After task 1")).to_be_checked()
