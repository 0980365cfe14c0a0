"""The prepared queries of this app: those on the path of a message, and of the first page of a socket."""

from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from chats.models import ChatActor
from common.prepared_query import PreparedQuery, is_any_of
from workspaces.models import Membership


def _participants(chat_ids: list[UUID], actor_ids: list[UUID]) -> QuerySet[ChatActor, tuple[UUID, UUID]]:
    memberships = Membership.objects.filter(workspace=OuterRef("chat__workspace"), actor=OuterRef("actor"))
    return ChatActor.objects.filter(
        is_any_of("chat_id", chat_ids),
        is_any_of("actor_id", actor_ids),
        Exists(memberships),
        actor__is_active=True,
        ended_at=None,
    ).values_list("actor_id", "chat_id")


def _participant_ids(chat_id: UUID, actor_ids: list[UUID]) -> QuerySet[ChatActor, tuple[UUID]]:
    return ChatActor.objects.filter(
        is_any_of("actor_id", actor_ids), chat_id=chat_id, ended_at=None, actor__is_active=True
    ).values_list("pk")


PARTICIPANTS = PreparedQuery(_participants, list[UUID], list[UUID])
"""Pairs (actor id, chat id) of the active participants among these actors: who may follow the chats."""

PARTICIPANT_IDS = PreparedQuery(_participant_ids, UUID, list[UUID])
"""The ids of the participants of one chat among these actors: whose unread counts a message changes."""
