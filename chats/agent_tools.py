"""The tools that search messages and react to them."""

from datetime import date
from typing import Any, Literal

from pydantic import Field

from chats.models import IS_SPOKEN, Chat, Message
from chats.permissions import ChatVerb, get_chat_for
from chats.search import split_terms
from chats.selectors import (
    EXCERPT_CHARACTERS,
    MessageFilter,
    build_found_message,
    list_shared_chats,
    rank_messages,
    search_messages,
)
from chats.services.reactions import add_reaction
from common.database import use_custom_plans
from common.text import to_storable
from events.payloads import FoundMessage, FoundMessagesData
from tools.fence import fence_lines
from tools.interface import Tool, ToolArgs, ToolContext, ToolError, ToolOutput
from tools.registry import register


@register
class SearchHistory(Tool):
    """Search earlier messages of this chat for words, the newest first; with scope my_chats also other chats of these people.

    Gives the author, the time, the id and an excerpt of each message that contains all the words, without regard to case, and of
    each file whose name does. The id of a file is that of its message.
    """

    name = "search_history"
    effect = "read"
    quotes_agents = True
    Data = FoundMessagesData

    class Args(ToolArgs):
        query: str = Field(
            min_length=1,
            max_length=200,
            description="The words to look for, or their beginnings, separated by spaces.",
        )
        scope: Literal["chat", "my_chats"] = Field(
            default="chat",
            description="chat: only this chat. my_chats: all chats in which everybody of this chat takes part.",
        )
        author: str = Field(
            default="",
            max_length=120,
            description="Only what this person or agent has written: the handle or the name.",
        )
        starts_on: date | None = Field(default=None, description="The first day.")
        ends_on: date | None = Field(default=None, description="The last day.")
        only_files: bool = Field(default=False, description="Only files.")
        order: Literal["newest", "best"] = Field(default="newest", description="best: the best match first.")
        limit: int = Field(default=10, ge=1, le=20, description="The number of messages to return.")

    def run(self, ctx: ToolContext, args: Args) -> ToolOutput:
        if ctx.chat_id is None:
            raise ToolError("There are no messages here.", is_final=True)
        query = " ".join(to_storable(args.query).split())
        if not split_terms(query):
            raise ToolError("There is no word to look for.")
        chat = get_chat_for(ctx.actor, ctx.chat_id, ChatVerb.SEE, on_behalf_of=ctx.on_behalf_of)
        chats = Chat.objects.filter(pk=chat.pk)
        if args.scope == "my_chats":
            chats = list_shared_chats(chat, ctx.actor, ctx.on_behalf_of)
        only = MessageFilter(
            author=to_storable(args.author),
            starts_on=args.starts_on,
            ends_on=args.ends_on,
            time_zone=chat.workspace.time_zone,
            has_file=args.only_files,
        )
        with use_custom_plans():
            messages = search_messages(chats, query, only)
            if args.order == "best":
                ranked: Any = rank_messages(messages, query)
                messages = ranked.order_by("-score", "-pk")
            else:
                messages = messages.order_by("-created_at", "-pk")
            found = [
                build_found_message(message, query, before=EXCERPT_CHARACTERS, after=EXCERPT_CHARACTERS)
                for message in messages[: args.limit]
            ]
        return ToolOutput(format_messages(query, found), FoundMessagesData(query=query, messages=found))


@register
class React(Tool):
    """React to a message with one emoji, where that says enough: seen, done, agreed. Then write nothing more. It wakes nobody, and
    is no answer to a question."""

    name = "react"
    effect = "write"
    is_idempotent = True
    is_trusted = True
    changes_only_reactions = True

    class Args(ToolArgs):
        emoji: str = Field(min_length=1, max_length=32, description="One emoji, such as 👍, 👀 or ✅.")
        message: int | None = Field(
            default=None,
            ge=1,
            description="The number of the message, as in [#7]. Without it: the newest message that is not yours.",
        )

    def run(self, ctx: ToolContext, args: Args) -> str:
        if ctx.chat_id is None:
            raise ToolError("There are no messages here.", is_final=True)
        get_chat_for(ctx.actor, ctx.chat_id, ChatVerb.SEE, on_behalf_of=ctx.on_behalf_of)
        spoken = Message.objects.filter(IS_SPOKEN, chat=ctx.chat_id, deleted_at=None)
        wanted = spoken.exclude(author=ctx.actor) if args.message is None else spoken.filter(seq=args.message)
        message = wanted.order_by("-seq").first()
        if message is None:
            raise ToolError("There is no such message in this chat.", is_final=True)
        add_reaction(ctx.actor, ctx.chat_id, message.pk, args.emoji, on_behalf_of=ctx.on_behalf_of)
        return f"Reacted to message [#{message.seq}]."


def format_messages(query: str, found: list[FoundMessage]) -> str:
    """Return the text for the model: the messages between two lines with a random mark (SEC9)."""
    if not found:
        return f"No message contains “{query}”."
    lines = []
    for number, message in enumerate(found, 1):
        title = f", in “{message.chat_title}”" if message.chat_title else ""
        lines += [
            f"{number}. {message.author}, {message.created_at:%Y-%m-%d %H:%M} UTC{title}, id {message.message_id}",
            f"   {'file ' if message.is_file else ''}{message.text}",
        ]
    return "\n".join(fence_lines("messages", lines, authors="people and agents", citation="its author and time"))
