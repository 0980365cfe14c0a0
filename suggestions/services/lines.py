"""What a chat's log says about its suggestions."""

from actors.models import Actor
from chats import services as chats
from chats.models import Message
from common.writing import RowUpdate
from events.payloads import SystemMessageType
from suggestions.models import Suggestion


def decided_line(suggestion: Suggestion, type_: SystemMessageType, actor: Actor) -> Message:
    """Somebody accepted, rejected or withdrew a suggestion; the reason is the note."""
    return chats.system_line(
        suggestion.chat_id, type_, actor=actor, target=suggestion.agent, authors=[suggestion.author.name],
        suggestion_id=suggestion.id, merge_id=suggestion.merge_id, note=suggestion.reason,
    )  # fmt: skip


def build_summary_update(suggestion: Suggestion) -> RowUpdate[Message]:
    """Return the update that brings the state of the summary into the message of a suggestion, whose chat is locked."""
    line = Message.objects.get(pk=suggestion.line_id)
    summary = {"summary": suggestion.summary, "summary_state": suggestion.summary_state}
    return RowUpdate(line).set(payload=line.payload | summary)
