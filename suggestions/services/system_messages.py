"""Build the system messages about suggestions in the log of a chat."""

from actors.models import Actor
from chats import services as chats
from chats.models import Message
from common.writing import RowUpdate
from events.payloads import SystemMessageType
from suggestions.models import Suggestion


def build_decision_message(suggestion: Suggestion, type_: SystemMessageType, actor: Actor) -> Message:
    """Build the message that the actor accepted, rejected or withdrew a suggestion. Its note is the reason."""
    return chats.build_system_message(
        suggestion.chat_id, type_, actor=actor, target=suggestion.agent, authors=[suggestion.author.name],
        suggestion_id=suggestion.id, merge_id=suggestion.merge_id, note=suggestion.reason,
    )  # fmt: skip


def build_summary_update(suggestion: Suggestion) -> RowUpdate[Message]:
    """Build the update of a suggestion's message with its summary. The caller has locked the chat."""
    message = Message.objects.get(pk=suggestion.message_id)
    summary = {"summary": suggestion.summary, "summary_state": suggestion.summary_state}
    return RowUpdate(message).set(payload=message.payload | summary)
