"""Corrections of summaries by people."""

from uuid import UUID

from django.db import transaction

from actors.models import Actor
from chats.models import Chat
from chats.permissions import ChatVerb, get_chat_for
from common.clock import now
from common.errors import Invalid, NotFound
from common.text import to_storable
from context.models import SummaryCorrection
from context.selectors import find_newest_summary, list_current_sentences
from events import audit
from events.publish import publish_workspace_list_changed

MAX_SENTENCE = 600
"""Characters of a sentence of a summary."""


@transaction.atomic
def correct_sentence(actor: Actor, chat_id: UUID, sentence_id: UUID, *, text: str) -> Chat:
    """Replace the text of a sentence of the chat's summary, in this summary and all later ones.

    Raises `NotFound`, `Forbidden`, and `Invalid` for a blank or unchanged text.
    """
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    text = " ".join(to_storable(text).split())[:MAX_SENTENCE]
    summary = find_newest_summary(chat.id)
    sentences = list_current_sentences(summary) if summary else []
    current = next((one for one in sentences if one.sentence.id == sentence_id), None)
    if current is None:
        raise NotFound("The summary of this chat has no such sentence.")
    if not text or text == current.text:
        raise Invalid("This text is empty, or the same as before.")
    SummaryCorrection.objects.filter(chat=chat, sentence_id=sentence_id, ended_at=None).update(ended_at=now())
    if current.correction is not None:  # it may have the id that an earlier summary gave the sentence
        SummaryCorrection.objects.filter(pk=current.correction.pk, ended_at=None).update(ended_at=now())
    if text != current.sentence.text:  # otherwise the text of the model applies again, without a correction
        SummaryCorrection.objects.create(
            chat=chat,
            sentence_id=sentence_id,
            section=current.sentence.section,
            old_text=current.correction.old_text if current.correction else current.sentence.text,
            new_text=text,
            seqs=current.sentence.seqs,
            person=actor,
        )
    _publish(actor, chat, "summary.corrected")
    return chat


@transaction.atomic
def undo_correction(actor: Actor, chat_id: UUID, correction_id: UUID) -> Chat:
    """End a correction: the sentence is again as the model wrote it. Raises `NotFound`, `Forbidden`."""
    chat = get_chat_for(actor, chat_id, ChatVerb.POST, lock=True)
    ended = SummaryCorrection.objects.filter(pk=correction_id, chat=chat, ended_at=None).update(ended_at=now())
    if not ended:
        raise NotFound("There is no such correction.")
    _publish(actor, chat, "summary.correction_undone")
    return chat


def _publish(actor: Actor, chat: Chat, action: str) -> None:
    audit.record(actor, action, workspace_id=chat.workspace_id, object_id=chat.id)
    publish_workspace_list_changed(chat.workspace_id, "summaries")
