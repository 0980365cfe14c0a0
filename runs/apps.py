"""The app configuration. It registers the kinds of runs, and of what they wait for, of this app."""

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class RunsConfig(AppConfig):
    name = "runs"
    verbose_name = _("Runs")

    def ready(self) -> None:
        from runs.kinds import register_kind
        from runs.kinds.agent_proposal import AGENT_PROPOSAL
        from runs.kinds.chat import CHAT, COMPARISON, OTHER_ANSWER
        from runs.kinds.job import CHAT_SUMMARY
        from runs.kinds.sub_agent import SUB_AGENT
        from runs.runtime.sub_agents import SUB_AGENT_WAITS
        from runs.runtime.waits import register_wait_kind

        for kind in (CHAT, COMPARISON, OTHER_ANSWER, SUB_AGENT, CHAT_SUMMARY, AGENT_PROPOSAL):
            register_kind(kind)
        register_wait_kind(SUB_AGENT_WAITS)
