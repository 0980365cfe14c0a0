"""Reads for the list of chats and for pages of messages."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import accumulate
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import OuterRef, Q, QuerySet, Subquery, UUIDField, Value
from django.db.models.functions import Coalesce

from actors.models import Actor, Kind
from chats.models import IS_SPOKEN, SPOKEN_TYPES, Chat, ChatActor, Message, MessageRevision, Thumb
from chats.permissions import (
    build_is_read_by_all,
    chats_visible_to,
    chats_with_rights,
    find_readers,
    list_readable_chats,
)
from chats.prepared_queries import (
    MESSAGE_PREVIEWS,
    MESSAGES_BETWEEN,
    PARTICIPANTS_WITH_ACTIVITY,
    build_unread_annotations,
    get_sizes_after_query,
    get_sizes_before_query,
    shorten_texts,
)
from chats.search import build_excerpt, build_score, find_marks, has_all_terms, split_sequences, split_terms
from common.errors import NotFound
from common.handles import normalize_handle
from common.prepared_query import is_any_of
from common.sql_constant import SqlConstant
from events.payloads import FoundMessage
from events.rows import ActorRow, ChatActivityRow, ChatRow, ListedChatRow, MessageRow
from workspaces.models import Workspace

PAGE_BYTES = 512 * 1024
"""The most bytes of a page of messages. The first message that is read is not counted, so that a page has at least one message."""
MAX_OTHER_ANSWERS = 200
"""The most messages of other answers that are read with a page."""
MAX_NAMES = 5
"""Names that stand for the title of a chat without one."""
EXCERPT_CHARACTERS = 200
"""Characters before and after the first word of the query that an excerpt for a model has."""
SHORT_BEFORE, SHORT_AFTER = 24, 240
"""Characters before and after the first word of the query that an excerpt for people has: a line of the palette shows the word."""
MAX_RANKED = 500
"""The newest messages of a search among which the best are chosen."""
END = 2**63 - 1
"""The largest possible `seq`."""


def list_chats_with_activity(actor: Actor, workspace_id: UUID) -> Any:
    """Return the actor's chats in a workspace, annotated for `build_listed_chats`, and with the time of the last message or
    file of a person or agent as `spoken_at`."""
    return _annotate_activity(chats_visible_to(actor).filter(workspace_id=workspace_id), actor)


def list_chats_between_agents(reader: Actor, workspace_id: UUID) -> Any:
    """Return the chats between agents of a workspace that the reader may read, annotated as by `list_chats_with_activity`."""
    found = list_readable_chats(reader).filter(workspace_id=workspace_id, is_between_agents=True)
    return _annotate_activity(found, reader)


def get_listed_chat(*, actor: Actor, chat_id: UUID) -> ListedChatRow | None:
    """Return the row of a chat for the list of chats, or null if the actor may not see it."""
    found = list_readable_chats(actor).filter(pk=chat_id)
    return next(iter(build_listed_chats(_annotate_activity(found, actor))), None)


def _annotate_activity(chats: QuerySet[Chat], actor: Actor) -> Any:
    """Annotate chats with the actor's read cursor, their unread messages, and the last message or file of a person or agent."""
    spoken = Message.objects.filter(IS_SPOKEN, chat=OuterRef("pk"))
    own = ChatActor.objects.filter(chat=OuterRef("pk"), actor=actor)
    return chats.annotate(
        last_read_seq=Coalesce(Subquery(own.values("last_read_seq")[:1]), 0),
        hidden_seq=Subquery(own.values("hidden_seq")[:1]),
        is_muted=Coalesce(Subquery(own.values("is_muted")[:1]), False),
        muted_until=Subquery(own.values("muted_until")[:1]),
        is_archived=Coalesce(Subquery(own.values("is_archived")[:1]), False),
        reader_id=Value(actor.id, UUIDField()),
    ).annotate(
        **build_unread_annotations(spoken, actor, [str(actor.id)], version="version"),
        spoken_at=Coalesce(Subquery(spoken.order_by("-seq").values("created_at")[:1]), "created_at"),
    )


def list_activity(participant_ids: Collection[UUID]) -> list[tuple[UUID, ChatActivityRow]]:
    """Return the actor id and the unread count and last message of the chat for each of these `ChatActor` ids.

    Two queries for any number of ids.
    """
    if not participant_ids:
        return []
    found: list[Any] = PARTICIPANTS_WITH_ACTIVITY.all(list(participant_ids))
    previews = _get_previews({participant.last_id for participant in found if participant.last_id})
    last = {id: message.to_row() for id, message in previews.items()}
    return [
        (
            participant.actor_id,
            ChatActivityRow(
                chat_id=participant.chat_id,
                unread=participant.unread,
                mentioned=participant.mentioned,
                last_read_seq=participant.last_read_seq,
                last_message=last.get(participant.last_id),
            ),
        )
        for participant in found
    ]


