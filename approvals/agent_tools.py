"""The tool by which an agent asks a person a question."""

from typing import Self

from pydantic import Field, model_validator

from common.text import to_storable
from events.payloads import MAX_CHOICE_DESCRIPTION, MAX_CHOICES, MAX_LABEL, MAX_QUESTION, Question, QuestionChoice
from tools.interface import Tool, ToolArgs, ToolContext, ToolError
from tools.registry import register


class ChoiceArgs(ToolArgs):
    label: str = Field(min_length=1, max_length=MAX_LABEL, description="The answer, in a few words.")
    description: str = Field(default="", max_length=MAX_CHOICE_DESCRIPTION, description="What it means, if needed.")


@register
class AskUser(Tool):
    """Ask the person you work for a question, and wait for the answer. Ask only what you cannot find out and need to go on;
    offer choices if the likely answers are few."""

    name = "ask_user"
    effect = "read"
    is_trusted = True
    is_question = True

    class Args(ToolArgs):
        question: str = Field(
            min_length=1, max_length=MAX_QUESTION, description="The question, in one or two sentences."
        )
        choices: list[ChoiceArgs] = Field(default=[], max_length=MAX_CHOICES, description="Answers to choose from.")
        allow_free_answer: bool = Field(default=True, description="Whether the person may write another answer.")

        @model_validator(mode="after")
        def check_answerable(self) -> Self:
            """Raise `ValueError` for a question that cannot be answered."""
            if not self.choices and not self.allow_free_answer:
                raise ValueError("a question has choices or allows a free answer")
            return self

    def build_question(self, args: ToolArgs) -> Question | None:
        if not isinstance(args, self.Args):
            raise TypeError(f"{type(args).__name__} are not the arguments of {self.name}.")
        choices = [
            QuestionChoice(label=to_storable(choice.label), description=to_storable(choice.description))
            for choice in args.choices
        ]
        return Question(text=to_storable(args.question), choices=choices, allow_free_answer=args.allow_free_answer)

    def run(self, ctx: ToolContext, args: Args) -> str:
        # The toolbox asks the question and does not run the call, unless nobody can be asked.
        raise ToolError("Nobody can be asked here. Go on without an answer, and say what you assumed.", is_final=True)
