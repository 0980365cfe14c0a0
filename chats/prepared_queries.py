"""The prepared queries of chats: for posting a message, and for the pages of a chat and of the list of chats."""

from functools import cache
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db.models import (
    CharField,
    Exists,
    F,
    Func,
    IntegerField,
    JSONField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    TextField,
    Value,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, Left

from actors.models import Kind
from chats.models import IS_SPOKEN, Chat, ChatActor, Message
from common.prepared_query import PreparedQuery, is_any_of

MAX_PREVIEW_CHARACTERS = 300
"""Characters of the last message of a chat in the list of chats, and of a message in the list of pinned messages."""
MAX_UNREAD_MESSAGES = 100
"""Unread messages are counted up to this number, so that the count costs the same after a long absence."""
MENTION_WINDOW = 500
"""Only messages in this many newest versions of a chat are searched for an unread mention."""

LOCKED_CHAT: PreparedQuery[Chat] = PreparedQuery(
    lambda id: Chat.objects.select_for_update(no_key=True).filter(pk=id), UUID
)


class CountRows(Subquery):
    """The number of rows of a query, counted up to the limit of the query."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) counted)"
    output_field = IntegerField()


def build_unread_annotations(
    spoken: QuerySet[Message], reader: Any, reader_as_json: Any, *, version: str
) -> dict[str, Any]:
    """Return the annotations `unread`, `mentioned` and `last_id` of rows with a `last_read_seq`.

    `spoken` are the messages and files of people and agents in the chat (`IS_SPOKEN`). `reader` is an actor or the expression for
    the id of one, and `reader_as_json` the same id for a condition on JSON. `version` is the column of the chat's version.
    """
    new = spoken.filter(seq__gt=OuterRef("last_read_seq"), deleted_at=None).exclude(author=reader)
    recent = new.filter(seq__gt=OuterRef(version) - MENTION_WINDOW)
    return {
        "unread": CountRows(new.order_by().values("pk")[:MAX_UNREAD_MESSAGES]),
        "mentioned": Exists(recent.filter(payload__mentions__contains=reader_as_json)),
        "last_id": Subquery(spoken.order_by("-seq").values("pk")[:1]),
    }


def _query_participants_with_activity(participant_ids: list[UUID]) -> QuerySet[ChatActor]:
    spoken = Message.objects.filter(IS_SPOKEN, chat=OuterRef("chat_id"))
    reader_as_json = Func(Cast(OuterRef("actor_id"), TextField()), function="to_jsonb", output_field=JSONField())
    participants = ChatActor.objects.filter(is_any_of("pk", participant_ids))
    return participants.annotate(
        **build_unread_annotations(spoken, OuterRef("actor_id"), reader_as_json, version="chat__version")
    )


PARTICIPANTS_WITH_ACTIVITY = PreparedQuery(_query_participants_with_activity, list[UUID])


def shorten_texts(messages: QuerySet[Message], max_characters: int = MAX_PREVIEW_CHARACTERS) -> QuerySet[Message]:
    """Defer `payload` of messages, and annotate it as `preview` with only the first `max_characters` of the text.

    These rows must not be saved.
    """
    beginning = Func(Left(KT("payload__text"), max_characters), function="to_jsonb")
    shortened = Func(
        F("payload"),
        Value(["text"], ArrayField(TextField())),
        beginning,
        function="jsonb_set",
        output_field=JSONField(),
    )
    # `shortened` is null for a payload without a text, such as that of a file.
    preview = Coalesce(shortened, F("payload"))
    return messages.defer("payload").annotate(preview=preview)


MESSAGE_PREVIEWS = PreparedQuery(lambda ids: shorten_texts(Message.objects.filter(is_any_of("pk", ids))), list[UUID])


def query_mentioned(chat_id: UUID, is_mentioned: Q) -> QuerySet[ChatActor, Any]:
    """Return the handle, id and kind of the participants of a chat that fulfil `is_mentioned`."""
    participants = ChatActor.objects.filter(is_mentioned, chat=chat_id, ended_at=None).order_by("joined_at", "pk")
    return participants.values_list("actor__handle", "actor_id", "actor__kind")


def _has_handle(handles: list[str]) -> Q:
    return Q(is_any_of("actor__handle", handles, of=CharField))


MENTIONED: PreparedQuery[ChatActor] = PreparedQuery(
    lambda chat_id, handles: query_mentioned(chat_id, _has_handle(handles)), UUID, list[str]
)
MENTIONED_AND_PEOPLE: PreparedQuery[ChatActor] = PreparedQuery(
    lambda chat_id, handles: query_mentioned(chat_id, _has_handle(handles) | Q(actor__kind=Kind.HUMAN)), UUID, list[str]
)
"""The participants with these handles, and all people."""


def _query_messages_between(chat_id: UUID, first: int, last: int) -> QuerySet[Message]:
    return Message.objects.filter(chat=chat_id, seq__gte=first, seq__lte=last).order_by("seq")


MESSAGES_BETWEEN = PreparedQuery(_query_messages_between, UUID, int, int)


@cache
def get_sizes_before_query(limit: int) -> PreparedQuery[Message]:
    """Return the query for the `seq` and the size of the newest messages before a `seq`; one over `limit` shows that more exist."""

    def query(chat_id: UUID, seq: int) -> QuerySet[Message, Any]:
        older = Message.objects.filter(chat=chat_id, seq__lt=seq).order_by("-seq")
        return older.values_list("seq", "payload_bytes")[: limit + 1]

    return PreparedQuery(query, UUID, int)


@cache
def get_sizes_after_query(limit: int) -> PreparedQuery[Message]:
    """Return the query for the `seq` and the size of the oldest messages after a `seq`; one over `limit` shows that more exist."""

    def query(chat_id: UUID, seq: int) -> QuerySet[Message, Any]:
        newer = Message.objects.filter(chat=chat_id, seq__gt=seq).order_by("seq")
        return newer.values_list("seq", "payload_bytes")[: limit + 1]

    return PreparedQuery(query, UUID, int)
