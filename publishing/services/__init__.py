"""The services of publishing."""

from publishing.services.publications import publish_agent, try_agent, update_published_agent
from publishing.services.reports import close_report, report_agent
from publishing.services.takedowns import take_down_agent
from publishing.services.updates import UPDATE_TASK, continue_update, resume_updates
from publishing.services.use import count_use

__all__ = [
    "UPDATE_TASK",
    "close_report",
    "continue_update",
    "count_use",
    "publish_agent",
    "report_agent",
    "resume_updates",
    "take_down_agent",
    "try_agent",
    "update_published_agent",
]
