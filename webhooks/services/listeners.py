"""The listener that stores the wakes of agents whose program runs outside."""

import json
from collections.abc import Sequence

from celery import current_app
from django.db import transaction

from actors.models import Actor
from chats.models import Chat, Message
from common.clock import now
from webhooks.models import AgentWake, Delivery, Webhook

WOKEN = "agent.woken"
"""The event of a wake."""


def store_wakes(chat: Chat, message: Message, woken: Sequence[tuple[Actor, str]]) -> None:
    """Store a wake for each of these agents, and a delivery for each of their webhooks, unless the message has woken them before.
    A listener of `agents_woken_outside`."""
    stored = set(AgentWake.objects.filter(message_id=message.id).values_list("agent_id", flat=True))
    wakes = [
        AgentWake(agent=agent, chat=chat, message_id=message.id, why=why)
        for agent, why in woken
        if agent.id not in stored
    ]
    AgentWake.objects.bulk_create(wakes)
    by_agent = {wake.agent_id: wake for wake in wakes}
    webhooks = Webhook.objects.filter(agent__in=by_agent, is_enabled=True)
    deliveries = [build_delivery(webhook, by_agent[webhook.agent_id]) for webhook in webhooks]
    if deliveries:
        Delivery.objects.bulk_create(deliveries)
        transaction.on_commit(lambda: current_app.send_task("webhooks.tasks.deliver_due"), robust=True)


def build_delivery(webhook: Webhook, wake: AgentWake) -> Delivery:
    """Return the unsaved delivery of a wake, which is due at once. Its body is in the format of Standard Webhooks."""
    data = wake.to_row().model_dump(mode="json", include={"id", "chat_id", "message_ids", "why"})
    data["agent_id"] = str(wake.agent_id)
    return Delivery(webhook=webhook, event=WOKEN, body=build_body(WOKEN, data), next_at=now())


def build_body(event: str, data: dict[str, object]) -> str:
    """Return the JSON body of an event."""
    return json.dumps({"type": event, "timestamp": now().isoformat(), "data": data}, separators=(",", ":"))
