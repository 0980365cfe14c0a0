"""Listeners: they store the wakes of agents whose program runs outside, and end access that a former editor has given."""

import json
from collections.abc import Sequence

from celery import current_app
from django.db import transaction
from django.db.models import QuerySet

from actors import services as actors
from actors.models import Actor
from chats.hooks import MessageChange
from chats.models import Chat, ChatActor, Message
from common.clock import now
from events import audit
from events.rows import WakeCause
from webhooks.models import AgentWake, Delivery, Webhook
from workspaces.models import Workspace

WOKEN = "agent.woken"
"""The event of a wake."""
EDITED = "message.edited"
DELETED = "message.deleted"


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


def store_wakes_of_added_agents(chat: Chat, actors: Sequence[Actor], added_by: Actor) -> None:
    """Store a wake for each of these agents whose program runs outside, so that the program learns of its new chat. A listener of
    `participants_added`. Agents without an outside program are not woken."""
    for agent in actors:
        if agent.runs_outside and agent.id != added_by.id:
            joined = Message.objects.filter(chat=chat, type="MEMBER_JOINED", payload__target_id=str(agent.id))
            if message := joined.order_by("-seq").first():
                store_wakes(chat, message, [(agent, WakeCause.ADDED)])


def post_message_change(change: MessageChange) -> None:
    """Store a delivery for each webhook of the agents in the chat whose program runs outside, because the program may have read
    the message. Delete the wakes by a message that is deleted. A listener of `message_changed`."""
    message = change.message
    if change.is_deleted:
        AgentWake.objects.filter(message_id=message.id).delete()
    agents = ChatActor.objects.filter(chat=change.chat, ended_at=None, actor__runs_outside=True).values("actor")
    webhooks = list(Webhook.objects.filter(agent__in=agents, is_enabled=True).order_by("pk"))
    event = DELETED if change.is_deleted else EDITED
    data: dict[str, object] = {"chat_id": str(change.chat.id), "message_id": str(message.id)}
    deliveries = [
        Delivery(
            webhook=one, event=event, body=build_body(event, data | {"agent_id": str(one.agent_id)}), next_at=now()
        )
        for one in webhooks
    ]
    if deliveries:
        Delivery.objects.bulk_create(deliveries)
        transaction.on_commit(lambda: current_app.send_task("webhooks.tasks.deliver_due"), robust=True)


def end_access_of_maker(workspace: Workspace, maker: Actor, by: Actor) -> None:
    """Revoke the tokens, and switch off the webhooks, that a person made who is no editor of the workspace any more: that person
    knows the texts of the tokens, and may own the servers. A listener of `rights_reduced` and `member_left`."""
    actors.revoke_tokens_of_maker(maker, workspace.id, by=by)
    _switch_off(Webhook.objects.filter(created_by=maker, agent__workspace=workspace), by)


def switch_off_webhooks_of_closed_account(person: Actor, by: Actor) -> None:
    """Switch off the webhooks that a person made, because they may own the servers. A listener of `account_closed`."""
    _switch_off(Webhook.objects.filter(created_by=person), by)


def _switch_off(webhooks: QuerySet[Webhook], by: Actor) -> None:
    for webhook in webhooks.filter(is_enabled=True).select_related("agent"):
        Webhook.objects.filter(pk=webhook.pk).update(is_enabled=False)
        audit.record(
            by,
            "webhook.disabled",
            workspace_id=webhook.agent.workspace_id,
            object_id=webhook.id,
            agent=str(webhook.agent_id),
        )


def build_delivery(webhook: Webhook, wake: AgentWake) -> Delivery:
    """Return the unsaved delivery of a wake, which is due at once. Its body is in the format of Standard Webhooks."""
    data = wake.to_row().model_dump(mode="json", include={"id", "chat_id", "message_ids", "why"})
    data["agent_id"] = str(wake.agent_id)
    return Delivery(webhook=webhook, event=WOKEN, body=build_body(WOKEN, data), next_at=now())


def build_body(event: str, data: dict[str, object]) -> str:
    """Return the JSON body of an event."""
    return json.dumps({"type": event, "timestamp": now().isoformat(), "data": data}, separators=(",", ":"))
