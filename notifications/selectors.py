"""Reads of notifications, with what the person may see today."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from actors.models import Actor
from approvals.models import Approval
from boards.models import Board
from chats.models import Chat
from chats.permissions import list_readable_chats
from chats.selectors import load_titles
from events.rows import BoardPause, NotificationKind, NotificationRow
from notifications.models import Notification
from workspaces.models import Workspace
from workspaces.permissions import build_role_expression

MAX_UNREAD_NOTIFICATIONS = 100
"""Unread notifications are counted up to this number: the web app shows "99+"."""
QUOTING_TYPES = frozenset(
    {
        NotificationKind.MENTION,
        NotificationKind.APPROVAL_ASKED,
        NotificationKind.CHAT_INVITATION,
        NotificationKind.BOARD_ENDED,
        NotificationKind.BOARD_PAUSED,
        NotificationKind.BOARD_WAITS,
    }
)
"""Types whose excerpt quotes a message or the title of a chat. The excerpts of the others are open to every member of the
workspace."""


def _list_visible(person: Actor) -> QuerySet[Notification]:
    """Return the person's notifications from workspaces that they are a member of, and those that say that
    a workspace was deleted."""
    notifications = Notification.objects.alias(role=build_role_expression(person, "workspace_id"))
    return notifications.filter(Q(role__isnull=False) | Q(type=NotificationKind.WORKSPACE_DELETED), person=person)


def list_notifications(person: Actor, *, unread: bool = False) -> QuerySet[Any]:
    """Return the person's notifications, for `build_notification_rows`, each with `may_see_chat`."""
    chat = list_readable_chats(person).filter(pk=OuterRef("chat_id"))
    notifications = _list_visible(person).annotate(may_see_chat=Exists(chat))
    return notifications.filter(read_at=None) if unread else notifications


def count_unread(person: Actor) -> int:
    """Return the number of unread notifications, at most `MAX_UNREAD_NOTIFICATIONS`."""
    return _list_visible(person).filter(read_at=None)[:MAX_UNREAD_NOTIFICATIONS].count()


def list_waiting_chats(person: Actor) -> list[UUID]:
    """Return the ids of the chats in which something waits for this person, in all their workspaces. One query.

    That is a call or a question about which this person is asked (`list_asked_people`), or a board that works for them or that they
    have started, if it waits for a person to let it start or cost more. What others are asked is not counted, even if this person
    may decide about it. Reading a notification does not end it: only a decision does.
    """
    # Only editors of the workspace can read a chat between agents, so of the chats below those are the ones where they are asked.
    asked = Approval.objects.filter(Q(person=person) | Q(chat__is_between_agents=True), decision=None)
    paused = Board.objects.filter(
        Q(on_behalf_of=person) | Q(started_by=person),
        ended_at=None,
        pause_reason__in=(BoardPause.BUDGET, BoardPause.ESTIMATE),
    )
    waiting = Q(pk__in=asked.values("chat")) | Q(pk__in=paused.values("chat"))
    return list(list_readable_chats(person).filter(waiting).order_by("pk").values_list("pk", flat=True))


def build_notification_rows(person: Actor, notifications: Iterable[Any]) -> list[NotificationRow]:
    """Build the rows of the person's notifications from `list_notifications`.

    The row of a chat that the person may not see has neither the ids of the chat and its message nor a quotation. An invitation to
    a chat without a title quotes the names that are shown in its place. Three more queries if there are such invitations.
    """
    found = list(notifications)
    untitled = [
        one for one in found if one.type == NotificationKind.CHAT_INVITATION and one.may_see_chat and not one.excerpt
    ]
    chats = Chat.objects.in_bulk([one.chat_id for one in untitled]) if untitled else {}
    load_titles(person, chats.values())
    for one in untitled:
        one.excerpt = chats[one.chat_id].shown_title
    rows = []
    for notification in found:
        row = notification.to_row()
        if row.chat_id is not None and not notification.may_see_chat:
            excerpt = "" if row.type in QUOTING_TYPES else row.excerpt
            row = row.model_copy(update={"chat_id": None, "message_id": None, "excerpt": excerpt})
        rows.append(row)
    return rows


def list_rows_to_purge(workspace: Workspace) -> list[QuerySet[Any]]:
    """Return the notifications that purging a workspace deletes. Those that say that it was deleted stay. A listener of
    `collect_rows_to_purge`."""
    notifications = Notification.objects.filter(workspace=workspace)
    return [notifications.exclude(type=NotificationKind.WORKSPACE_DELETED)]
