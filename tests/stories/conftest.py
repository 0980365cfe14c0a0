"""One installation for all stories; each story has its own people and workspace."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium
from tests.scripted_model import ScriptedModel
from tests.stack import Stack


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture(scope="session")
def stack(model: ScriptedModel) -> Iterator[Stack]:
    with Stack(is_migrated=True, ATELIER_ALLOW_PRIVATE_HOSTS=model.host) as stack:
        yield stack


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for one file: while Playwright's event loop runs in this thread, Django refuses queries in it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium().launch_options)
        yield browser
        browser.close()
