"""Reads of wakes."""

from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery

from actors.models import Actor
from chats.models import ChatActor, Message
from webhooks.models import AgentWake, Webhook
from workspaces.models import Workspace


def list_unread_wakes(agent: Actor) -> QuerySet[AgentWake]:
    """Return the wakes of an agent in its chats whose messages are after its read cursor."""
    seq = Message.objects.filter(pk=OuterRef("message_id")).values("seq")[:1]
    cursor = ChatActor.objects.filter(chat=OuterRef("chat"), actor=agent, ended_at=None).values("last_read_seq")[:1]
    wakes = AgentWake.objects.filter(agent=agent).annotate(seq=Subquery(seq), cursor=Subquery(cursor))
    return wakes.filter(seq__gt=F("cursor"))


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all wakes and webhooks of a deleted workspace, to purge them. A listener of `collect_rows_to_purge`."""
    return [
        AgentWake.objects.filter(chat__workspace=workspace),
        Webhook.objects.filter(agent__workspace=workspace),
    ]
