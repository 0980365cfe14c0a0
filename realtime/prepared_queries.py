"""The prepared queries of sockets, for posted messages and for subscriptions."""

from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from actors.models import AgentStatus, Kind
from chats.models import ChatActor
from common.prepared_query import PreparedQuery, is_any_of
from workspaces.models import Membership


def _query_participants(chat_ids: list[UUID], actor_ids: list[UUID]) -> QuerySet[ChatActor, tuple[UUID, UUID]]:
    memberships = Membership.objects.filter(workspace=OuterRef("chat__workspace"), actor=OuterRef("actor"))
    # An agent subscribes if an outside program uses its API token. A public agent, which has no workspace, has no token.
    agent = Q(actor__kind=Kind.AGENT, actor__status=AgentStatus.READY, actor__workspace=F("chat__workspace"))
    return ChatActor.objects.filter(
        Q(Exists(memberships), actor__is_active=True) | agent,
        is_any_of("chat_id", chat_ids),
        is_any_of("actor_id", actor_ids),
        ended_at=None,
    ).values_list("actor_id", "chat_id")


def _query_participant_ids(chat_id: UUID, actor_ids: list[UUID]) -> QuerySet[ChatActor, tuple[UUID]]:
    return ChatActor.objects.filter(
        Q(actor__is_active=True) | Q(actor__kind=Kind.AGENT),
        is_any_of("actor_id", actor_ids),
        chat_id=chat_id,
        ended_at=None,
    ).values_list("pk")


PARTICIPANTS = PreparedQuery(_query_participants, list[UUID], list[UUID])
"""Pairs (actor id, chat id) of the active participants among these actors, who may subscribe to the chats."""

PARTICIPANT_IDS = PreparedQuery(_query_participant_ids, UUID, list[UUID])
"""The `ChatActor` ids of these actors in one chat, whose unread counts change with a message."""
