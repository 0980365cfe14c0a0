"""Posting deliveries to webhooks: signed by Standard Webhooks, tried again with growing waits, and given up after the last try."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from urllib.parse import urlsplit
from uuid import UUID

import aiohttp
from celery import current_app
from django.conf import settings
from django.db import DatabaseError, InterfaceError, transaction
from django.db.models import F, Min, QuerySet

from actors.models import Actor
from common.clock import now
from common.db_executor import DatabaseExecutor
from common.egress import check_url, get_session_for, list_hosts_without_path
from common.errors import AppError, NotFound
from common.fetching import build_failure
from common.ids import get_lowest_id_at
from common.processes import exit_on_memory_error
from common.secrets import DecryptionFailed, Secret
from common.sql_constant import SqlConstant
from common.standard_webhooks import build_signature_headers
from common.tenants import set_current_tenant
from common.writing import delete_in_batches
from events import audit
from events.rows import DeliveryState
from webhooks.hooks import webhook_disabled
from webhooks.models import AgentWake, Delivery, Webhook
from webhooks.permissions import get_webhook_for
from webhooks.services.listeners import build_body

logger = logging.getLogger(__name__)

WAITS = [timedelta(seconds=30), timedelta(minutes=5), timedelta(minutes=15), timedelta(minutes=40)]
"""The waits before the second, third, fourth and fifth try of a delivery: five tries in about an hour."""
TIMEOUT_SECONDS = 15.0
LEASE = timedelta(minutes=2)
"""How long a try may take before another process may try again."""
MAX_AT_ONCE, MAX_OF_WORKSPACE, MAX_OF_PERSON = 200, 4, 25
"""The most webhooks, those of a workspace, and those that one person made, to which one process posts at the same time."""
TURN_SECONDS = 15.0
"""After this time a webhook with many deliveries makes way for the others of its workspace."""
WAITING = SqlConstant(DeliveryState.WAITING)
DISABLED_AFTER = timedelta(days=3)
"""A webhook whose deliveries have all failed for so long is switched off."""


_db = DatabaseExecutor(1, "webhooks", on_memory_error=exit_on_memory_error)
_posting: dict[UUID, "DueWebhook"] = {}
"""The webhooks to which this process posts now, by id."""


class DueWebhook(NamedTuple):
    """A webhook with deliveries that are due, its workspace, and the person who made it."""

    id: UUID
    workspace_id: UUID
    person_id: UUID | None


async def deliver_due() -> None:
    """Post the deliveries that are due, on the event loop of a worker: one at a time for each webhook, and to at most
    `MAX_OF_WORKSPACE` webhooks of a workspace and `MAX_OF_PERSON` of a person. Several calls and several processes may do so at
    once; each claims its own."""
    while chosen := _reserve_webhooks(await _db(_list_due_webhooks, list(_posting))):
        await asyncio.gather(*map(_deliver_to, chosen))


def _reserve_webhooks(due: Sequence[DueWebhook]) -> list[DueWebhook]:
    """Reserve the webhooks to which this process posts now, and return them. It has no `await`, so no other call
    interferes."""
    of_workspaces = Counter(webhook.workspace_id for webhook in _posting.values())
    of_people = Counter(webhook.person_id for webhook in _posting.values())
    chosen = []
    for webhook in due:
        is_full = (
            len(_posting) >= MAX_AT_ONCE
            or of_workspaces[webhook.workspace_id] >= MAX_OF_WORKSPACE
            or (webhook.person_id is not None and of_people[webhook.person_id] >= MAX_OF_PERSON)
        )
        if webhook.id not in _posting and not is_full:
            of_workspaces[webhook.workspace_id] += 1
            of_people[webhook.person_id] += 1
            _posting[webhook.id] = webhook
            chosen.append(webhook)
    return chosen


def _list_due_webhooks(excluded: Sequence[UUID]) -> list[DueWebhook]:
    """Return the webhooks that have deliveries that are due: first those that have not failed."""
    due = _filter_enabled().filter(deliveries__state=WAITING, deliveries__next_at__lte=now())
    rows = due.exclude(pk__in=excluded).annotate(due_at=Min("deliveries__next_at"))
    rows = rows.order_by(F("failing_since").desc(nulls_first=True), "due_at")
    return [DueWebhook(*row) for row in rows.values_list("pk", "agent__workspace_id", "created_by_id")]


async def _deliver_to(webhook: DueWebhook) -> None:
    """Post what is due of one webhook, one delivery after the other, for about `TURN_SECONDS`."""
    ends_at = time.monotonic() + TURN_SECONDS
    try:
        while time.monotonic() < ends_at and (delivery_id := await _db(_claim_next, webhook.id)):
            await deliver(delivery_id)
    except (DatabaseError, InterfaceError) as error:
        logger.warning("The outcome of a delivery to webhook %s could not be stored: %s", webhook.id, error)
    finally:
        del _posting[webhook.id]


def _claim_next(webhook_id: UUID) -> UUID | None:
    """Claim the delivery of a webhook that has been due for the longest time."""
    due = _filter_due().filter(webhook__in=_filter_enabled().filter(pk=webhook_id))
    for id in due.order_by("next_at").values_list("pk", flat=True)[:10]:
        if _filter_due().filter(pk=id).update(next_at=now() + LEASE):
            return id
    return None


def _filter_enabled() -> QuerySet[Webhook]:
    """Return the webhooks that are on, without those of deleted workspaces."""
    return Webhook.objects.filter(is_enabled=True, agent__workspace__deleted_at=None)


def _filter_due() -> QuerySet[Delivery]:
    return Delivery.objects.filter(state=WAITING, next_at__lte=now())


async def deliver(delivery_id: UUID) -> None:
    """Post a delivery once, and store the outcome. The receiver may get a delivery twice, with the same `webhook-id`."""
    delivery = await _db(Delivery.objects.select_related("webhook__agent").filter(pk=delivery_id).first)
    if delivery is None:
        return
    status, error = None, ""
    try:
        with set_current_tenant(delivery.webhook.agent.workspace_id, delivery.webhook.created_by_id):
            status = await _post(delivery, delivery.webhook.get_secret())
        if not 200 <= status < 300:
            error = "The server redirects; that is not followed." if 300 <= status < 400 else f"HTTP {status}"
    except DecryptionFailed:
        error = "The secret cannot be read. Rotate it."
    except aiohttp.ClientError as failure:
        error = build_failure(failure).message
    except TimeoutError:
        error = f"The server did not answer in time ({TIMEOUT_SECONDS:g} s)."
    except AppError as refusal:
        error = refusal.message
    except MemoryError:
        raise
    except Exception:
        logger.exception("Delivery %s could not be posted.", delivery_id)
        error = "It could not be posted."
    await _db(_store_outcome, delivery, status, error)


async def _post(delivery: Delivery, secret: Secret) -> int:
    """Post the body with its signature, and return the status. Raises `HostRefused`, `TimeoutError`, `aiohttp.ClientError`."""
    target = check_url(delivery.webhook.url, list_hosts_without_path())
    body = delivery.body.encode()
    signature = build_signature_headers(secret, id=str(delivery.id), at=int(time.time()), body=body)
    headers = {"Content-Type": "application/json"} | signature
    async with asyncio.timeout(TIMEOUT_SECONDS):
        session = get_session_for(target)
        async with session.post(target.url, data=body, headers=headers, allow_redirects=False) as response:
            return response.status


@transaction.atomic
def _store_outcome(delivery: Delivery, status: int | None, error: str) -> None:
    at = now()
    webhooks = Webhook.objects.select_for_update(of=("self",), no_key=True).select_related("agent")
    webhook = webhooks.filter(pk=delivery.webhook_id).first()
    if webhook is None:
        return
    delivery.tries, delivery.status, delivery.error, delivery.next_at = delivery.tries + 1, status, error[:200], None
    if not error:
        delivery.state, delivery.ended_at, webhook.failing_since = DeliveryState.DELIVERED, at, None
    else:
        webhook.failing_since = webhook.failing_since or at
        if delivery.tries <= len(WAITS) and not delivery.is_last_try:
            delivery.state, delivery.next_at = DeliveryState.WAITING, at + WAITS[delivery.tries - 1]
        else:
            delivery.state, delivery.ended_at = DeliveryState.FAILED, at
        if webhook.is_enabled and at - webhook.failing_since >= DISABLED_AFTER:
            webhook.is_enabled = False
            audit.record(
                None,
                "webhook.disabled",
                workspace_id=webhook.agent.workspace_id,
                object_id=webhook.id,
                agent=str(webhook.agent_id),
            )
            webhook_disabled.call(webhook.agent, urlsplit(webhook.url).netloc)
    delivery.save(update_fields=["tries", "status", "error", "next_at", "state", "ended_at"])
    webhook.save(update_fields=["failing_since", "is_enabled"])


def delete_old_wakes_and_deliveries() -> None:
    """Delete the wakes and deliveries that are older than `WAKE_DAYS`, also those that no program has read or received. Called by
    the sweeper."""
    # Ids are UUIDv7, so they are ordered by time.
    before = get_lowest_id_at(now() - timedelta(days=settings.WAKE_DAYS))
    delete_in_batches(Delivery.objects.filter(pk__lt=before))
    delete_in_batches(AgentWake.objects.filter(pk__lt=before))


@transaction.atomic
def send_test(actor: Actor, agent_id: UUID, webhook_id: UUID) -> Delivery:
    """Send an event `test` to a webhook, also to one that is switched off. Raises `NotFound`, `Forbidden`."""
    webhook = get_webhook_for(actor, agent_id, webhook_id)
    body = build_body("test", {"agent_id": str(webhook.agent_id)})
    # It is tried once, because the person waits for the outcome. `LEASE`: `deliver_due` does not post it meanwhile.
    delivery = Delivery.objects.create(
        webhook=webhook, event="test", body=body, next_at=now() + LEASE, is_last_try=True
    )
    return _send(delivery)


@transaction.atomic
def send_again(actor: Actor, agent_id: UUID, webhook_id: UUID, delivery_id: UUID) -> Delivery:
    """Send a delivery again, once, with the same `webhook-id` and body. Raises `NotFound`, `Forbidden`."""
    webhook = get_webhook_for(actor, agent_id, webhook_id)
    delivery = Delivery.objects.select_for_update().filter(pk=delivery_id, webhook=webhook).first()
    if delivery is None:
        raise NotFound("There is no such delivery.")
    delivery.state, delivery.is_last_try = DeliveryState.WAITING, True
    delivery.next_at, delivery.ended_at = now() + LEASE, None
    delivery.save(update_fields=["state", "is_last_try", "next_at", "ended_at"])
    return _send(delivery)


def _send(delivery: Delivery) -> Delivery:
    id = str(delivery.id)
    transaction.on_commit(lambda: current_app.send_task("webhooks.tasks.deliver", [id]), robust=True)
    return delivery
