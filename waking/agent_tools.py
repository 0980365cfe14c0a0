"""The tool by which an agent writes into another chat."""

from uuid import UUID

from django.db.models import Q
from pydantic import Field

from actors.models import Actor, AgentStatus, Kind
from chats import services as chats
from chats.models import Chat
from chats.permissions import ChatVerb, find_readers, get_chat_for
from common.text import to_storable
from events.rows import Policy
from runs.models import Run
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register
from waking.services.wake import WakeEffect, preview_wakes
from workspaces.permissions import WorkspaceVerb, get_workspace_for

MAX_TEXT_CHARACTERS = 20_000


@register
class SendMessage(Tool):
    """Write a message into another chat that you take part in, or to one member (a person or an agent) in the direct chat that
    you have with them. Agents that you mention there are woken, and the other agent of a direct chat always is. They answer there,
    not here. To answer here, just answer."""

    name = "send_message"
    effect = "write"
    is_trusted = True

    class Args(ToolArgs):
        to: str | None = Field(default=None, max_length=41, description="The handle of a member, such as @writer.")
        chat_id: str | None = Field(default=None, max_length=36, description="The id of a chat, instead of `to`.")
        text: str = Field(min_length=1, max_length=MAX_TEXT_CHARACTERS, description="The message.")

    @property
    def default_policy(self) -> Policy:
        """A person is asked first: the people in the other chat read what the agent has learned here."""
        return Policy.ASK

    def check_rights(self, ctx: ToolContext) -> None:
        if ctx.chat_id is None or ctx.on_behalf_of is None:
            raise ToolError("Nobody in a chat has asked for this.", is_final=True)

    def run(self, ctx: ToolContext, args: Args) -> str:
        if ctx.chat_id is None or ctx.on_behalf_of is None:
            raise ToolError("Nobody in a chat has asked for this.", is_final=True)
        here = get_chat_for(ctx.actor, ctx.chat_id, ChatVerb.SEE)
        chat = _get_target(ctx, here, args)
        if chat.pk == here.pk:
            raise ToolError("This is the chat that you are in: just answer.", is_final=True)
        for person in (ctx.on_behalf_of, ctx.approved_by):
            if person is None:
                continue
            if chat.is_direct:
                # Whoever may open a direct chat with a member may have the agent write to them.
                get_workspace_for(ctx.actor, chat.workspace_id, WorkspaceVerb.CREATE_CHAT, on_behalf_of=person)
            else:
                get_chat_for(ctx.actor, chat.pk, ChatVerb.POST, on_behalf_of=person)
        if ctx.approved_by is None and _needs_approval(here, chat, ctx.on_behalf_of):
            raise ToolError(
                "It was not sent: not the same people read that chat and this one, so a person has to approve it. Say so.",
                is_final=True,
            )
        text = to_storable(args.text)
        cause = Run.objects.get(pk=ctx.run_id)
        effects = preview_wakes(ctx.actor, chat.pk, text=text, cause=cause)
        message, _ = chats.post_message(ctx.actor, chat.pk, text=text, sent_by_run_id=ctx.run_id)
        return f"Sent as {message.pk} in the chat {chat.pk}. {_describe_effects(effects)}"


def _get_target(ctx: ToolContext, here: Chat, args: SendMessage.Args) -> Chat:
    """Return the chat that the message is for; open the direct chat if needed. Raises `ToolError`, `NotFound`, `Forbidden`."""
    if (args.to is None) == (args.chat_id is None):
        raise ToolError("Name either a member (to) or a chat (chat_id).")
    if args.chat_id is not None:
        try:
            return get_chat_for(ctx.actor, UUID(args.chat_id), ChatVerb.POST)
        except ValueError:
            raise ToolError("chat_id: this is not the id of a chat.") from None
    handle = (args.to or "").strip().removeprefix("@").lower()
    is_member = Q(kind=Kind.HUMAN, memberships__workspace=here.workspace_id)
    is_agent = Q(kind=Kind.AGENT, workspace=here.workspace_id, status=AgentStatus.READY)
    found = list(Actor.objects.filter(is_member | is_agent, handle=handle).exclude(pk=ctx.actor.pk).distinct()[:2])
    if len(found) != 1:
        raise ToolError(f"There is {'no' if not found else 'more than one'} member {handle!r} here.", is_final=True)
    return chats.open_direct_chat(ctx.actor, here.workspace_id, found[0].pk, on_behalf_of=ctx.on_behalf_of)[0]


def _needs_approval(here: Chat, chat: Chat, person: Actor) -> bool:
    """Return whether somebody reads the other chat who does not read this one, or the person does not see there what is sent for
    them."""
    readers = find_readers([here, chat])
    return not readers[chat.pk] <= readers[here.pk] or person.pk not in readers[chat.pk]


def _describe_effects(effects: list[WakeEffect]) -> str:
    """Return who is woken by the message, for the model."""
    names = dict(Actor.objects.filter(pk__in=[effect.agent_id for effect in effects]).values_list("pk", "name"))
    woken = [names[effect.agent_id] for effect in effects if effect.effect != "refused"]
    refused = [f"{names[effect.agent_id]} ({effect.reason})" for effect in effects if effect.effect == "refused"]
    parts = [f"It wakes {', '.join(woken)}." if woken else "It wakes no agent."]
    if refused:
        parts.append(f"Not woken: {', '.join(refused)}.")
    return " ".join(parts)
