"""Approvals: calls of tools that wait for a person, and questions of agents to a person."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from pydantic import TypeAdapter

from actors.models import Actor
from chats.models import Chat
from common.models import Identified, build_display_name
from events.payloads import ApprovalAskedPayload, ApprovalDecidedPayload, CallTarget, ChatTarget, Question
from events.rows import ApprovalRow, TextsOfOthers

REASONS = [
    ("policy", _("policy of the tool")),
    ("others", _("texts of others were read")),
    ("outside", _("texts from outside were read")),
]
READ_TEXTS = [
    (TextsOfOthers.NONE.value, _("of its person only")),
    (TextsOfOthers.OTHERS.value, _("of other participants")),
    (TextsOfOthers.OUTSIDE.value, _("from outside")),
]
ASKED_AGAIN = [("texts", _("other texts were read")), ("target", _("it goes elsewhere"))]
DECISIONS = [
    ("approved", _("approved")),
    ("approved_for_run", _("approved for this run")),
    ("refused", _("refused")),
    ("answered", _("answered")),
    ("expired", _("expired")),
    ("stopped", _("run ended")),
]


_CALL_TARGET: TypeAdapter[CallTarget] = TypeAdapter(CallTarget)


class Approval(Identified):
    """A call that a run makes only if a person approves it, or a question that a person answers. The run waits meanwhile.

    `arguments` is the model's own text, `decided_arguments` that of the decision, if it was edited. A question has a `question`
    and no `reason`. The message that shows it has the same id. The run is named by its id, because runs are above this app.

    `read_texts`, `asked_again`, `can_approve_for_run` and `target` are the facts on which the person decides
    (`approvals.selectors.CallFacts`). If the edited arguments name another target, `target` is that one.
    """

    chat = models.ForeignKey(Chat, verbose_name=_("chat"), on_delete=models.CASCADE, related_name="approvals")
    agent = models.ForeignKey(Actor, verbose_name=_("agent"), on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(
        Actor, verbose_name=_("person"), null=True, on_delete=models.SET_NULL, related_name="approvals"
    )
    run_id = models.UUIDField(_("run id"))
    call_id = models.CharField(_("call id"), max_length=80)
    tool = models.CharField(_("tool"), max_length=64)
    arguments = models.TextField(_("arguments"), blank=True)
    reason = models.CharField(_("reason"), max_length=8, choices=REASONS, null=True)
    question = models.JSONField(_("question"), null=True)
    read_texts = models.CharField(_("read texts"), max_length=8, choices=READ_TEXTS, blank=True, default="")
    asked_again = models.CharField(_("asked again"), max_length=8, choices=ASKED_AGAIN, null=True)
    can_approve_for_run = models.BooleanField(_("can be approved for the run"), default=True)
    # A `CallTarget`.
    target = models.JSONField(_("target"), null=True)
    asked_at = models.DateTimeField(_("asked at"))
    expires_at = models.DateTimeField(_("expires at"))
    decision = models.CharField(_("decision"), max_length=16, choices=DECISIONS, null=True)
    decided_by = models.ForeignKey(
        Actor, verbose_name=_("decided by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(_("decided at"), null=True)
    decided_arguments = models.TextField(_("decided arguments"), null=True)
    note = models.CharField(_("note"), max_length=500, blank=True, default="")
    answer = models.TextField(_("answer"), blank=True, default="")

    class Meta:
        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
        constraints = [
            models.UniqueConstraint(fields=["run_id", "call_id"], name="one_approval_per_call"),
            models.CheckConstraint(
                condition=Q(reason__in=[code for code, _ in REASONS], question__isnull=True)
                | Q(reason=None, question__isnull=False),
                name="approval_has_reason_or_question",
            ),
            models.CheckConstraint(
                condition=Q(decision=None, decided_at=None)
                | Q(decision__in=[code for code, _ in DECISIONS], decided_at__isnull=False),
                name="approval_decision_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["expires_at"], condition=Q(decision=None), name="approvals_waiting"),
            models.Index(fields=["chat"], condition=Q(decision=None), name="approvals_waiting_in_chat"),
        ]

    def __str__(self) -> str:
        return f"{self.tool} · {build_display_name(self, 'chat')}"

    def build_asked_payload(self) -> ApprovalAskedPayload:
        """Return the payload of the message that asks for the decision."""
        return ApprovalAskedPayload(
            call_id=self.call_id,
            tool=self.tool,
            arguments=self.arguments,
            reason=self.reason,
            read_texts=TextsOfOthers(self.read_texts).value,
            asked_again=self.asked_again,
            can_approve_for_run=self.can_approve_for_run,
            has_target=self.target is not None,
            question=Question.model_validate(self.question) if self.question else None,
            target_id=self.agent_id,
            target_name=self.agent.name,
            person_id=self.person_id,
            person_name=self.person.name if self.person else "",
            expires_at=self.expires_at,
        )

    def build_decided_payload(self) -> ApprovalDecidedPayload:
        """Return the payload of the message that says what was decided. Raises `TypeError` before the decision."""
        if self.decision is None:
            raise TypeError(f"The approval {self.pk} is not decided.")
        return ApprovalDecidedPayload(
            approval_id=self.id,
            call_id=self.call_id,
            tool=self.tool,
            decision=self.decision,
            actor_id=self.decided_by_id,
            actor_name=self.decided_by.name if self.decided_by else "",
            target_id=self.agent_id,
            target_name=self.agent.name,
            note=self.note,
            answer=self.answer,
            arguments=self.decided_arguments,
        )

    def get_target(self) -> CallTarget | None:
        """Return where the call goes."""
        return None if self.target is None else _CALL_TARGET.validate_python(self.target)

    def is_target_hidden(self, actor: Actor) -> bool:
        """Return whether the call writes into a chat that the actor does not read, unless it is the direct chat with a member."""
        target = self.get_target()
        if not isinstance(target, ChatTarget) or target.member:
            return False
        return all(reader.actor_id != actor.pk for reader in target.readers)

    def to_row(self, actor: Actor) -> ApprovalRow:
        """Return the row for this actor, who may read the chat of the run. The other chat that a call writes into is hidden from
        those who do not read it (`is_target_hidden`)."""
        target = self.get_target()
        if isinstance(target, ChatTarget) and self.is_target_hidden(actor):
            target = target.model_copy(update={"title": "", "readers": [], "is_hidden": True})
        return ApprovalRow(
            id=self.id,
            workspace_id=self.chat.workspace_id,
            chat_id=self.chat_id,
            run_id=self.run_id,
            agent=self.agent.to_row(),
            person_id=self.person_id,
            call_id=self.call_id,
            tool=self.tool,
            arguments=self.arguments,
            reason=self.reason,
            question=Question.model_validate(self.question) if self.question else None,
            read_texts=TextsOfOthers(self.read_texts).value,
            asked_again=self.asked_again,
            can_approve_for_run=self.can_approve_for_run,
            target=target,
            asked_at=self.asked_at,
            expires_at=self.expires_at,
            decision=self.decision,
            decided_by=self.decided_by.to_row() if self.decided_by else None,
            decided_at=self.decided_at,
            decided_arguments=self.decided_arguments,
            note=self.note,
            answer=self.answer,
        )
