"""Choosing a model in a browser: missing fields, the list of models, and the test of the connection."""

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person

pytestmark = [pytest.mark.stack, pytest.mark.browser]


@pytest.fixture
def page(browser: Browser, stack: Stack, model: ScriptedModel):
    """A page on which Alice enters a server of her own."""
    model.reset()
    alice = Person(browser, stack, "Alice")
    alice.open("/sign-up")
    alice.fill_in_account("Sign up")
    alice.page.get_by_label("Workspace name").fill("Lighthouse")
    alice.page.get_by_role("button", name="Continue").click()
    alice.page.get_by_text("Another server").click()
    yield alice.page
    alice.close()


def connection_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Test connection")


def test_missing_fields_are_reported_and_no_request_is_sent(page: Page, model: ScriptedModel):
    button = connection_button(page)
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_attribute("aria-description", "Enter the URL of the server first.")
    page.get_by_label("Server URL").fill(model.api_base)
    expect(button).to_have_attribute("aria-description", "Enter a model ID first.")
    page.get_by_label("Default model").click()
    page.get_by_label("Server URL").click()
    expect(page.get_by_role("alert").filter(has_text="Enter a model ID first.")).to_be_visible()
    button.click(force=True)
    assert model.requests == []
    page.get_by_label("Default model").fill("scripted")
    expect(button).not_to_have_attribute("aria-disabled", "true")


def test_the_models_of_the_server_are_offered_and_an_edit_clears_the_test_result(page: Page, model: ScriptedModel):
    page.get_by_label("Server URL").fill(model.api_base)
    page.get_by_label("Default model").click()
    expect(page.get_by_text("Models on this server: 1")).to_be_visible()
    assert page.locator("datalist option").evaluate_all("all => all.map(one => one.value)") == ["scripted"]
    page.get_by_label("Default model").fill("scripted")
    connection_button(page).click()
    expect(page.get_by_role("status").filter(has_text="Connected")).to_be_visible()
    page.get_by_label("Default model").fill("scripted-2")
    expect(page.get_by_role("status").filter(has_text="Connected")).to_have_count(0)


@pytest.mark.parametrize("script", [{"tokens": [" "]}, {"mode": "cleancut", "after": 1}])
def test_a_model_without_an_answer_is_not_connected(page: Page, model: ScriptedModel, script: dict):
    model.script(**script)
    page.get_by_label("Server URL").fill(model.api_base)
    page.get_by_label("Default model").fill("scripted")
    connection_button(page).click()
    expect(page.get_by_role("status").filter(has_text="No answer")).to_be_visible()
    expect(page.get_by_role("status").filter(has_text="Connected")).to_have_count(0)
