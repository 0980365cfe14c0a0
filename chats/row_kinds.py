"""The kinds of rows of a chat that this app has: the chat itself, its participants and its messages."""

from chats.models import Chat, ChatActor, Message
from events.rows import ChatRow, MessageRow, ParticipantRow, RowKind
from events.rows.kinds import register

register(RowKind("chat", ChatRow, Chat, order=0))
register(
    RowKind(
        "participant",
        ParticipantRow,
        ChatActor,
        order=10,
        list_rows=lambda: ChatActor.objects.select_related("actor").order_by("joined_at", "pk"),
    )
)
register(RowKind("message", MessageRow, Message, order=100))
