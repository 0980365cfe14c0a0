"""The services of publishing."""

from publishing.services.lines import finish_takedowns, update_chats
from publishing.services.publications import publish_agent, try_agent, update_published_agent
from publishing.services.reports import close_report, report_agent
from publishing.services.takedowns import take_down_agent

__all__ = [
    "close_report",
    "finish_takedowns",
    "publish_agent",
    "report_agent",
    "take_down_agent",
    "try_agent",
    "update_chats",
    "update_published_agent",
]
