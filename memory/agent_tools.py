"""The tools by which an agent keeps notes of its own."""

from uuid import UUID, uuid5

from pydantic import Field

from chats.named_objects import get_named_object
from common.errors import NotFound
from memory import services as memory
from memory.models import MAX_NOTE, MAX_TOPIC, Note
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register


class _NoteTool(Tool):
    """A tool for notes: only an agent of the workspace has them, and only in a chat."""

    effect = "write"
    is_idempotent = True
    is_trusted = True
    changes_only_notes = True

    def check_rights(self, ctx: ToolContext) -> None:
        _get_chat_id(ctx)


@register
class Remember(_NoteTool):
    """Keep a short note for later: a fact, a preference or a decision that will still matter in later conversations. You see your
    notes at the beginning of each conversation in which everybody may read this chat. One fact in each note; no secrets."""

    name = "remember"

    class Args(ToolArgs):
        text: str = Field(min_length=1, max_length=MAX_NOTE, description="The note, understandable by itself.")
        topic: str = Field(default="", max_length=MAX_TOPIC, description="What it is about, in one to three words.")

    def run(self, ctx: ToolContext, args: Args) -> str:
        note = memory.remember(
            ctx.actor,
            _get_chat_id(ctx),
            on_behalf_of=ctx.on_behalf_of,
            id=uuid5(ctx.run_id, ctx.call_id),
            run_id=ctx.run_id,
            call_id=ctx.call_id,
            text=args.text,
            topic=args.topic,
            has_outside_texts=ctx.has_outside_texts,
        )
        return f"Noted, as note {note.pk}. It is used where everybody may read this chat."


@register
class Forget(_NoteTool):
    """Forget a note that you wrote yourself, when it is wrong or out of date. Its id stands before it among your notes. Notes that
    people wrote or changed are theirs: ask an editor."""

    name = "forget"

    class Args(ToolArgs):
        note_id: UUID = Field(description="The id of the note.", strict=False)

    def run(self, ctx: ToolContext, args: Args) -> str:
        chat_id = _get_chat_id(ctx)
        own = Note.objects.filter(agent=ctx.actor)
        note = get_named_object(ctx, "note", args.note_id, lambda id: own.filter(pk=id).first())
        try:
            memory.forget_own_note(ctx.actor, chat_id, note.pk, on_behalf_of=ctx.on_behalf_of)
        except NotFound as error:
            raise ToolError(error.message, is_final=True) from error
        return "Forgotten. People can restore it for a day."


def _get_chat_id(ctx: ToolContext) -> UUID:
    if ctx.actor.is_public:
        raise ToolError("You are a public agent, and keep no notes. Say so.", is_final=True)
    if ctx.chat_id is None:
        raise ToolError("Notes are kept in chats only, not in a task of another agent.", is_final=True)
    return ctx.chat_id
