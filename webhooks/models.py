"""What wakes an agent that an outside program answers for, and the webhooks and deliveries that tell the program."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.models import Identified, build_display_name
from common.secrets import Secret, decrypt_for, encrypt_for
from events.rows import DeliveryRow, DeliveryState, WakeCause, WakeRow, WebhookRow


class AgentWake(Identified):
    """A message that woke an agent whose `runs_outside` is set. It is unread until the agent's read cursor is past the message."""

    agent = models.ForeignKey("actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="wakes")
    chat = models.ForeignKey("chats.Chat", verbose_name=_("chat"), on_delete=models.CASCADE, related_name="+")
    # No foreign key: the row is written before its message, in the same transaction.
    message_id = models.UUIDField(_("message id"))
    why = models.CharField(_("why"), max_length=8, choices=WakeCause.choices)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("agent wake")
        verbose_name_plural = _("agent wakes")
        constraints = [models.UniqueConstraint(fields=["agent", "message_id"], name="one_wake_per_message")]
        indexes = [models.Index(fields=["agent", "created_at"], name="wakes_of_agent")]

    def __str__(self) -> str:
        return f"{build_display_name(self, 'agent')} · {self.why}"

    def to_row(self) -> WakeRow:
        return WakeRow(
            id=self.id, chat_id=self.chat_id, message_ids=[self.message_id], why=self.why, created_at=self.created_at
        )


class Webhook(Identified):
    """A URL to which the wakes of an agent are posted, signed with a secret."""

    agent = models.ForeignKey(
        "actors.Actor", verbose_name=_("agent"), on_delete=models.CASCADE, related_name="webhooks"
    )
    url = models.CharField(_("url"), max_length=2000)
    encrypted_secret = models.TextField(_("encrypted secret"))
    is_enabled = models.BooleanField(_("is enabled"), default=True)
    # Since when every delivery has failed; null if the last one succeeded.
    failing_since = models.DateTimeField(_("failing since"), null=True, blank=True)
    created_by = models.ForeignKey(
        "actors.Actor", verbose_name=_("created by"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")

    def __str__(self) -> str:
        return self.url

    def set_secret(self, secret: Secret) -> None:
        """Encrypt a new secret for this row, without saving it."""
        self.encrypted_secret = encrypt_for(secret, owner=str(self.id), purpose="webhook")

    def get_secret(self) -> Secret:
        """Return the secret. Raises `DecryptionFailed` if no configured key can decrypt it."""
        return decrypt_for(self.encrypted_secret, owner=str(self.id), purpose="webhook")

    def to_row(self) -> WebhookRow:
        return WebhookRow(
            id=self.id,
            agent_id=self.agent_id,
            url=self.url,
            is_enabled=self.is_enabled,
            failing_since=self.failing_since,
            created_at=self.created_at,
        )


class Delivery(Identified):
    """One event that is posted to a webhook, with its tries. Its id is the `webhook-id` of each try. `is_last_try`: it is not tried
    again if the next try fails, because a person has sent it."""

    webhook = models.ForeignKey(Webhook, verbose_name=_("webhook"), on_delete=models.CASCADE, related_name="deliveries")
    event = models.CharField(_("event"), max_length=32)
    body = models.TextField(_("body"))
    state = models.CharField(_("state"), max_length=12, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    tries = models.PositiveSmallIntegerField(_("tries"), default=0)
    is_last_try = models.BooleanField(_("is last try"), default=False)
    next_at = models.DateTimeField(_("next at"), null=True)
    status = models.PositiveSmallIntegerField(_("status"), null=True)
    error = models.CharField(_("error"), max_length=200, blank=True, default="")
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        constraints = [
            models.CheckConstraint(
                condition=Q(state=DeliveryState.WAITING, next_at__isnull=False)
                | (~Q(state=DeliveryState.WAITING) & Q(next_at=None)),
                name="waiting_delivery_has_its_time",
            )
        ]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(state="waiting"), name="waiting_deliveries"),
            models.Index(fields=["webhook", "-created_at"], name="deliveries_of_webhook"),
        ]

    def __str__(self) -> str:
        return f"{self.event} · {self.state}"

    def to_row(self) -> DeliveryRow:
        return DeliveryRow(
            id=self.id,
            event=self.event,
            state=self.state,
            tries=self.tries,
            status=self.status,
            error=self.error,
            next_at=self.next_at,
            created_at=self.created_at,
        )
