"""The tools over agents themselves."""

from pydantic import Field

from agents.content import MAX_PROMPT
from agents.services import drafts
from common.errors import Conflict, Forbidden, NotFound
from common.text import storable
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register


@register
class RevisePrompt(Tool):
    """Change your own prompt (your instructions), when an editor of yours asks you to. Pass the whole new prompt, with
    everything in it that shall stay. It becomes a draft in the workshop beside this chat, for people to review, try and
    save: until then you work as before."""

    name = "revise_prompt"
    effect = "write"

    class Args(ToolArgs):
        prompt: str = Field(
            min_length=1, max_length=MAX_PROMPT, description="The whole new prompt, not only the change."
        )
        reason: str = Field(max_length=400, description="What changes and why, in one sentence.")

    def run(self, ctx: ToolContext, args: Args) -> str:
        if ctx.chat_id is None or ctx.on_behalf_of is None:
            raise ToolError("Nobody in a chat has asked for this.", final=True)
        try:
            drafts.revise_prompt(
                agent=ctx.actor, person=ctx.on_behalf_of, chat_id=ctx.chat_id, prompt=storable(args.prompt),
                reason=storable(args.reason),
            )  # fmt: skip
        except (Forbidden, NotFound) as error:
            raise ToolError(_only_an_editor(ctx), final=True) from error
        except Conflict as error:
            raise ToolError(
                f"Nothing was changed: {error.message} {' '.join(error.hints)}".strip(), final=True
            ) from error
        return "Your new prompt is a draft now. Say that it waits for review in the workshop, and is not in use before that."


def _only_an_editor(ctx: ToolContext) -> str:
    if ctx.actor.is_public:
        return "Nothing was changed: you are a public agent, and nobody can change you here. Say so."
    who = ctx.on_behalf_of.name if ctx.on_behalf_of else "Whoever asks"
    return (
        f"Nothing was changed: {who} may not save you, and only an editor can have you changed. Say so, and that they can"
        " write the change in the workshop, beside this chat, and suggest it."
    )