def build_listed_chats(chats: Iterable[Any]) -> list[ListedChatRow]:
    """Return the rows for the list of chats, of chats from `list_chats_with_activity`. Three queries for any number of chats."""
    found = list(chats)
    participants = _list_participants(found)
    last = _get_previews([chat.last_id for chat in found if chat.last_id])
    return [
        ListedChatRow(
            chat=_build_titled_row(chat, participants.get(chat.pk, [])),
            participants=participants.get(chat.pk, []),
            unread=chat.unread,
            mentioned=chat.mentioned,
            last_read_seq=chat.last_read_seq,
            last_message=last[chat.last_id].to_row() if chat.last_id in last else None,
            hidden_seq=chat.hidden_seq,
            is_muted=chat.is_muted,
            muted_until=chat.muted_until,
            is_archived=chat.is_archived,
        )
        for chat in found
    ]


def _build_titled_row(chat: Any, participants: list[ActorRow]) -> ChatRow:
    """Return the row of a chat. One without a title, such as a direct chat, has the names of the others as its title."""
    row: ChatRow = chat.to_row()
    return row if row.title else row.model_copy(update={"title": _build_title(participants, chat.reader_id)})


def _build_title(participants: list[ActorRow], reader_id: UUID) -> str:
    """Return what a reader sees as the title of a chat without one: the names of the others, or that of the only one in it."""
    names = [actor.name for actor in participants if actor.id != reader_id] or [actor.name for actor in participants]
    return " · ".join(names[:MAX_NAMES])


def load_titles(reader: Actor, chats: Iterable[Chat]) -> None:
    """Set what a reader sees as the titles of these chats (`shown_title`), as in the list of chats: a chat without a title is named
    after the others in it. Two queries for any number of chats; none if all have a title."""
    untitled = [chat for chat in chats if not chat.title]
    participants = _list_participants(untitled) if untitled else {}
    for chat in untitled:
        chat.names = _build_title(participants.get(chat.pk, []), reader.id)


def _get_previews(ids: Collection[UUID]) -> dict[UUID, Message]:
    """Return the messages by id, each with only the first `MAX_PREVIEW_CHARACTERS` of its text."""
    found: list[Any] = MESSAGE_PREVIEWS.all(list(ids)) if ids else []
    for message in found:
        message.payload = message.preview
    return {message.pk: message for message in found}


