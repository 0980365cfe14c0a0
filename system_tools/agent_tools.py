"""The tools of this app."""

import importlib

from django.conf import settings

from system_tools.current_time import CurrentTime
from system_tools.web_fetch.tool import WebFetch

__all__ = ["CurrentTime", "WebFetch"]

if settings.WEB_SEARCH["provider"]:
    importlib.import_module("system_tools.web_search.tool")
