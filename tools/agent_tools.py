"""The tools of this app."""

import importlib

from django.conf import settings

from tools.current_time import CurrentTime
from tools.web_fetch.tool import WebFetch

__all__ = ["CurrentTime", "WebFetch"]

if settings.WEB_SEARCH["provider"]:
    importlib.import_module("tools.web_search.tool")
