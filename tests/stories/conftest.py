"""One installation for all stories; each story has its own people and workspace."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.browser import chromium
from tests.public_services import PublicServices, run_public_services
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person
from tests.webhook_receiver import Receiver


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel() as model:
        yield model


@pytest.fixture(scope="session")
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture(scope="session")
def public_services() -> Iterator[PublicServices]:
    with run_public_services() as services:
        yield services


@pytest.fixture(scope="session")
def stack(model: ScriptedModel, receiver: Receiver, public_services: PublicServices) -> Iterator[Stack]:
    hosts = ",".join((model.host, receiver.host, public_services.host))
    variables: dict[str, Any] = public_services.environment | {"ATELIER_ALLOW_PRIVATE_HOSTS": hosts}
    with Stack(is_migrated=True, **variables) as stack:
        yield stack


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for one file: while Playwright's event loop runs in this thread, Django refuses queries in it."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**chromium().launch_options)
        yield browser
        browser.close()


@pytest.fixture
def people(browser: Browser, stack: Stack) -> Iterator[tuple[Person, Person]]:
    """Alice at a desktop, and Bob with a phone in the dark theme."""
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    bob = Person(browser, stack, "Bob", viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    yield alice, bob
    alice.close()
    bob.close()
