"""A person's own account, in two browsers: address, password and API tokens."""

import re
import time

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from common.ids import new_id
from tests.stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.browser]

expect.set_options(timeout=40_000)


def open_page(browser: Browser, wrong: list[str]) -> Page:
    page = browser.new_context(locale="en-US").new_page()
    page.set_default_timeout(40_000)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if "Content Security" in message.text else None)
    return page


def sign_up(page: Page, stack: Stack, email: str) -> str:
    """Sign a new person up with a workspace. Return the URL of its settings."""
    page.goto(f"{stack.url}/sign-up")
    page.get_by_label("Your name").fill("Alice")
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password").fill("a long enough password")
    page.get_by_role("button", name="Sign up").click()
    page.get_by_label("Workspace name").fill(f"Lab {new_id()}")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/welcome?*step=model*")
    page.goto(stack.url)
    page.wait_for_url("**/w/**")
    return re.sub(r"(/w/[^/]+).*", r"\1/settings", page.url)


def find_link_in_log(stack: Stack, email: str, path: str = "reset-password") -> str:
    """Return the link that a mail would contain: without a mail server it is written into the log."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        _, _, after = stack.log.partition(f"To: {email}")
        if found := re.search(rf"http\S+/{path}/\S+", after):
            return found[0]
        time.sleep(0.1)
    raise TimeoutError("No mail was written into the log.")


def test_an_email_address_is_changed_by_password_and_a_link(stack, browser):
    wrong: list[str] = []
    old, new = f"alice-{new_id()}@example.org", f"alice-{new_id()}@example.net"
    page, elsewhere = open_page(browser, wrong), open_page(browser, wrong)
    settings = sign_up(page, stack, old)
    page.goto(f"{settings}?section=profile")
    page.get_by_role("button", name="Change email").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("New email").fill(new)
    dialog.get_by_label("Current password").fill("not the password")
    dialog.get_by_role("button", name="Send the link").click()
    expect(dialog.get_by_text("That isn't your password.")).to_be_visible()
    dialog.get_by_label("Current password").fill("a long enough password")
    dialog.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("status").filter(has_text=new)).to_be_visible()
    elsewhere.goto(find_link_in_log(stack, new, "confirm-email"))
    elsewhere.get_by_role("button", name="Confirm").click()
    expect(elsewhere.get_by_role("heading", name="Your email is confirmed")).to_be_visible()
    expect(page.get_by_label("Email", exact=True)).to_have_value(new)
    assert wrong == []


def test_a_new_password_ends_other_sessions_and_tokens(stack, browser):
    wrong: list[str] = []
    email = f"alice-{new_id()}@example.org"
    first, second = open_page(browser, wrong), open_page(browser, wrong)
    settings = sign_up(first, stack, email)
    first.goto(f"{settings}?section=tokens")
    first.get_by_label("What is it for?").fill("Deploy script")
    first.get_by_label("Your password").fill("a long enough password")
    first.get_by_role("button", name="Create token").click()
    text = first.get_by_label("New token").input_value()

    second.goto(f"{stack.url}/sign-in")
    second.get_by_label("Email").fill(email)
    second.get_by_role("link", name="Forgot password?").click()
    expect(second.get_by_role("heading", name="Forgot your password?")).to_be_visible()
    expect(second.get_by_label("Email")).to_have_value(email)  # it was carried over
    second.get_by_role("button", name="Send link").click()
    expect(second.get_by_text("can't send email")).to_be_visible()
    second.goto(find_link_in_log(stack, email))
    second.get_by_label("New password").fill("quite another password")
    second.get_by_role("button", name="Set password").click()
    second.wait_for_url("**/w/**")

    first.wait_for_url("**/sign-in**")  # its socket was closed
    by_token = httpx.get(f"{stack.url}/api/v1/me", headers={"Authorization": f"Bearer {text}"})
    assert by_token.status_code == 401  # another person who had the password may have made it
    second.goto(f"{stack.url}/api/docs/")
    second.locator("#operations-tag-me").click()
    expect(second.locator("[data-path='/api/v1/me']").first).to_be_visible()
    assert wrong == []


COUNT_BYTES = """performance.getEntries().filter(entry => 'encodedBodySize' in entry)
    .reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""


def test_the_landing_page_loads_a_tenth_of_the_app_in_each_language(stack, browser):
    def count_bytes(path: str, locale: str, heading: str) -> int:
        context = browser.new_context(locale=locale)
        page = context.new_page()
        page.goto(stack.url + path)
        expect(page.get_by_role("heading", level=1)).to_have_text(heading)
        page.wait_for_load_state("networkidle")
        loaded: int = page.evaluate(COUNT_BYTES)
        context.close()
        return loaded

    whole_app = count_bytes("/sign-in", "en-US", "Welcome back")
    for locale, heading in (
        ("en-US", "Chat rooms where your team and its AI agents get better together"),
        ("zh-TW", "團隊與 AI Agent 一起工作、一起進步的聊天室"),
        ("zh-CN", "团队与 AI Agent 一起工作、一起进步的聊天室"),
        ("fr-CH", "Chat rooms where your team and its AI agents get better together"),
    ):
        assert 10 * count_bytes("/", locale, heading) < whole_app


def test_the_language_and_the_theme_of_the_landing_page_are_those_of_the_app(stack, browser):
    wrong: list[str] = []
    page = open_page(browser, wrong)
    page.goto(stack.url)
    page.get_by_role("combobox", name="Language").select_option("简体中文")
    expect(page.get_by_role("heading", level=1)).to_contain_text("团队与 AI Agent")
    expect(page.get_by_role("combobox", name="语言")).to_be_focused()
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    page.get_by_role("link", name="注册").click()
    expect(page.get_by_role("heading", name="创建你的账号")).to_be_visible()
    page.evaluate("localStorage.setItem('atelier.theme', 'dark')")
    page.goto(stack.url)
    expect(page.get_by_role("heading", level=1)).to_contain_text("团队与 AI Agent")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(page.locator("html")).to_have_css("color-scheme", "dark")
    assert wrong == []


def test_the_first_page_and_the_forms_explain_themselves(stack, browser):
    wrong: list[str] = []
    page = open_page(browser, wrong)
    page.goto(stack.url)
    expect(page.get_by_role("heading", level=1)).to_contain_text("your team and its AI agents")
    expect(page.get_by_role("img", name="A chat with an agent")).to_be_visible()
    page.get_by_role("link", name="Sign up").click()
    expect(page.get_by_role("heading", name="Create your account")).to_be_visible()

    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_text("Fill in this field.")).to_have_count(3)
    expect(page.get_by_label("Your name")).to_be_focused()
    page.get_by_label("Your name").fill("Alice")
    page.get_by_label("Email").fill("alice")
    page.get_by_label("Password").press_sequentially("short")
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_text("Enter a valid email address.")).to_be_visible()
    expect(page.get_by_text("The password needs at least 10 characters.")).to_be_visible()
    page.get_by_label("Email").fill(f"alice-{new_id()}@example.org")
    expect(page.get_by_text("Enter a valid email address.")).to_have_count(0)
    page.get_by_label("Password").fill("a long enough password")
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_label("Workspace name")).to_be_visible()

    page.get_by_label("Workspace name").fill("Lighthouse")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", name="Which model should your agents use?")).to_be_visible()
    page.get_by_role("link", name="Workspace").click()
    expect(page.get_by_label("Workspace name")).to_have_value("Lighthouse")
    page.get_by_label("Workspace name").fill("Harbour")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("navigation").get_by_text("Harbour")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/sign-in**")
    assert wrong == []
