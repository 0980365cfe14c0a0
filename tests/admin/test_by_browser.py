"""The admin in a real browser: it works under its content security policy, on large and small screens, light and dark, in each
language, and axe finds no problem.
"""

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from actors.models import Actor
from agents.models import AgentGrant
from chats.models import Message
from events.models import AuditRecord
from runs.models import Run
from tests.admin.environment import build_path, create_rows
from tests.browser import chromium
from tests.factories.actors import PASSWORD
from tests.people import make_operator, make_team
from tests.stories.test_accessibility import AXE, RULES, RUN_AXE
from workspaces.models import Workspace

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

DESK: Any = {"width": 1440, "height": 900}
PHONE: Any = {"width": 390, "height": 844}
LIGHT: Any = "light"
DARK: Any = "dark"
SHOTS = os.environ.get("ADMIN_SHOTS")


def shoot(tab: Page, name: str) -> None:
    if SHOTS:
        tab.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


@pytest.fixture
def environment(live_server: Any) -> dict[str, Any]:
    """The paths of pages. They are read before the browser starts, because its event loop forbids queries of Django."""
    team = make_team()
    operator = make_operator()
    create_rows(team, 3)
    return {
        "address": live_server.url,
        "operator": operator,
        "bob": team.bob,
        "pages": {
            "index": "/admin/",
            "people": build_path(Actor) + "?kind__exact=human",
            "runs": build_path(Run),
            "messages": f"{build_path(Message)}?chat__id__exact={team.chat.id}",
            "audit": build_path(AuditRecord),
            "person": build_path(Actor, team.bob.pk, "change"),
            "agent": build_path(Actor, team.robin.pk, "change"),
            "workspace": build_path(Workspace, team.workspace.pk, "change"),
            "run": build_path(Run, Run.objects.filter(state="failed")[0].pk, "change"),
            "grant": f"{build_path(AgentGrant, 'add')}?user={team.bob.pk}&content_object={team.robin.pk}",
            "deletion": build_path(AgentGrant, AgentGrant.objects.all()[0].pk, "delete"),
        },
    }


def sign_in(tab: Page, environment: dict[str, Any]) -> None:
    tab.goto(f"{environment['address']}/admin/")
    tab.fill("input[name=username]", environment["operator"].email)
    tab.fill("input[name=password]", PASSWORD)
    shoot(tab, f"sign-in-{tab.evaluate('navigator.language')}")
    tab.click("button[type=submit]")
    tab.wait_for_selector("#nav-sidebar-apps", state="attached")


def test_the_admin_works_in_a_browser_under_its_policy(environment):
    wrong: list[str] = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium().launch_options)
        for size, scheme, language in ((DESK, LIGHT, "en-US"), (DESK, DARK, "zh-CN"), (PHONE, LIGHT, "zh-TW")):
            context = browser.new_context(viewport=size, color_scheme=scheme, locale=language)
            tab = context.new_page()
            tab.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
            tab.on("pageerror", lambda error: wrong.append(str(error)))
            sign_in(tab, environment)
            for name, path in environment["pages"].items():
                tab.goto(environment["address"] + path)
                wide = tab.evaluate("document.documentElement.scrollWidth - window.innerWidth")
                shoot(tab, f"{name}-{size['width']}-{scheme}-{language}")
                if size is DESK:
                    tab.evaluate(AXE.read_text())
                    wrong.extend(f"{name}, {scheme}: {found}" for found in tab.evaluate(RUN_AXE, RULES[scheme]))
                if wide > 0:
                    wrong.append(f"{name} is {wide} px too wide at {size['width']}")
            context.close()
        tab = browser.new_context(viewport=DESK).new_page()
        sign_in(tab, environment)
        _press_buttons(tab, environment)
        _confirm_for_selected_rows(tab, environment)
        browser.close()
    assert wrong == []
    assert not Actor.objects.get(pk=environment["bob"].pk).is_active


def _confirm_for_selected_rows(tab: Page, environment: dict[str, Any]) -> None:
    """Choose an action for a row of a list, confirm it with a reason, and check that it was done."""
    tab.goto(environment["address"] + environment["pages"]["people"])
    tab.get_by_role("row").filter(has_text="Charlie").locator("input.action-select").check()
    tab.select_option("select[name=action]", label="Sign out everywhere")
    tab.get_by_role("button", name="Run").click()
    tab.get_by_label("Reason").fill("Ticket 4711.")
    shoot(tab, "selected")
    tab.get_by_role("button", name="Yes, I’m sure").click()
    tab.get_by_text("Sign out everywhere: 1").wait_for()


def _press_buttons(tab: Page, environment: dict[str, Any]) -> None:
    """Press two buttons, confirm their dialogs, and check that the page shows the link and the changed state."""
    tab.goto(environment["address"] + environment["pages"]["person"])
    tab.get_by_text("Actions").click()
    tab.get_by_role("link", name="Create a password reset link").click()
    tab.locator("#dialog button[type=submit]").click()
    tab.get_by_text("/reset-password/").wait_for()
    shoot(tab, "shown-once")
    tab.goto(environment["address"] + environment["pages"]["person"])
    tab.get_by_text("Actions").click()
    tab.get_by_role("link", name="Close the account").click()
    tab.wait_for_selector("#dialog", state="visible")
    shoot(tab, "dialog")
    tab.locator("#dialog button[type=submit]").click()
    tab.get_by_text("closed", exact=True).wait_for()