def _list_participants(chats: Iterable[Chat]) -> dict[UUID, list[ActorRow]]:
    """Return the participants of each chat, in the order in which they joined. Of a direct chat, also those who have left it.

    An actor may be in many of the chats; their row is read once. Two queries.
    """
    is_listed = Q(ended_at=None) | Q(chat__pair_key__isnull=False)
    participants = ChatActor.objects.filter(is_listed, chat__in=[chat.pk for chat in chats])
    pairs = list(participants.order_by("joined_at", "pk").values_list("chat_id", "actor_id"))
    actors = Actor.objects.in_bulk({actor_id for _, actor_id in pairs})
    rows = {id: actor.to_row() for id, actor in actors.items()}
    rows_by_chat: dict[UUID, list[ActorRow]] = {}
    for chat_id, actor_id in pairs:
        rows_by_chat.setdefault(chat_id, []).append(rows[actor_id])
    return rows_by_chat


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Consecutive messages, oldest first. `before` is the cursor of the older page and `after` of the newer one; null if there
    is no such page."""

    messages: list[Message]
    before: int | None
    after: int | None


def list_messages(
    *,
    chat: Chat,
    before: int | None = None,
    after: int | None = None,
    around: UUID | None = None,
    limit: int,
) -> MessagePage:
    """Return a page of the chat's log with at most `limit` messages, within `PAGE_BYTES`.

    The page ends before the seq `before`, begins after the seq `after`, or has the message `around` in its middle; without
    any of them it is the newest page. Raises `NotFound` when the chat has no such message.
    """
    if around is not None:
        seq = Message.objects.filter(chat=chat, pk=around).values_list("seq", flat=True).first()
        if seq is None:
            raise NotFound("There is no such message in this chat.")
        # Each half has at most half of `PAGE_BYTES`, and may be empty.
        newer, is_last = _list_seqs_after(chat, seq, (limit - 1) // 2, PAGE_BYTES // 2, may_exceed=False)
        newest_first, is_first = _list_seqs_before(chat, seq, limit - 1 - len(newer), PAGE_BYTES // 2, may_exceed=False)
        return _build_page(chat, [*newest_first[::-1], seq, *newer], has_older=not is_first, has_newer=not is_last)
    # A cursor comes from another page, so there are messages on its other side.
    if after is not None:
        newer, is_last = _list_seqs_after(chat, after, limit, PAGE_BYTES)
        return _build_page(chat, newer, has_older=True, has_newer=not is_last)
    newest_first, is_first = _list_seqs_before(chat, END if before is None else before, limit, PAGE_BYTES)
    return _build_page(chat, newest_first[::-1], has_older=not is_first, has_newer=before is not None)


def _build_page(chat: Chat, seqs: list[int], *, has_older: bool, has_newer: bool) -> MessagePage:
    if not seqs:
        return MessagePage(messages=[], before=None, after=None)
    return MessagePage(
        messages=MESSAGES_BETWEEN.all(chat.pk, seqs[0], seqs[-1]),
        before=seqs[0] if has_older else None,
        after=seqs[-1] if has_newer else None,
    )


def _list_seqs_before(
    chat: Chat, seq: int, limit: int, max_bytes: int, *, may_exceed: bool = True
) -> tuple[list[int], bool]:
    """Return the `seq` of the messages before this one, newest first, and whether these are all."""
    rows = get_sizes_before_query(limit).rows(chat.pk, seq)
    return _limit_seqs(rows, limit, max_bytes, may_exceed=may_exceed)


def _list_seqs_after(
    chat: Chat, seq: int, limit: int, max_bytes: int, *, may_exceed: bool = True
) -> tuple[list[int], bool]:
    """Return the `seq` of the messages after this one, oldest first, and whether these are all."""
    rows = get_sizes_after_query(limit).rows(chat.pk, seq)
    return _limit_seqs(rows, limit, max_bytes, may_exceed=may_exceed)


def _limit_seqs(
    rows: Sequence[Sequence[int]], limit: int, max_bytes: int, *, may_exceed: bool
) -> tuple[list[int], bool]:
    """Return the `seq` of the first of these rows `(seq, bytes)`, and whether these are all rows.

    At most `limit` rows are returned, and their bytes add up to at most `max_bytes`. `may_exceed`: the first row is returned
    however long it is, and its bytes are not counted.
    """
    uncounted = 1 if may_exceed else 0
    sums = accumulate(size for _, size in rows[uncounted:limit])
    count = min(limit, uncounted + sum(total <= max_bytes for total in sums))
    return [seq for seq, _ in rows[:count]], len(rows) <= count


def list_other_answers(chat: Chat, page: MessagePage) -> list[Message]:
    """Return the messages after a page that belong to other answers in the place of answers of the page, oldest first: at most the
    newest `MAX_OTHER_ANSWERS`, within `PAGE_BYTES`."""
    if page.after is None or not page.messages:
        return []
    first, last = page.messages[0].seq, page.messages[-1].seq
    others = Message.objects.filter(chat=chat, group_seq__gte=first, group_seq__lte=last, seq__gt=last)
    sizes = others.order_by("-seq").values_list("seq", "payload_bytes")[: MAX_OTHER_ANSWERS + 1]
    seqs, _ = _limit_seqs(list(sizes), MAX_OTHER_ANSWERS, PAGE_BYTES, may_exceed=True)
    return list(others.filter(seq__gte=seqs[-1]).order_by("seq")) if seqs else []


def list_pinned_messages(chat: Chat) -> QuerySet[Message]:
    """Return the pinned messages of a chat, for `build_preview_rows`. Order them by `-pinned_at` and `-pk`: there is an index."""
    return shorten_texts(Message.objects.filter(chat=chat, pinned_at__isnull=False))


def build_preview_rows(messages: Iterable[Any]) -> list[MessageRow]:
    """Return the rows of messages from `shorten_texts`, with the shortened texts."""
    rows: list[MessageRow] = []
    for message in messages:
        message.payload = message.preview
        rows.append(message.to_row())
    return rows


def list_shared_chats(chat: Chat, agent: Actor, person: Actor | None) -> QuerySet[Chat]:
    """Return this chat, and the agent's other chats in its workspace that are read by all readers of this chat, and by the person
    whom the agent works for. Finding the readers takes one or two queries.

    An answer is read by all readers of this chat, so it must not contain messages of chats that one of them may not read.
    """
    readers = find_readers([chat])[chat.pk] | ({person.pk} if person else set())
    of_agent: Any = chats_with_rights([agent]).filter(workspace=chat.workspace_id)
    shared: QuerySet[Chat] = of_agent.filter(Q(pk=chat.pk) | build_is_read_by_all(readers), role_0__isnull=False)
    return shared


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageFilter:
    """Which of the messages with its words a search finds; null: all. `kind`: those of people, or of agents. `starts_on` and
    `ends_on`: the first and the last day, in `time_zone`. `has_file`: only files, which are found by their names. `author`: the
    handle or the name of their author, without regard to case; empty: any."""

    author_id: UUID | None = None
    author: str = ""
    kind: Kind | None = None
    starts_on: date | None = None
    ends_on: date | None = None
    time_zone: str = "UTC"
    has_file: bool = False


ALL_MESSAGES = MessageFilter()


def search_messages(chats: QuerySet[Chat], query: str, only: MessageFilter = ALL_MESSAGES) -> QuerySet[Message]:
    """Return the texts and files of people and agents in these chats that contain all words of a query, without regard to case;
    none if the query has no word. A word is found by its beginning, Chinese by pairs of characters, and a file by its name. What
    sub-agents write is no part of a conversation. Order them by `-created_at` and `-pk`, which an index supports, and read them in
    `use_custom_plans()`.
    """
    terms = split_terms(query)
    if not terms:
        return Message.objects.none()
    # The ids are read first, because PostgreSQL knows how many messages they have; it cannot know that of a subquery.
    ids = list(chats.values_list("pk", flat=True))
    types = [SqlConstant("FILE_MESSAGE")] if only.has_file else [SqlConstant(type) for type in SPOKEN_TYPES]
    found = Message.objects.filter(is_any_of("chat_id", ids), type__in=types, metadata__isnull=True, is_unused=False)
    if only.author_id is not None:
        found = found.filter(author=only.author_id)
    if only.author:
        has_name = Q(author__handle=normalize_handle(only.author)) | Q(author__name__iexact=only.author.strip())
        found = found.filter(has_name)
    if only.kind is not None:
        found = found.filter(author__kind=only.kind)
    if only.starts_on is not None:
        found = found.filter(created_at__gte=datetime.combine(only.starts_on, time.min, ZoneInfo(only.time_zone)))
    if only.ends_on is not None:
        found = found.filter(created_at__lte=datetime.combine(only.ends_on, time.max, ZoneInfo(only.time_zone)))
    return found.filter(has_all_terms(terms)).select_related("author", "chat")


def rank_messages(found: QuerySet[Message], query: str) -> QuerySet[Message]:
    """Return the newest `MAX_RANKED` messages of a search, annotated with a `score` (`build_score`). Order them by `-score` and
    `-pk`, and call this in `use_custom_plans()`, because it reads their ids."""
    newest = list(found.order_by("-created_at", "-pk").values_list("pk", flat=True)[:MAX_RANKED])
    ranked = Message.objects.filter(is_any_of("id", newest)).annotate(score=build_score(split_terms(query), query))
    return ranked.select_related("author", "chat")


def build_found_message(
    message: Message, query: str, *, before: int = SHORT_BEFORE, after: int = SHORT_AFTER
) -> FoundMessage:
    """Build the hit of a search, with the part of the text around its words (`build_excerpt`), or the whole name of a file."""
    is_file = message.type == "FILE_MESSAGE"
    if is_file:
        text = str(message.payload["name"])
        marks = find_marks(text, split_sequences(query))
    else:
        text, marks = build_excerpt(message.text, query, before=before, after=after)
    return FoundMessage(
        message_id=message.id,
        chat_id=message.chat_id,
        chat_title=message.chat.shown_title,
        author=message.author.name if message.author else "",
        author_id=message.author_id,
        text=text,
        marks=marks,
        is_file=is_file or None,
        created_at=message.created_at,
    )


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return all thumbs, messages, their earlier texts, and chats of a deleted workspace, to purge them. A listener of
    `collect_rows_to_purge`."""
    return [
        Thumb.objects.filter(chat__workspace=workspace),
        MessageRevision.objects.filter(message__chat__workspace=workspace),
        Message.objects.filter(chat__workspace=workspace),
        Chat.objects.filter(workspace=workspace),
    ]
