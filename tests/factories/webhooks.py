"""Webhooks and deliveries."""

from actors.models import Actor
from common.clock import now
from common.secrets import Secret
from events.rows import DeliveryState
from webhooks.models import Delivery, Webhook

SECRET = Secret("whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")


def make_webhook(agent: Actor, url: str = "https://bot.example.com/wake") -> Webhook:
    """Create a webhook of an agent, with the secret `SECRET`."""
    webhook = Webhook(agent=agent, url=url)
    webhook.set_secret(SECRET)
    webhook.save(force_insert=True)
    return webhook


def make_delivery(webhook: Webhook, **fields: object) -> Delivery:
    """Create a delivery that is due."""
    values = {"event": "agent.woken", "body": "{}", "state": DeliveryState.WAITING, "next_at": now()} | fields
    return Delivery.objects.create(webhook=webhook, **values)
