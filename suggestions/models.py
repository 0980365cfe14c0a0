"""Suggestions to change an agent, and the merges that make drafts of them."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agents.models import AgentSpec, Draft
from agents.specs.content import SpecContent
from chats.models import Chat
from common.models import Identified, build_display_name
from events.rows import MergeMethod, MergeState, SuggestionState, SuggestionSummaryState
from runs.models import Run
from workspaces.models import Workspace

UNDER_WAY = (MergeState.WAITING, MergeState.WORKING)
"""The states of a merge that has not ended."""


class Merge(Identified):
    """A merge of suggestions into one draft.

    `by` is the person who requested it and who gets the lock of the draft. `chosen` holds the ids of the suggestions. `base` is
    production when the merge was started or retried. `content` (a spec) and `result` (a `Provenance`) are the outcome. They are
    stored even if the draft could not be created, so that a retry needs no model.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="merges"
    )
    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="merges")
    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="merges")
    by = models.ForeignKey("actors.Actor", verbose_name=_("by"), on_delete=models.PROTECT, related_name="+")
    state = models.CharField(_("state"), max_length=8, choices=MergeState.choices, default=MergeState.WAITING)
    chosen = ArrayField(models.UUIDField(), verbose_name=_("chosen"), default=list)
    method = models.CharField(_("method"), max_length=8, choices=MergeMethod.choices, blank=True, default="")
    base = models.ForeignKey(AgentSpec, verbose_name=_("base"), on_delete=models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, verbose_name=_("run"), null=True, on_delete=models.SET_NULL, related_name="+")
    content = models.JSONField(_("content"), null=True)
    result = models.JSONField(_("result"), null=True)
    draft = models.ForeignKey(Draft, verbose_name=_("draft"), null=True, on_delete=models.SET_NULL, related_name="+")
    # Why the answer of the model or service was not used, so that the stored outcome was merged line by line.
    fallback_code = models.CharField(_("fallback code"), max_length=40, blank=True, default="")
    fallback = models.CharField(_("fallback"), max_length=600, blank=True, default="")
    # Why the merge failed. Of a merge that is done: the same as `fallback_code` and `fallback`.
    error_code = models.CharField(_("error code"), max_length=40, blank=True, default="")
    error = models.CharField(_("error"), max_length=600, blank=True, default="")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True)

    class Meta:
        verbose_name = _("merge")
        verbose_name_plural = _("merges")
        constraints = [
            models.CheckConstraint(condition=Q(state__in=MergeState.values), name="merge_state_known"),
            models.CheckConstraint(
                condition=Q(state__in=UNDER_WAY, ended_at=None) | (~Q(state__in=UNDER_WAY) & Q(ended_at__isnull=False)),
                name="a_merge_that_is_over_has_its_time",
            ),
        ]
        indexes = [models.Index(fields=["workspace", "-created_at"], name="merges_of_workspace")]

    def __str__(self) -> str:
        return build_display_name(self, "agent", "chat")


class Suggestion(Identified):
    """A proposed spec of an agent, immutable, with the version (`base`) that it is based on.

    `touches`: the names of the parts of the spec that it changes, such as `prompt`. `merge`: the merge under way while it is
    pending, later the merge that accepted it. `message_id`: its message in the chat.
    """

    workspace = models.ForeignKey(
        Workspace, verbose_name=_("workspace"), on_delete=models.CASCADE, related_name="suggestions"
    )
    agent = models.ForeignKey(
        "actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="suggestions"
    )
    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="suggestions")
    author = models.ForeignKey("actors.Actor", verbose_name=_("author"), on_delete=models.PROTECT, related_name="+")
    base = models.ForeignKey(AgentSpec, verbose_name=_("base"), on_delete=models.PROTECT, related_name="+")
    content = models.JSONField(_("content"))
    touches = models.JSONField(_("touches"), default=list)
    note = models.CharField(_("note"), max_length=400, blank=True, default="")
    message_id = models.UUIDField(_("message id"))
    summary = models.TextField(_("summary"), blank=True, default="")
    summary_state = models.CharField(
        _("summary state"), max_length=8, choices=SuggestionSummaryState.choices, default=SuggestionSummaryState.PENDING
    )
    summary_error = models.CharField(_("summary error"), max_length=600, blank=True, default="")
    summary_run = models.ForeignKey(
        Run, verbose_name=_("summary run"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(
        _("state"), max_length=10, choices=SuggestionState.choices, default=SuggestionState.PENDING
    )
    merge = models.ForeignKey(
        Merge, verbose_name=_("merge"), null=True, on_delete=models.PROTECT, related_name="suggestions"
    )
    saved_as = models.ForeignKey(
        AgentSpec, verbose_name=_("saved as"), null=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("decided by"), null=True, on_delete=models.PROTECT, related_name="+"
    )
    decided_at = models.DateTimeField(_("decided at"), null=True)
    reason = models.CharField(_("reason"), max_length=400, blank=True, default="")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("suggestion")
        verbose_name_plural = _("suggestions")
        constraints = [
            models.CheckConstraint(condition=Q(state__in=SuggestionState.values), name="suggestion_state_known"),
            models.CheckConstraint(
                condition=~Q(state__in=[SuggestionState.ACCEPTED, SuggestionState.UNUSED]) | Q(merge__isnull=False),
                name="accepted_by_a_merge",
            ),
            models.CheckConstraint(
                condition=Q(state=SuggestionState.PENDING, decided_at=None)
                | (~Q(state=SuggestionState.PENDING) & Q(decided_at__isnull=False)),
                name="a_decision_has_its_time",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "state", "-created_at"], name="suggestions_of_workspace"),
            models.Index(fields=["agent", "state"], name="suggestions_for_agent"),
        ]

    def __str__(self) -> str:
        return build_display_name(self, "agent", "author")

    def parse_content(self) -> SpecContent:
        """Return `content`, the proposed spec, as a `SpecContent`."""
        return SpecContent.model_validate(self.content)
