"""axe finds no problem on the screens (WCAG 2.0 to 2.2, levels A and AA), light and dark."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from common.ids import new_id
from launcher.home import ROOT
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.dispute import Dispute, Texts
from tests.stories.filled_workspace import FilledWorkspace
from tests.stories.screens import Person

pytestmark = [pytest.mark.stack, pytest.mark.browser]

AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
LEVELS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
# Best practices: what a screen reader lists of a page. Authors of messages choose the levels of the headings in them.
LANDMARKS = {name: {"enabled": True} for name in ("landmark-one-main", "landmark-unique", "region")}
# The other theme differs in its colours only.
RULES: dict[str, Any] = {
    "light": {"runOnly": {"type": "tag", "values": LEVELS}, "rules": LANDMARKS},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast"]}},
}
RUN_AXE = """async rules => {
  const {violations} = await axe.run(document, {...rules, resultTypes: ['violations']})
  return violations.flatMap(({id, nodes}) =>
    nodes.map(node => `${id}: ${node.html.slice(0, 160)} ${node.any.map(check => check.message).join('; ')}`))
}"""
STILL = "*, *::before, *::after { transition: none !important; animation: none !important }"
# What React shows for another width is drawn in the next frame.
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Whether something in the page reaches below it, and nothing around it scrolls.
IS_CUT_OFF = """() => {
  const main = document.querySelector('main')
  const end = main.getBoundingClientRect().bottom + 1
  const isCutOff = element => {
    const {overflowY, position} = getComputedStyle(element)
    if (position === 'absolute' || position === 'fixed') return false
    if (element !== main && element.getBoundingClientRect().bottom > end) return true
    return overflowY === 'visible' && [...element.children].some(isCutOff)
  }
  return isCutOff(main)
}"""
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
LOW_PHONE = {"width": 390, "height": 480}


class Screens:
    """A page that is checked in both themes. `problems` has all problems by screen."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.problems: dict[str, list[str]] = {}

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)

    def press(self, name: str | re.Pattern[str]) -> None:
        self.page.get_by_role("button", name=name).first.click()

    def check(self, screen: str) -> None:
        # The context bypasses the content security policy, so that axe can be injected.
        if self.page.evaluate("typeof axe === 'undefined'"):
            self.page.evaluate(AXE.read_text())
        self.page.add_style_tag(content=STILL)
        for scheme, rules in RULES.items():
            self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]  # one of the two literals
            wrong: list[str] = self.page.evaluate(RUN_AXE, rules)
            if wrong:
                self.problems[f"{screen}, {scheme}"] = wrong


@pytest.fixture
def screens(stack: Stack, browser: Browser) -> Iterator[Screens]:
    look: dict[str, Any] = {"locale": "en-US", "viewport": WIDE, "bypass_csp": True}
    page = browser.new_context(**look).new_page()
    page.set_default_timeout(40_000)
    yield Screens(page, stack.url)
    page.context.close()


