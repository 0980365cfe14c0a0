"""What suggestions do when they hear news from below."""

from actors.models import Actor
from agents.models import AgentSpec, Draft, Run
from chats.models import InChat
from suggestions.services.deciding import mark_saved, reopen, waiting_in
from suggestions.services.placing import settle_merge
from suggestions.services.summaries import settle_summary


def job_ended(run: Run) -> list[None]:
    """A summary or a merge has been worked on."""
    if run.origin == "summary":
        settle_summary(run)
    elif run.origin == "merge":
        settle_merge(run)
    return []


def draft_ended(draft: Draft, actor: Actor, spec: AgentSpec | None) -> list[InChat]:
    """What was merged into a draft is in the version that it became. When it became none, or goes on as another suggestion
    that may be rejected, nothing of it is accepted any more."""
    if spec is not None:
        mark_saved(draft, spec)
    else:
        reopen(waiting_in(draft), actor)
    return []
