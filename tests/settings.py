"""The settings of tests: the ordinary ones, with test servers that are started when this module is imported.

pytest-django imports the settings before any `conftest.py`, so the servers must be started here.
"""

import os
from tempfile import TemporaryDirectory

from tests.servers import ensure_started

ensure_started()
if os.environ.get("PYTEST_XDIST_WORKER"):
    # All workers of a parallel run share one Valkey; each has its own database in it.
    _number = int(os.environ["PYTEST_XDIST_WORKER"].removeprefix("gw")) + 1
    os.environ["REDIS_URL"] = os.environ["REDIS_URL"].rsplit("/", 1)[0] + f"/{_number}"

from config.settings import *  # noqa: E402, F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
# No rate limits: tests of limits set their own (tests/actors/test_throttling.py).
RATES = dict.fromkeys(RATES, (0, 0))  # noqa: F405
ACCOUNT_RATE_LIMITS = False  # type: ignore[assignment]  # allauth: no limits
LLM_RESTART_DELAYS = (0.002, 0.004, 0.008)
# Each test client builds the middleware anew, so static files are searched at each request instead of all at the start.
WHITENOISE_AUTOREFRESH = True
# The files of a test run are in a folder of their own, which is deleted at its end.
_files = TemporaryDirectory(prefix="atelier-files-")
STORAGES["files"]["OPTIONS"]["location"] = _files.name  # noqa: F405
