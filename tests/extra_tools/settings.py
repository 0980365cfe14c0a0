"""The ordinary settings with these tools, for workers that tests start."""

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS

INSTALLED_APPS += ["tests.extra_tools"]
