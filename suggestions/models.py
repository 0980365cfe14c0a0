"""Suggestions to change an agent, and the merges that make drafts of them (S0.11, S0.12)."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from agents.content import SpecContent
from agents.models import AgentSpec, Draft, Run
from chats.models import Chat
from common.models import Identified, called
from workspaces.models import Workspace


class State(models.TextChoices):
    """Where a suggestion is. The last two are final; an accepted one is pending again when its draft is discarded."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"


class SummaryState(models.TextChoices):
    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"


class MergeState(models.TextChoices):
    """Where a merge is. The last three are final."""

    WAITING = "waiting"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


UNDER_WAY = (MergeState.WAITING, MergeState.WORKING)


class Merge(Identified):
    """Suggestions becoming one draft. `by` asked for it, and the draft is theirs. `chosen` are the suggestions' ids in the
    order given, whatever became of them. `result` (a `Provenance`) and `content` are kept when the draft could not be placed,
    so that trying again asks no model."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="merges")
    agent = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="merges")
    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="merges")
    by = models.ForeignKey("actors.Actor", on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=8, choices=MergeState.choices, default=MergeState.WAITING)
    chosen = ArrayField(models.UUIDField(), default=list)
    method = models.CharField(max_length=8, blank=True, default="")
    base = models.ForeignKey(AgentSpec, on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    content = models.JSONField(null=True)
    result = models.JSONField(null=True)
    draft = models.ForeignKey(Draft, null=True, on_delete=models.SET_NULL, related_name="+")
    error_code = models.CharField(max_length=40, blank=True, default="")
    error = models.CharField(max_length=600, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=MergeState.values), name="merge_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=UNDER_WAY, ended_at=None) | (~Q(state__in=UNDER_WAY) & Q(ended_at__isnull=False)),
                name="a_merge_that_is_over_has_its_time",
            ),
        ]
        indexes = [models.Index(fields=["workspace", "-created_at"], name="merges_of_workspace")]

    def __str__(self) -> str:
        return called(self, "agent", "chat")


class Suggestion(Identified):
    """What somebody proposes an agent should be: a whole spec, immutable, beside the version it was made on.

    `merge` is the one under way while pending, and the one that accepted it afterwards. `line` is its line in the chat's log.
    """

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="suggestions")
    agent = models.ForeignKey("actors.Actor", on_delete=models.CASCADE, related_name="suggestions")
    chat = models.ForeignKey(Chat, on_delete=models.CASCADE, related_name="suggestions")
    author = models.ForeignKey("actors.Actor", on_delete=models.PROTECT, related_name="+")
    base = models.ForeignKey(AgentSpec, on_delete=models.PROTECT, related_name="+")
    content = models.JSONField()
    touches = models.JSONField(default=list)
    note = models.CharField(max_length=400, blank=True, default="")
    line_id = models.UUIDField()
    summary = models.TextField(blank=True, default="")
    summary_state = models.CharField(max_length=8, choices=SummaryState.choices, default=SummaryState.PENDING)
    summary_error = models.CharField(max_length=600, blank=True, default="")
    summary_run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    merge = models.ForeignKey(Merge, null=True, on_delete=models.PROTECT, related_name="suggestions")
    saved_as = models.ForeignKey(AgentSpec, null=True, on_delete=models.PROTECT, related_name="+")
    decided_by = models.ForeignKey("actors.Actor", null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=400, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(state__in=State.values), name="suggestion_state_known"),
            models.CheckConstraint(
                condition=~Q(state=State.ACCEPTED) | Q(merge__isnull=False), name="accepted_by_a_merge"
            ),
            models.CheckConstraint(
                condition=Q(state=State.PENDING, decided_at=None)
                | (~Q(state=State.PENDING) & Q(decided_at__isnull=False)),
                name="a_decision_has_its_time",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "state", "-created_at"], name="suggestions_of_workspace"),
            models.Index(fields=["agent", "state"], name="suggestions_for_agent"),
        ]

    def __str__(self) -> str:
        return called(self, "agent", "author")

    def proposed(self) -> SpecContent:
        """The spec that it proposes, as a value."""
        return SpecContent.model_validate(self.content)
