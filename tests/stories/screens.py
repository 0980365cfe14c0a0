"""People with browsers of their own, and their first steps, for the stories in browsers."""

import re
import time
from typing import Any

from playwright.sync_api import Browser, BrowserContext, FloatRect, Locator, Page, expect

from common.ids import new_id
from tests.scripted_model import ScriptedModel
from tests.stack import Stack

PASSWORD = "a long enough password"
PATIENCE = 60.0
"""Seconds that a story waits for what a browser is to show."""
expect.set_options(timeout=PATIENCE * 1000)


class Person:
    """A person with a browser context. Errors of the page and reports of its content security policy fail the story."""

    def __init__(self, browser: Browser, stack: Stack, name: str, **look) -> None:
        self.name = name
        self.stack = stack
        self.context: BrowserContext = browser.new_context(locale="en-US", **look)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE * 1000)
        self.errors: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console", lambda message: self.errors.append(message.text) if "Content Security" in message.text else None
        )

    def open(self, path: str) -> None:
        self.page.goto(self.stack.url + path)

    def fill_in_account(self, button: str) -> None:
        self.page.get_by_label("Your name").fill(self.name)
        self.page.get_by_label("Email").fill(self._make_email())
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name=button).click()

    def sign_up(self) -> None:
        """Make an account by the API, to which the browser is then signed in."""
        at = f"{self.stack.url}/_allauth/browser/v1/auth"
        self.context.request.get(f"{at}/session")  # sets the cookie with the CSRF token
        body = {"name": self.name, "email": self._make_email(), "password": PASSWORD}
        answer = self.context.request.post(f"{at}/signup", data=body, headers=self._build_csrf_header())
        assert answer.ok, answer.text()

    def _make_email(self) -> str:
        return f"{self.name.lower()}-{new_id()}@example.org"

    def send(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to the API with the session of the browser, and return the JSON of the answer."""
        url = f"{self.stack.url}/api/v1/{path}"
        answer = self.context.request.fetch(url, method=method, data=body, headers=self._build_csrf_header())
        assert answer.ok, (method, path, answer.status, answer.text())
        return answer.json() if answer.body() else None

    def _build_csrf_header(self) -> dict[str, str]:
        cookies = {cookie["name"]: cookie["value"] for cookie in self.context.cookies()}
        return {"X-CSRFToken": cookies["csrftoken"], "Origin": self.stack.url}

    def post(self, text: str) -> None:
        self.page.get_by_placeholder(re.compile("^Message ")).fill(text)
        self.page.keyboard.press("Enter")

    @property
    def log(self) -> Locator:
        return self.page.get_by_role("log")

    def sees(self, text: str | re.Pattern[str], *, seconds: float = PATIENCE) -> None:
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


def get_box(locator: Locator) -> FloatRect:
    """Return where an element is shown. It is asked again while React replaces the element. Raises `TimeoutError`."""
    until = time.monotonic() + PATIENCE
    while (box := locator.bounding_box()) is None:
        if time.monotonic() > until:
            raise TimeoutError("It is not shown.")
    return box


def get_chat_id(page: Page) -> str:
    return re.sub(r".*/c/([^?#]+).*", r"\1", page.url)


def start(alice: Person, model: ScriptedModel, *, workspace: str = "Lighthouse") -> None:
    """Make an account, a workspace with a model and the agent Scribe by the API, and open the chat of Scribe."""
    alice.sign_up()
    row = alice.send("POST", "workspaces", {"name": workspace})
    settings = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted", "revision": 0}
    alice.send("PUT", f"workspaces/{row['id']}/model", settings)
    body = {"name": "Scribe", "template": "scribe", "open_chat": True}
    agent = alice.send("POST", f"workspaces/{row['id']}/agents", body)
    alice.open(f"/w/{row['handle']}/c/{agent['chat_id']}")
    alice.sees("Hello, I am Scribe.")


def start_by_forms(alice: Person, model: ScriptedModel) -> None:
    """Do by the forms of the web app what `start` does."""
    alice.open("/sign-up")
    alice.fill_in_account("Sign up")
    page = alice.page
    page.get_by_label("Workspace name").fill("Lighthouse")
    page.get_by_role("button", name="Continue").click()
    page.get_by_text("Another server").click()
    page.get_by_label("Server URL").fill(model.api_base)
    page.get_by_label("Default model").fill("scripted")
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("button", name="Create and start chatting").click()
    alice.sees("Hello, I am Scribe.")


def invite(alice: Person, bob: Person, role: str) -> None:
    """Let the other person join the chat of Scribe, which is open, and let Scribe answer all messages, by the API."""
    join_by_link(alice, bob, role)
    bob.sees("Hello, I am Scribe.")
    alice.sees(f"{bob.name} joined")
    chat = get_chat_id(alice.page)
    participants = alice.send("GET", f"chats/{chat}/participants")["results"]
    scribe = next(row["actor"]["id"] for row in participants if row["actor"]["name"] == "Scribe")
    # In a chat with two people an agent answers only when mentioned.
    alice.send("PATCH", f"chats/{chat}/participants/{scribe}", {"response": "always"})


def join_by_link(alice: Person, bob: Person, role: str) -> None:
    """Create a link to the chat that is open, and let the other person sign up and join by it, by the API."""
    chat = get_chat_id(alice.page)
    link = alice.send("POST", f"chats/{chat}/links", {"role": role})["url"]
    bob.sign_up()
    bob.send("POST", f"join/{link.rsplit('/', 1)[1]}")
    bob.open(re.sub(r"[?#].*", "", alice.page.url).removeprefix(alice.stack.url))


def invite_by_forms(alice: Person, bob: Person, role: str) -> None:
    """Do by the forms of the web app what `invite` does."""
    page = alice.page
    page.get_by_role("button", name=re.compile("Invite|People and agents")).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Role").select_option(role)
    dialog.get_by_role("button", name="Create link").click()
    link = dialog.get_by_role("textbox", name="Invite by link").input_value()
    page.keyboard.press("Escape")
    bob.page.goto(link)
    expect(bob.page.get_by_text("Alice invites you")).to_be_visible()
    bob.page.get_by_role("link", name="Sign up and join").click()
    bob.fill_in_account("Sign up")
    bob.sees("Hello, I am Scribe.")
    alice.sees(f"{bob.name} joined")
    page.get_by_role("button", name=re.compile("Invite|People and agents")).first.click()
    with page.expect_response(lambda answer: answer.request.method == "PATCH"):
        page.get_by_label("Which messages Scribe answers").select_option("always")
    page.keyboard.press("Escape")
