"""Posting deliveries to webhooks: signed by Standard Webhooks, tried again with growing waits, and given up after the last try."""

import asyncio
import base64
import hashlib
import hmac
from datetime import datetime, timedelta
from uuid import UUID

import aiohttp
from celery import current_app
from django.conf import settings
from django.db import transaction

from actors.models import Actor
from common.clock import now
from common.egress import check_url, close_sessions, get_session_for, list_named_hosts
from common.errors import AppError, NotFound
from common.fetching import build_failure
from common.ids import get_lowest_id_at
from common.secrets import Secret, WrongOwner
from common.writing import delete_in_batches
from events import audit
from events.rows import DeliveryState
from webhooks.hooks import webhook_disabled
from webhooks.models import AgentWake, Delivery, Webhook
from webhooks.permissions import get_webhook_for
from webhooks.services.listeners import build_body
from webhooks.services.webhooks import SECRET_PREFIX

WAITS = [timedelta(seconds=30), timedelta(minutes=5), timedelta(minutes=15), timedelta(minutes=40)]
"""The waits after the failed tries of a delivery. With the first one there are five tries in about an hour."""
TIMEOUT_SECONDS = 15.0
LEASE = timedelta(minutes=2)
"""How long a try may take before another process may try again."""
MAX_DUE = 20
"""Deliveries that one call of `deliver_due` posts."""
DISABLED_AFTER = timedelta(days=3)
"""A webhook whose deliveries have all failed for so long is switched off."""


def deliver_due() -> int:
    """Post the deliveries that are due, and return how many. Several processes may do so at once: each claims its own."""
    with transaction.atomic():
        due = Delivery.objects.filter(state=DeliveryState.WAITING, next_at__lte=now(), webhook__is_enabled=True)
        ids = list(
            due.order_by("next_at")
            .select_for_update(skip_locked=True, of=("self",))
            .values_list("pk", flat=True)[:MAX_DUE]
        )
        Delivery.objects.filter(pk__in=ids).update(next_at=now() + LEASE)
    for id in ids:
        deliver(id)
    return len(ids)


def deliver(delivery_id: UUID) -> None:
    """Post a delivery once, and store the outcome. The receiver may get a delivery twice, with the same `webhook-id`."""
    delivery = Delivery.objects.select_related("webhook__agent").filter(pk=delivery_id).first()
    if delivery is None:
        return
    status, error = None, ""
    try:
        status = asyncio.run(_post(delivery, delivery.webhook.get_secret()))
        if not 200 <= status < 300:
            error = "The server redirects; that is not followed." if 300 <= status < 400 else f"HTTP {status}"
    except WrongOwner:
        error = "The secret cannot be read. Rotate it."
    except aiohttp.ClientError as failure:
        error = build_failure(failure).message
    except TimeoutError:
        error = f"The server did not answer in time ({TIMEOUT_SECONDS:g} s)."
    except AppError as refusal:
        error = refusal.message
    _store_outcome(delivery, status, error)


async def _post(delivery: Delivery, secret: Secret) -> int:
    """Post the body with its signature, and return the status. Raises `HostRefused`, `TimeoutError`, `aiohttp.ClientError`."""
    target = check_url(delivery.webhook.url, list_named_hosts())
    body = delivery.body.encode()
    headers = {"Content-Type": "application/json"} | build_signature(secret, str(delivery.id), now(), body)
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            session = get_session_for(target)
            async with session.post(target.url, data=body, headers=headers, allow_redirects=False) as response:
                return response.status
    finally:
        await close_sessions()


def build_signature(secret: Secret, id: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the headers that Standard Webhooks signs a body with."""
    timestamp = str(int(at.timestamp()))
    key = base64.b64decode(secret.reveal().removeprefix(SECRET_PREFIX))
    digest = hmac.new(key, f"{id}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(digest).decode()}"
    return {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature}


@transaction.atomic
def _store_outcome(delivery: Delivery, status: int | None, error: str) -> None:
    at = now()
    webhook = Webhook.objects.select_for_update().select_related("agent").filter(pk=delivery.webhook_id).first()
    if webhook is None:
        return
    delivery.tries, delivery.status, delivery.error, delivery.next_at = delivery.tries + 1, status, error[:200], None
    if not error:
        delivery.state, delivery.ended_at, webhook.failing_since = DeliveryState.DELIVERED, at, None
    else:
        webhook.failing_since = webhook.failing_since or at
        if delivery.tries <= len(WAITS):
            delivery.state, delivery.next_at = DeliveryState.WAITING, at + WAITS[delivery.tries - 1]
        else:
            delivery.state, delivery.ended_at = DeliveryState.FAILED, at
        if webhook.is_enabled and at - webhook.failing_since >= DISABLED_AFTER:
            webhook.is_enabled = False
            audit.record(
                None, "webhook.disabled", workspace_id=webhook.agent.workspace_id, object_id=webhook.id,
                agent=str(webhook.agent_id),
            )  # fmt: skip
            webhook_disabled.call(webhook.agent, webhook.url.split("/")[2])
    delivery.save(update_fields=["tries", "status", "error", "next_at", "state", "ended_at"])
    webhook.save(update_fields=["failing_since", "is_enabled"])


def delete_old_wakes() -> None:
    """Delete the wakes and deliveries that are older than `WAKE_DAYS`, also those that no program has read or received. Called by
    the sweeper."""
    before = get_lowest_id_at(now() - timedelta(days=settings.WAKE_DAYS))
    delete_in_batches(Delivery.objects.filter(pk__lt=before))
    delete_in_batches(AgentWake.objects.filter(pk__lt=before))


@transaction.atomic
def send_test(actor: Actor, agent_id: UUID, webhook_id: UUID) -> Delivery:
    """Send an event `test` to a webhook, also to one that is switched off. Raises `NotFound`, `Forbidden`."""
    webhook = get_webhook_for(actor, agent_id, webhook_id)
    body = build_body("test", {"agent_id": str(webhook.agent_id)})
    # Tried once: the person waits for the outcome.
    delivery = Delivery.objects.create(
        webhook=webhook, event="test", body=body, next_at=now() + LEASE, tries=len(WAITS)
    )
    return _send(delivery)


@transaction.atomic
def send_again(actor: Actor, agent_id: UUID, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Send a delivery again, with the same `webhook-id` and body. Raises `NotFound`, `Forbidden`."""
    webhook = get_webhook_for(actor, agent_id, webhook_id)
    delivery = Delivery.objects.select_for_update().filter(pk=delivery_id, webhook=webhook).first()
    if delivery is None:
        raise NotFound("There is no such delivery.")
    delivery.state, delivery.tries, delivery.next_at, delivery.ended_at = (
        DeliveryState.WAITING,
        len(WAITS),
        now() + LEASE,
        None,
    )
    delivery.save(update_fields=["state", "tries", "next_at", "ended_at"])
    return _send(delivery)


def _send(delivery: Delivery) -> Delivery:
    id = str(delivery.id)
    transaction.on_commit(lambda: current_app.send_task("webhooks.tasks.deliver", [id]), robust=True)
    return delivery
