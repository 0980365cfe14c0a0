"""The tools by which an agent changes its own prompt, and gives tasks to others."""

from uuid import UUID

from pydantic import Field

from actors.models import Actor
from agents.permissions import AgentVerb, get_agent_for
from agents.services import drafts
from agents.specs.content import MAX_PROMPT
from agents.sub_agents import Delegate
from common.errors import AppError, Conflict, Forbidden, NotFound
from common.text import to_storable
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register

register(Delegate)


@register
class RevisePrompt(Tool):
    """Change your own prompt (your instructions), when an editor of yours asks you to. Pass the whole new prompt, with
    everything in it that shall stay. It becomes a draft in the workshop beside this chat, for people to review, try and
    save: until then you work as before."""

    name = "revise_prompt"
    effect = "write"
    is_trusted = True

    class Args(ToolArgs):
        prompt: str = Field(
            min_length=1, max_length=MAX_PROMPT, description="The whole new prompt, not only the change."
        )
        reason: str = Field(max_length=400, description="What changes and why, in one sentence.")

    def check_rights(self, ctx: ToolContext) -> None:
        _, person = _get_chat_and_person(ctx)
        try:
            get_agent_for(person, ctx.actor.pk, AgentVerb.SAVE)
        except (Forbidden, NotFound) as error:
            raise ToolError(_explain_refusal(ctx, error), is_final=True) from error

    def run(self, ctx: ToolContext, args: Args) -> str:
        chat_id, person = _get_chat_and_person(ctx)
        try:
            drafts.revise_prompt(
                ctx.actor,
                chat_id,
                on_behalf_of=person,
                approved_by=ctx.approved_by,
                prompt=to_storable(args.prompt),
                reason=to_storable(args.reason),
            )
        except (Forbidden, NotFound) as error:
            raise ToolError(_explain_refusal(ctx, error), is_final=True) from error
        except Conflict as error:
            raise ToolError(
                f"Nothing was changed: {error.message} {' '.join(error.hints)}".strip(), is_final=True
            ) from error
        return "Your new prompt is a draft now. Say that it waits for review in the workshop, and is not in use before that."


def _get_chat_and_person(ctx: ToolContext) -> tuple[UUID, Actor]:
    """Return the chat in which somebody has asked for the change, and this person. Raises `ToolError` for a sub-agent, which has no
    `chat_id`: only another agent has asked it."""
    if ctx.chat_id is None or ctx.on_behalf_of is None:
        raise ToolError("Nobody in a chat has asked for this.", is_final=True)
    return ctx.chat_id, ctx.on_behalf_of


def _explain_refusal(ctx: ToolContext, error: AppError) -> str:
    """Return what the model reads if the person of the run, or the one who has approved the call, may not save the agent."""
    if ctx.actor.is_public:
        return "Nothing was changed: you are a public agent, and nobody can change you here. Say so."
    # `check_all_may` names those who have approved the call. Other errors name nobody: then it is the person of the run.
    names = error.data.get("names") or [ctx.on_behalf_of.name if ctx.on_behalf_of else "Whoever asks"]
    return (
        f"Nothing was changed: {', '.join(names[:3])} may not save you, and only editors can have you changed. Say so, and that an"
        " editor can ask you, or write the change in the workshop, beside this chat, where everybody can suggest it."
    )
