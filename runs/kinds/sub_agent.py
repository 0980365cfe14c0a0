"""The run of a sub-agent: it does a task that another agent has given it, in the same chat (`runs/runtime/sub_agents.py`)."""

from django.utils.translation import gettext_lazy as _

from runs.kinds.task import TaskRun
from runs.models import KindName


class SubAgentRun(TaskRun):
    """The run of a task that a run of another agent has given, which waits for it."""

    name = KindName.SUB_AGENT
    label = KindName.SUB_AGENT.label
    retry_refusal = _("The agent that gave this task asks again, or you retry its reply.")


SUB_AGENT = SubAgentRun()