def sign_up(screens: Screens) -> None:
    """Check the screens from the sign-in form to the first chat, with the demo model."""
    page = screens.page
    screens.open("/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    check_on_both_sizes(screens, "for strangers")
    page.get_by_role("combobox", name="Language").select_option("繁體中文")
    check_on_both_sizes(screens, "for strangers, in Chinese")
    page.get_by_role("combobox", name="語言").select_option("English")
    screens.open("/sign-in")
    expect(page.get_by_label("Password")).to_be_visible()
    screens.check("sign-in")
    screens.open("/forgot-password")
    expect(page.get_by_label("Email")).to_be_visible()
    screens.check("forgotten password")
    screens.open("/reset-password/no-good")
    expect(page.get_by_role("link", name="Ask for a new link")).to_be_visible()
    screens.check("dead link")
    screens.open("/sign-up")
    page.get_by_label("Your name").fill("Alice")
    page.get_by_label("Email").fill(f"alice-{new_id()}@example.org")
    page.get_by_label("Password").fill("a long enough password")
    screens.check("sign-up")
    screens.press("Sign up")
    page.get_by_label("Workspace name").fill("Lighthouse")
    screens.check("a name for the workspace")
    screens.press("Continue")
    expect(page.get_by_text("Demo model").first).to_be_visible()
    screens.check("a model")
    screens.press("Continue")
    expect(page.get_by_label("Name", exact=True)).not_to_have_value("")
    screens.check("a first agent")
    screens.press("Create and start chatting")
    expect(page.get_by_role("log").get_by_text("Hello, I am Scribe.")).to_be_visible()
    expect(page.get_by_role("group", name="Example questions")).to_be_visible()


def edit_draft(screens: Screens) -> None:
    """Check a tool call, an applied draft in the workshop, its diff and its forms."""
    page = screens.page
    page.get_by_placeholder(re.compile("^Message ")).fill("What is the time in Tokyo?")
    page.keyboard.press("Enter")
    tool = page.get_by_role("log").get_by_text("current_time").last
    tool.click()
    expect(page.get_by_role("log").get_by_role("button", name="Stop")).to_have_count(0)
    screens.press(re.compile("^Workshop"))
    workshop = page.get_by_role("complementary", name="Workshop")
    workshop.get_by_role("button", name="Edit", exact=True).click()
    prompt = workshop.get_by_role("textbox", name="Prompt")
    expect(prompt).to_have_attribute("contenteditable", "true")
    prompt.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\nWrite in capitals.")
    workshop.get_by_role("button", name="Apply here").click()
    expect(page.get_by_role("log").get_by_text(re.compile("applied draft r1"))).to_be_visible()
    screens.check("chat and workshop")
    workshop.get_by_role("radio", name=re.compile("^Diff to")).first.click()
    screens.check("difference")
    for tab in ("Tools", "Model", "Limits"):
        workshop.get_by_role("tab", name=tab).click()
        screens.check(f"workshop, {tab}")
    workshop.get_by_role("button", name="Save…").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    screens.check("saving")
    page.keyboard.press("Escape")


def review_suggestion(screens: Screens) -> None:
    """Check a suggestion: submit the draft, open it, accept it, and open its merge."""
    page = screens.page
    workshop = page.get_by_role("complementary", name="Workshop")
    workshop.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Suggest…").click()
    page.get_by_role("dialog").get_by_role("button", name="Suggest", exact=True).click()
    page.get_by_role("link", name=re.compile("^Suggestions")).first.click()
    page.get_by_role("checkbox", name="Select all").check()
    expect(page.get_by_role("textbox", name="Diff")).to_be_visible()
    screens.check("suggestions")
    screens.press("Accept…")
    expect(page.get_by_role("dialog").get_by_role("radio").first).to_be_checked()
    screens.check("accepting")
    page.get_by_role("dialog").get_by_role("button", name="Accept", exact=True).click()
    expect(workshop).to_be_visible()
    page.get_by_role("link", name=re.compile("^Suggestions")).first.click()
    expect(page.get_by_role("heading", name="No pending suggestions")).to_be_visible()
    screens.check("no suggestions")
    page.get_by_role("radio", name="Accepted").click()
    screens.press("See the merge")
    expect(page.get_by_role("heading", name="Merge of 1 suggestion")).to_be_visible()
    screens.check("a merge")


def open_dialogs_and_settings(screens: Screens) -> None:
    """Check the dialogs and menus, and the settings."""
    page = screens.page
    screens.press(re.compile("Invite|People and agents"))
    expect(page.get_by_role("dialog").get_by_role("button", name="Create link")).to_be_visible()
    screens.check("people and links")
    page.keyboard.press("Escape")
    screens.press("Notifications")
    expect(page.get_by_role("dialog").get_by_role("heading", name="Nothing new")).to_be_visible()
    screens.check("notifications")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_visible()
    screens.check("palette")
    page.keyboard.press("Escape")
    workspace = re.sub(r"(/w/[^/]+).*", r"\1", page.url.removeprefix(screens.url))
    screens.open(f"{workspace}/search?q=tokyo")
    expect(page.get_by_role("region", name="The message in its place").get_by_text("Tokyo").first).to_be_visible()
    check_on_both_sizes(screens, "search")
    for section in (
        "general",
        "members",
        "model",
        "context",
        "tools",
        "budgets",
        "profile",
        "notifications",
        "ownModel",
        "security",
        "tokens",
    ):
        screens.open(f"{workspace}/settings?section={section}")
        expect(page.get_by_role("main").locator("input, select, button").first).to_be_attached()
        expect(page.get_by_role("main").get_by_role("heading").first).to_be_visible()
        screens.check(f"settings, {section}")


def open_directory(screens: Screens, workspace: str) -> None:
    """Check the form that publishes an agent, its page, the directory and a takedown."""
    page = screens.page
    screens.open(f"{workspace}/directory")
    screens.press("Publish an agent…")
    page.get_by_role("menuitem", name="Scribe").click()
    expect(page.get_by_text("What is published")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("Town Clerk")
    page.get_by_label("Handle").fill("town-clerk")
    page.get_by_label("What it does").fill("Writes minutes.")
    publish = page.get_by_role("button", name="Publish", exact=True)
    expect(publish).not_to_have_attribute("aria-disabled", "true")
    screens.check("publishing")
    publish.click()
    expect(page.get_by_role("heading", name="Town Clerk")).to_be_visible()
    screens.check("a public agent")
    screens.open(f"{workspace}/directory")
    page.get_by_role("link", name="Browser").first.click()
    screens.press("Report…")
    expect(page.get_by_role("dialog")).to_be_visible()
    screens.check("a report")
    page.keyboard.press("Escape")
    screens.open(f"{workspace}/directory")
    page.get_by_role("main").get_by_role("link", name=re.compile("^Town Clerk")).wait_for()
    screens.check("directory")
    page.get_by_role("main").get_by_role("link", name=re.compile("^Town Clerk")).click()
    screens.press("Take down…")
    page.get_by_label("Type Town Clerk").fill("Town Clerk")
    expect(page.get_by_role("dialog").get_by_text("runs end")).to_be_visible()
    screens.check("a takedown")
    page.get_by_role("dialog").get_by_role("button", name="Take down Town Clerk").click()
    expect(page.get_by_role("heading", name="Town Clerk was taken down")).to_be_visible()
    screens.check("a public agent that was taken down")


def make_token(screens: Screens) -> None:
    """Check a new API token, and the dialog before it is revoked."""
    page = screens.page
    page.get_by_label("What is it for?").fill("Deploy script")
    page.get_by_label("Your password").fill("a long enough password")
    screens.press("Create token")
    expect(page.get_by_label("New token")).to_be_visible()
    screens.check("a new token")
    screens.press("Revoke Deploy script")
    expect(page.get_by_role("dialog")).to_be_visible()
    screens.check("revoking a token")
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No tokens yet.")).to_be_visible()


def open_comparison_and_merge(screens: Screens, dispute: Dispute) -> None:
    """Check a comparison, and a merge with a conflict."""
    page = screens.page
    page.goto(dispute.link)
    screens.press(re.compile("^Join as"))
    expect(page.get_by_role("log")).to_be_visible()
    dispute.create_rows()
    expect(page.get_by_role("log").get_by_role("region", name=re.compile("^Draft r1"))).to_be_visible()
    screens.press(re.compile("^Workshop"))
    workshop = page.get_by_role("complementary", name="Workshop")
    expect(workshop.get_by_role("group").filter(has_text="in use")).to_be_visible()
    screens.check("comparison, and a merge with a conflict")


def use_phone(screens: Screens, chat: str) -> None:
    """Check the list, the chat and the workshop on a small screen."""
    page = screens.page
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]  # a width and a height
    screens.open(re.sub(r"(/w/[^/]+).*", r"\1", chat))
    expect(page.get_by_role("main").get_by_text("Scribe").first).to_be_visible()
    screens.check("phone, chats")
    screens.open(chat)
    expect(page.get_by_role("log").get_by_text("Hello, I am Scribe.")).to_be_visible()
    screens.check("phone, chat")
    screens.press(re.compile("^Workshop"))
    expect(page.get_by_role("complementary", name="Workshop")).to_be_visible()
    screens.check("phone, workshop")


def test_axe_finds_no_problem(screens: Screens, stack: Stack, model: ScriptedModel):
    sign_up(screens)
    chat = screens.page.url.removeprefix(screens.url)
    edit_draft(screens)
    review_suggestion(screens)
    screens.open(chat)
    open_dialogs_and_settings(screens)
    make_token(screens)
    open_directory(screens, re.sub(r"(/w/[^/]+).*", r"\1", chat))
    open_comparison_and_merge(screens, Dispute(stack, model, Texts("Mallory", "Be brief.", "Quote prices in TWD.")))
    use_phone(screens, chat.partition("?")[0])
    assert screens.problems == {}


def check_on_both_sizes(screens: Screens, screen: str) -> None:
    """Check the open screen at a desktop and on a phone, and that it scrolls on a low one. The desktop is set again."""
    screens.check(screen)
    screens.page.set_viewport_size(PHONE)  # type: ignore[arg-type]  # a width and a height
    screens.page.evaluate(TWO_FRAMES)
    screens.check(f"phone, {screen}")
    screens.page.set_viewport_size(LOW_PHONE)  # type: ignore[arg-type]  # a width and a height
    if screens.page.evaluate(IS_CUT_OFF):
        screens.problems[f"low phone, {screen}"] = ["The end of the page cannot be reached by scrolling."]
    screens.page.set_viewport_size(WIDE)  # type: ignore[arg-type]  # a width and a height


def open_agent(screens: Screens, agent: str) -> None:
    """Check the tabs of an agent's page, each with rows, the editor of a note, and the dialog of a schedule."""
    page = screens.page
    for tab, label, text in (
        ("", "Overview", "drag to move"),
        ("/schedule", "Schedule", "Working days at 08:00"),
        ("/runs", "Runs", "Model call 1"),
        ("/eyes", "Through its eyes", "You see what Planner sees."),
        ("/access", "Access", "No program has a token of this agent."),
        ("/memory", "Memory", "Group fares need ten travellers."),
    ):
        screens.open(agent + tab)
        expect(page.get_by_role("link", name=label, exact=True)).to_have_attribute("aria-current", "page")
        expect(page.get_by_role("main").get_by_text(text).first).to_be_visible()
        page.wait_for_load_state("networkidle")
        check_on_both_sizes(screens, f"agent, {label}")
    screens.press("Read all")
    screens.press("Edit this note")
    check_on_both_sizes(screens, "a note and the history")
    screens.open(f"{agent}/schedule")
    screens.press("Add…")
    page.get_by_role("dialog").get_by_label("How often").select_option("weekly")
    expect(page.get_by_role("dialog").locator("time")).to_have_count(3)
    check_on_both_sizes(screens, "a schedule")


def open_run_and_chats(screens: Screens, filled: FilledWorkspace) -> None:
    """Check a run, the pinned messages of a chat, and a chat between agents."""
    page = screens.page
    screens.open(f"/w/{filled.handle}/runs/{filled.run}")
    expect(page.get_by_role("list", name="Steps").get_by_text("current_time")).to_be_visible()
    request = page.get_by_role("complementary", name="Request")
    expect(request.get_by_text("What time is it in Kyoto?").first).to_be_visible()
    check_on_both_sizes(screens, "a run")
    screens.open(f"/w/{filled.handle}/c/{filled.chat}")
    screens.press("Pinned messages: 2")
    expect(page.get_by_role("dialog", name="Pinned messages").get_by_role("listitem")).to_have_count(2)
    check_on_both_sizes(screens, "pinned messages")
    screens.open(f"/w/{filled.handle}/c/{filled.agents_chat}")
    expect(page.get_by_role("log").get_by_text("The one near the metro.").first).to_be_visible()
    check_on_both_sizes(screens, "a chat between agents")


def open_board(screens: Screens, filled: FilledWorkspace) -> None:
    """Check a board with a task that is done, one that failed and one that waits for a person, and the form of a plan."""
    page = screens.page
    filled.create_board()
    screens.open(f"/w/{filled.handle}/c/{filled.chat}")
    board = page.get_by_role("region", name="Board, 3 tasks")
    for text in ("1 done", "1 failed", "1 waits for you"):
        expect(board.get_by_text(re.compile(text))).to_be_visible()
    expect(board.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    check_on_both_sizes(screens, "a board")
    screens.press("Plan tasks")
    screens.press("Open the last plan again")
    expect(page.get_by_label("Description of task 3")).to_have_value("Look at the clock")
    screens.press("More… Task 3")
    screens.press("More about the plan…")
    check_on_both_sizes(screens, "a plan")


def open_public_agent(screens: Screens, filled: FilledWorkspace, agent: str) -> None:
    """Check the directory, the page of a public agent, and the form of its next version."""
    page = screens.page
    for path, text, screen in (
        (f"/w/{filled.handle}/directory", "Plans group trips", "directory"),
        (f"/w/{filled.handle}/directory/{filled.public}", "Published by your workspace", "a public agent"),
        (f"{agent}/publish", "names remember, which stays here", "a new version"),
    ):
        screens.open(path)
        expect(page.get_by_text(text).first).to_be_visible()
        page.wait_for_load_state("networkidle")
        check_on_both_sizes(screens, screen)


@pytest.fixture
def filled(stack: Stack, model: ScriptedModel) -> Iterator[FilledWorkspace]:
    model.reset()
    filled = FilledWorkspace(stack, model)
    yield filled
    filled.close()


def test_axe_finds_no_problem_on_the_pages_of_an_agent(browser: Browser, stack: Stack, filled: FilledWorkspace):
    look: dict[str, Any] = {"viewport": WIDE, "bypass_csp": True}
    alice = Person(browser, stack, "Alice", **look)
    filled.sign_in(alice)
    screens = Screens(alice.page, stack.url)
    agent = f"/w/{filled.handle}/agents/{filled.planner}"
    open_run_and_chats(screens, filled)
    open_board(screens, filled)
    open_agent(screens, agent)
    open_public_agent(screens, filled, agent)
    screens.open(f"/w/{filled.handle}/settings?section=context")
    expect(alice.page.get_by_label("When a chat gets long")).to_be_visible()
    screens.check("settings, context")
    alice.close()
    assert screens.problems == {}
