"""The objects that a model names by their ids in the arguments of a call."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from chats.models import Chat
from chats.permissions import find_readers
from common.errors import Forbidden, NotFound
from tools.interface import ToolContext, ToolError

T = TypeVar("T", bound=Any)


def get_named_object(
    ctx: ToolContext, noun: str, id: str | UUID, fetch: Callable[[UUID], T | None], *, hint: str = ""
) -> T:
    """Return the object that a call names, for every tool whose arguments have an id (SEC33).

    `fetch` returns the object of an id if the actor of the call and its person have the right to it. That is not enough: an agent,
    also a public one, and a person may be in several workspaces and chats. So the object must also be of the workspace of the run
    (`workspace_id`). If it is of another chat (`chat_id`), all who see the result of the call must read that chat.

    Raises `ToolError` with the same text in each of these cases, and for a text that is no id. `hint`: what the model can do then.
    """
    found: T | None = None
    try:
        found = fetch(id if isinstance(id, UUID) else UUID(id.strip()))
    except (ValueError, NotFound, Forbidden):
        pass
    if found is None or ctx.workspace_id is None or found.workspace_id != ctx.workspace_id or not _is_read(ctx, found):
        raise ToolError(f"There is no {noun} with this id here. {hint}".strip(), is_final=True)
    return found


def _is_read(ctx: ToolContext, found: Any) -> bool:
    """Return whether all who see the result of the call read the chat that the object is of, if it is of one."""
    chat_id = getattr(found, "chat_id", None)
    if chat_id is None or chat_id == ctx.shown_in_chat_id:
        return True
    if ctx.shown_in_chat_id is None:
        return False
    readers = find_readers(Chat.objects.filter(pk__in=[chat_id, ctx.shown_in_chat_id]))
    return readers[ctx.shown_in_chat_id] <= readers[chat_id]
