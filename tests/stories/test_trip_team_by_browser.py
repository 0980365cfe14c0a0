"""A newcomer without a key makes an answer of the demo model right, or gets a whole team by one click, which plans a trip."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.stack import Stack
from tests.stories.screens import Person

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture
def alice(browser: Browser, stack: Stack) -> Iterator[Person]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    yield alice
    alice.close()


def choose_the_demo_model(alice: Person) -> None:
    page = alice.page
    alice.open("/sign-up")
    alice.fill_in_account("Sign up")
    page.get_by_label("Workspace name").fill("Lighthouse")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Demo model").first.click()
    page.get_by_role("button", name="Continue").click()


def test_a_newcomer_makes_an_answer_right_and_invites_a_colleague(alice: Person, tmp_path):
    page = alice.page
    choose_the_demo_model(alice)
    page.screenshot(path=tmp_path / "templates.png", full_page=True)
    page.get_by_role("button", name="Create and start chatting").click()
    questions = page.get_by_role("group", name="Example questions").get_by_role("button")
    expect(questions).to_have_count(2)
    page.screenshot(path=tmp_path / "questions.png")
    questions.first.click()
    alice.sees("Shipping is not refunded.")
    alice.sees("Do write to us if anything is unclear.")
    expect(questions).to_have_count(0)

    # The button types the line, and two keys lead to the answer.
    improve = page.get_by_role("button", name="Make it one sentence")
    expect(improve).to_be_visible()
    page.screenshot(path=tmp_path / "answer.png")
    improve.click()
    expect(alice.prompt).to_contain_text("- Answer in one sentence.")
    expect(alice.prompt).to_be_focused()
    page.screenshot(path=tmp_path / "line.png")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("button", name=re.compile("^Ask again"))).to_be_visible()
    page.keyboard.press("Enter")
    alice.sees("You can return your purchase within 30 days with the receipt; shipping is not refunded.")
    alice.sees(re.compile("draft r1 · Alice"))
    expect(page.get_by_role("button", name="Try another question")).to_be_visible()
    expect(improve).to_have_count(0)
    page.screenshot(path=tmp_path / "right.png")

    page.get_by_role("button", name="Invite a colleague").click()
    dialog = page.get_by_role("dialog", name="Invite a colleague")
    dialog.get_by_role("button", name="Create link").click()
    expect(dialog.get_by_role("textbox", name="Invite by link")).to_have_value(re.compile("/join/"))
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Try another question").click()
    alice.sees("We move on 1 March: please take boxes from the kitchen and write your name on each.")
    page.get_by_role("link", name="Connect a real model").click()
    expect(page).to_have_url(re.compile(r"/settings\?section=model"))
    assert alice.errors == []


def test_a_newcomer_describes_an_agent_in_a_sentence_and_previews_its_prompt(alice: Person, tmp_path):
    page = alice.page
    choose_the_demo_model(alice)
    page.get_by_label("Or describe it in one sentence").fill("Answer our customers, politely and in short")
    page.get_by_role("button", name="Write a prompt from it").click()
    proposed = page.get_by_role("region", name="Proposed agent")
    expect(proposed).to_contain_text("The demo model has put your sentence into a pattern")
    prompt = proposed.get_by_label("Prompt")
    expect(prompt).to_have_value(
        re.compile(r"^You are Support\. Your task: Answer our customers, politely and in short\.\n")
    )
    expect(page.get_by_label("Name", exact=True)).to_have_value("Support")
    expect(page.get_by_role("complementary", name="Preview")).to_contain_text("You are Support.")
    page.screenshot(path=tmp_path / "proposal.png", full_page=True)
    # Nothing is created by asking, and asking again replaces what was proposed.
    [workspace] = alice.send("GET", "me")["workspaces"]
    assert alice.send("GET", f"workspaces/{workspace['id']}/agents")["results"] == []
    page.get_by_label("Or describe it in one sentence").fill("Plan our deliveries")
    page.get_by_role("button", name="Write another one").click()
    expect(prompt).to_have_value(re.compile(r"^You are Planner\."))

    prompt.press("Control+End")
    page.keyboard.type("\n- Sign with Lighthouse.")
    page.get_by_role("button", name="Create and start chatting").click()
    page.get_by_role("group", name="Example questions").get_by_role("button", name="What can you do for me?").click()
    alice.sees("You are Planner. Your task: Plan our deliveries.")
    [agent] = alice.send("GET", f"workspaces/{workspace['id']}/agents")["results"]
    assert (agent["actor"]["name"], agent["actor"]["description"]) == ("Planner", "Plan our deliveries.")
    spec = alice.send("GET", f"agents/{agent['actor']['id']}/versions/1")
    assert spec["content"]["prompt"].endswith("\n- Sign with Lighthouse.")
    assert alice.errors == []


QUESTION = "Four days in Kyoto for six people under 120,000, dry weather if possible."


def test_a_newcomer_creates_the_trip_team_by_one_click_and_sees_its_board(alice: Person, tmp_path):
    page = alice.page
    choose_the_demo_model(alice)
    group = page.get_by_role("group", name="Or start with a whole team")
    expect(group.get_by_role("listitem")).to_contain_text(["Travel lead", "Weather", "Finance", "Travel", "General"])
    page.screenshot(path=tmp_path / "templates.png", full_page=True)
    group.get_by_role("button", name="Create the team and its chat").click()
    alice.sees("Hello, I am Travel lead, and these are my agents.")
    # Travel lead answers a message that mentions nobody; the others do not.
    alice.post("Hello")
    alice.sees("Hello! I am Travel lead.")
    boards = alice.log.locator("[data-board]")
    expect(boards).to_have_count(0)

    alice.post(QUESTION)
    board = alice.log.get_by_role("region", name="Board, 4 tasks")
    expect(board).to_contain_text("The demo model splits each trip in the same way")
    for number, agent in enumerate(("Weather", "Travel", "Finance", "Travel"), 1):
        expect(board.locator(f"[data-task='{number}']")).to_contain_text(agent)
    expect(board).to_contain_text("4 done", timeout=90_000)
    alice.sees(re.compile("I am the demo model, and I play Travel lead. Tasks of my plan: 4."), seconds=90)
    alice.sees(re.compile("Nothing is booked."))
    page.screenshot(path=tmp_path / "board.png", full_page=True)
    # It is the same from the stored rows.
    page.reload()
    expect(board).to_contain_text("4 done")
    expect(boards).to_have_count(1)
    alice.sees(re.compile("Nothing is booked."))
    assert alice.errors == []
