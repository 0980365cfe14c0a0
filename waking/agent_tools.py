"""The tool by which an agent writes into another chat."""

from uuid import UUID

from django.db.models import Q
from pydantic import Field

from actors.models import Actor, AgentStatus, Kind
from chats import services as chats
from chats.models import Chat
from chats.named_objects import get_named_object
from chats.permissions import ChatVerb, find_readers, get_chat_for
from common.text import to_storable
from events.payloads import ChatTarget, TargetReader
from events.rows import Policy, Role
from runs.models import Run
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register
from waking.services.wake import WakeEffect, preview_wakes
from workspaces.models import Membership
from workspaces.permissions import WorkspaceVerb, get_workspace_for

MAX_TEXT_CHARACTERS = 20_000
ONE_TARGET = "Name either a member (to) or a chat (chat_id)."


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

    @property
    def writes_elsewhere(self) -> bool:
        return True

    def check_rights(self, ctx: ToolContext) -> None:
        _get_asker(ctx)
        if ctx.actor.workspace_id != ctx.workspace_id:
            raise ToolError("You are a public agent, and write only where you were asked. Say so.", is_final=True)

    def describe_target(self, ctx: ToolContext, args: Args) -> ChatTarget:
        """Return the chat of the message, and who reads it. The direct chat with a member need not exist."""
        here = _get_own_chat(ctx)
        if args.chat_id is not None:
            chat = _get_target_chat(ctx, args)
            others = Actor.objects.filter(participants__chat=chat, participants__ended_at=None).exclude(pk=ctx.actor.pk)
            member = others.first() if chat.is_direct else None
            reader_ids = find_readers([here, chat])
            readers, readers_here = reader_ids[chat.pk], reader_ids[here.pk]
        else:
            chat, member = None, _get_target_member(ctx, args)
            readers, readers_here = {ctx.actor.pk, member.pk}, find_readers([here])[here.pk]
            if member.is_agent:
                editors = Membership.objects.filter(workspace=here.workspace_id, role=Role.EDITOR)
                readers |= set(editors.values_list("actor_id", flat=True))
        actors = Actor.objects.filter(pk__in=readers).order_by("name", "pk")
        rows = [TargetReader(actor_id=one.pk, name=one.name, is_new=one.pk not in readers_here) for one in actors]
        return ChatTarget(
            chat_id=chat.pk if chat else None,
            title=chat.title if chat and not member else "",
            member=member.name if member else "",
            workspace_id=here.workspace_id,
            workspace_name=here.workspace.name,
            readers=sorted(rows, key=lambda row: not row.is_new),
        )

    def run(self, ctx: ToolContext, args: Args) -> str:
        self.check_rights(ctx)
        here, asker = _get_own_chat(ctx), _get_asker(ctx)
        if args.chat_id is not None:
            chat = _get_target_chat(ctx, args)
        else:
            member = _get_target_member(ctx, args)
            chat, _ = chats.open_direct_chat(ctx.actor, here.workspace_id, member.pk, on_behalf_of=asker)
        if chat.pk == here.pk:
            raise ToolError("This is the chat that you are in: just answer.", is_final=True)
        for person in (asker, ctx.approved_by):
            if person is None:
                continue
            if chat.is_direct:
                # Whoever may open a direct chat with a member may have the agent write to them.
                get_workspace_for(ctx.actor, chat.workspace_id, WorkspaceVerb.CREATE_CHAT, on_behalf_of=person)
            else:
                get_chat_for(ctx.actor, chat.pk, ChatVerb.POST, on_behalf_of=person)
        if ctx.approved_by is None and _needs_approval(here, chat, asker):
            raise ToolError(
                "It was not sent: not the same people read that chat and this one, so a person has to approve it. Say so.",
                is_final=True,
            )
        text = to_storable(args.text)
        cause = Run.objects.get(pk=ctx.run_id)
        effects = preview_wakes(ctx.actor, chat.pk, text=text, cause=cause)
        message, _ = chats.post_message(ctx.actor, chat.pk, text=text, sent_by_run_id=ctx.run_id)
        return f"Sent as {message.pk} in the chat {chat.pk}. {_describe_effects(effects)}"


def _get_asker(ctx: ToolContext) -> Actor:
    """Return the person in a chat whom the run works for. Raises `ToolError`, also for a sub-agent."""
    if ctx.chat_id is None or ctx.on_behalf_of is None:
        raise ToolError("Nobody in a chat has asked for this.", is_final=True)
    return ctx.on_behalf_of


def _get_own_chat(ctx: ToolContext) -> Chat:
    """Return the chat of the run. Raises `ToolError` for a sub-agent, and `NotFound`."""
    if ctx.chat_id is None:
        raise ToolError("Nobody in a chat has asked for this.", is_final=True)
    return get_chat_for(ctx.actor, ctx.chat_id, ChatVerb.SEE)


def _get_target_chat(ctx: ToolContext, args: SendMessage.Args) -> Chat:
    """Return the chat that the call names by its id. Raises `ToolError`. Who reads it is shown to the person who is asked."""
    if args.to is not None or args.chat_id is None:
        raise ToolError(ONE_TARGET)

    def fetch(id: UUID) -> Chat:
        chat = get_chat_for(ctx.actor, id, ChatVerb.POST)
        # Nobody is in a direct chat with an agent but its two: `run` asks whether the person may open one.
        return chat if chat.is_direct else get_chat_for(ctx.actor, id, ChatVerb.POST, on_behalf_of=ctx.on_behalf_of)

    return get_named_object(ctx, "chat", args.chat_id, fetch)


def _get_target_member(ctx: ToolContext, args: SendMessage.Args) -> Actor:
    """Return the person or agent of the workspace of the run whom the call names by a handle. Raises `ToolError`."""
    if args.to is None:
        raise ToolError(ONE_TARGET)
    handle = args.to.strip().removeprefix("@").lower()
    is_member = Q(kind=Kind.HUMAN, memberships__workspace=ctx.workspace_id)
    is_agent = Q(kind=Kind.AGENT, workspace=ctx.workspace_id, status=AgentStatus.READY)
    found = list(Actor.objects.filter(is_member | is_agent, handle=handle).exclude(pk=ctx.actor.pk).distinct()[:2])
    if len(found) != 1:
        raise ToolError(f"There is {'no' if not found else 'more than one'} member {handle!r} here.", is_final=True)
    return found[0]


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
