"""The tools of this app."""

from django.conf import settings

from system_tools.current_time import CurrentTime
from system_tools.web_fetch.tool import WebFetch
from system_tools.web_search.tool import WebSearch
from tools.registry import register

__all__ = ["CurrentTime", "WebFetch", "WebSearch"]

if settings.WEB_SEARCH["provider"]:
    register(WebSearch)
