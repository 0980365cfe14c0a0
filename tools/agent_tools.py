"""The tools of this app."""

from tools.current_time.tool import CurrentTime
from tools.web_fetch.tool import WebFetch

__all__ = ["CurrentTime", "WebFetch"]
