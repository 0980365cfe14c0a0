"""One running installation for all stories; each story has people and a workspace of its own."""

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
    with Stack(ATELIER_ALLOW_PRIVATE_HOSTS=model.host) as stack:
        yield stack


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium().launch_options)
        yield browser
        browser.close()
