"""The settings under test: the ordinary ones, beside servers that are started when this module is first read.

pytest-django reads the settings before any `conftest.py`; so this is the one place where servers can still be named.
"""

import os

from tests.servers import ensure

ensure()
if os.environ.get("PYTEST_XDIST_WORKER"):
    # One Valkey for all workers of a parallel run: each has a database of its own in it.
    _number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")) + 1
    os.environ["REDIS_URL"] = os.environ["REDIS_URL"].rsplit("/", 1)[0] + f"/{_number}"

from config.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# Nobody in a test waits for others: what a limit does is tested with numbers of its own (tests/actors/test_throttling.py).
RATES = dict.fromkeys(RATES, (0, 0))  # noqa: F405
ACCOUNT_RATE_LIMITS = False  # type: ignore[assignment]  # allauth: none at all
# Each test client builds the middleware anew: a static file is looked for when it is asked for, not all of them each time.
WHITENOISE_AUTOREFRESH = True
