"""A server of an outside program."""

import pytest

from tests.webhook_receiver import Receiver


@pytest.fixture
def receiver(settings):
    made = Receiver()
    settings.ALLOW_PRIVATE_HOSTS = [made.host]
    yield made
    made.close()
