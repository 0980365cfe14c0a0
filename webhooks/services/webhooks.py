"""Creating, changing and deleting webhooks."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from common.egress import HostRefused, check_url, list_hosts_without_path
from common.errors import QuotaReached
from common.secrets import Secret
from common.standard_webhooks import create_signing_secret
from events import audit
from webhooks.models import Delivery, Webhook
from webhooks.permissions import get_webhook_for, lock_agent_to_give_access

MAX_WEBHOOKS = 5
"""The maximum of webhooks of one agent."""


def check_webhook_url(url: str) -> None:
    """Raise `HostRefused` unless it is an https URL of a public host, or of a private host that the operator has allowed."""
    target = check_url(url, list_hosts_without_path())
    if target.url.scheme != "https" and not target.trusted:
        raise HostRefused("A webhook needs an https URL.")


@transaction.atomic
def create_webhook(actor: Actor, agent_id: UUID, *, url: str) -> tuple[Webhook, Secret]:
    """Create a webhook of an agent. Return it with its secret, which is not returned again.

    Raises `NotFound`, `Forbidden`, `HostRefused`, `QuotaReached`.
    """
    agent = lock_agent_to_give_access(actor, agent_id)
    check_webhook_url(url)
    if Webhook.objects.filter(agent=agent).count() >= MAX_WEBHOOKS:
        raise QuotaReached(f"An agent has at most {MAX_WEBHOOKS} webhooks.", hints=["Delete one first."])
    webhook = Webhook(agent=agent, url=url, created_by=actor)
    secret = create_signing_secret()
    webhook.set_secret(secret)
    webhook.save(force_insert=True)
    _record(actor, "webhook.created", webhook)
    return webhook, secret


@transaction.atomic
def set_enabled(actor: Actor, agent_id: UUID, webhook_id: UUID, *, is_enabled: bool) -> Webhook:
    """Switch a webhook on or off. Deliveries that wait are not sent while it is off. Raises `NotFound`, `Forbidden`."""
    webhook = get_webhook_for(actor, agent_id, webhook_id, lock=True)
    webhook.is_enabled, webhook.failing_since = is_enabled, None
    webhook.save(update_fields=["is_enabled", "failing_since"])
    _record(actor, "webhook.enabled" if is_enabled else "webhook.disabled", webhook)
    return webhook


@transaction.atomic
def rotate_secret(actor: Actor, agent_id: UUID, webhook_id: UUID) -> tuple[Webhook, Secret]:
    """Replace the secret of a webhook, and return the new one. The old one signs nothing more. Raises `NotFound`, `Forbidden`."""
    webhook = get_webhook_for(actor, agent_id, webhook_id, lock=True)
    secret = create_signing_secret()
    webhook.set_secret(secret)
    webhook.save(update_fields=["encrypted_secret"])
    _record(actor, "webhook.secret_rotated", webhook)
    return webhook, secret


@transaction.atomic
def delete_webhook(actor: Actor, agent_id: UUID, webhook_id: UUID) -> None:
    """Delete a webhook and its deliveries. Raises `NotFound`, `Forbidden`."""
    webhook = get_webhook_for(actor, agent_id, webhook_id, lock=True)
    _record(actor, "webhook.deleted", webhook)
    Delivery.objects.filter(webhook=webhook).delete()
    webhook.delete()


def _record(actor: Actor, action: str, webhook: Webhook) -> None:
    audit.record(
        actor, action, workspace_id=webhook.agent.workspace_id, object_id=webhook.id, agent=str(webhook.agent_id)
    )
