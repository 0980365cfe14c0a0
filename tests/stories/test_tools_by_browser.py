"""Workspace tools in a browser: our own API becomes tools of an agent, and an editor tests them and sets policies."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from common.processes import find_free_port
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import PASSWORD, Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture(scope="module")
def own_stack(model: ScriptedModel) -> Iterator[Stack]:
    """An installation whose operator allows requests to its own address."""
    port = find_free_port()
    with Stack(port=port, is_migrated=True, ATELIER_ALLOW_PRIVATE_HOSTS=f"{model.host},127.0.0.1:{port}") as stack:
        yield stack


def test_our_own_document_becomes_tools_that_an_agent_calls(
    browser: Browser, own_stack: Stack, model: ScriptedModel, tmp_path
):
    model.reset()
    alice = Person(browser, own_stack, "Alice", viewport={"width": 1440, "height": 900})
    start(alice, model)
    page = alice.page
    chat = page.url.removeprefix(own_stack.url)
    api = page.context.request
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    csrf = {"X-CSRFToken": cookies.get("csrftoken", ""), "Referer": own_stack.url}
    body = {"name": "Tools", "password": PASSWORD, "scope": "read"}
    token = api.post(f"{own_stack.url}/api/v1/me/tokens", data=body, headers=csrf).json()["secret"]
    workspace = api.get(f"{own_stack.url}/api/v1/workspaces").json()["results"][0]

    alice.open(f"/w/{workspace['handle']}/settings?section=tools")
    page.get_by_role("button", name="Import from OpenAPI…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Document").fill(f"{own_stack.url}/api/v1/schema")
    dialog.get_by_role("button", name="Read").click()
    dialog.get_by_label("Find an operation").fill("/chats")
    dialog.get_by_role("checkbox", name="GET /api/v1/workspaces/{workspace_id}/chats", exact=True).click()
    dialog.get_by_role("checkbox", name="POST /api/v1/workspaces/{workspace_id}/chats", exact=True).click()
    dialog.get_by_label("Base URL").fill(own_stack.url)
    dialog.get_by_label("Sign-in").select_option("bearer")
    dialog.get_by_label("Token", exact=True).fill(token)
    page.screenshot(path=tmp_path / "import.png")
    dialog.get_by_role("button", name="Add 2 tools").click()
    server = page.get_by_role("region", name="Atelier")
    expect(server.get_by_text("list_chats", exact=True)).to_be_visible()
    expect(server.get_by_label("Policy for list_chats")).to_have_value("auto")
    expect(server.get_by_label("Policy for create_chat")).to_have_value("ask")

    server.get_by_role("listitem").filter(has_text="list_chats").get_by_role("button", name="Test…").click()
    dialog.get_by_label("workspace_id").fill(workspace["id"])
    dialog.get_by_role("button", name="Call it").click()
    expect(dialog.get_by_text("Result ·")).to_be_visible()
    expect(dialog.get_by_text("HTTP 200")).to_be_visible()
    page.screenshot(path=tmp_path / "test.png")
    dialog.get_by_role("button", name="Close").click()
    expect(server.get_by_text(re.compile("^tested"))).to_be_visible()
    page.get_by_label("Policy for web_fetch").select_option("off")
    expect(page.get_by_text(re.compile("1 off$"))).to_be_visible()
    page.screenshot(path=tmp_path / "tools.png")

    alice.open(chat)
    alice.open_workshop()
    alice.workshop.get_by_role("tab", name=re.compile("Tools")).click()
    alice.workshop.get_by_role("button", name="Edit", exact=True).click()
    alice.workshop.get_by_role("switch", name="list_chats").click()
    page.screenshot(path=tmp_path / "workshop.png")
    alice.workshop.get_by_role("button", name="Apply here").click()
    alice.sees(re.compile("applied draft"))
    model.script(text="You have one chat.")
    arguments = json.dumps({"workspace_id": workspace["id"]})
    model.script(calls=[{"name": "list_chats", "arguments": arguments}], times=1)
    alice.post("Which chats are there?")
    alice.sees("You have one chat.")
    page.screenshot(path=tmp_path / "chat.png")
    asked = json.dumps([record.body for record in model.requests])
    assert token not in asked
    assert "List the reader's chats in a workspace" in asked
    alice.close()
