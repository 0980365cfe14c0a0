"""The kind of jobs that propose a new agent for a sentence about what it shall do. Nothing of the agent exists before it is
created."""

import secrets
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from common.text import normalize_name
from llm.structured import AnswerForm, InvalidAnswer, parse_answer
from runs.kinds.job import Job, JobInput
from runs.models import KindName

MAX_NAME, MAX_DESCRIPTION, MAX_QUESTION = 80, 300, 200
"""Characters at which a proposed line is cut."""
MAX_PROPOSED_PROMPT = 12_000
"""Characters of a proposed prompt. A longer one is refused, because a part of it may say the opposite."""
MAX_QUESTIONS = 3
EXPECTED_CHARACTERS = 1_500


def _cut_line(limit: int) -> AfterValidator:
    return AfterValidator(lambda text: normalize_name(text)[:limit].rstrip())


def _check_prompt(prompt: str) -> str:
    prompt = prompt.strip()
    if len(prompt) > MAX_PROPOSED_PROMPT:
        raise ValueError(f"It has more than {MAX_PROPOSED_PROMPT:,} characters: write less.")
    return prompt


def _keep_questions(questions: list[str]) -> list[str]:
    return [question for question in dict.fromkeys(questions) if question][:MAX_QUESTIONS]


class AgentProposal(BaseModel):
    """The answer of the model. Lines that are too long are cut, and fields that it has besides these are dropped."""

    model_config = ConfigDict(frozen=True)

    name: Annotated[str, Field(min_length=1, description="One to three words."), _cut_line(MAX_NAME)]
    description: Annotated[str, Field(description="What it is for, in one sentence."), _cut_line(MAX_DESCRIPTION)]
    prompt: Annotated[str, Field(min_length=1, description="The system prompt."), AfterValidator(_check_prompt)]
    questions: Annotated[
        list[Annotated[str, _cut_line(MAX_QUESTION)]],
        Field(description="Two or three questions to begin with."),
        AfterValidator(_keep_questions),
    ]


def _check_not_blank(proposal: AgentProposal) -> None:
    """Raise `InvalidAnswer` for a name or a prompt without a visible character."""
    if not (proposal.name and proposal.prompt):
        raise InvalidAnswer("The name or the prompt is empty.", code="wrong_shape")


class AgentProposalJob(Job):
    """The proposal of a new agent for a person, whom `trigger_id` names."""

    name = KindName.AGENT_PROPOSAL
    label = KindName.AGENT_PROPOSAL.label
    agent_handle = "prompt-writer"

    def build_form(self, job_input: JobInput) -> AnswerForm:
        return AnswerForm(
            "propose_agent", "Hand in the proposed agent.", AgentProposal, check=_check_not_blank, must_fit=True
        )

    def format_answer(self, text: str) -> str:
        return parse_answer(AgentProposal, text).model_dump_json()


def build_proposal_input(sentence: str) -> JobInput:
    """Return the input of a job. The sentence stands between delimiters with a random key, which it cannot contain."""
    key = secrets.token_hex(8)
    text = f"<<<sentence {key}>>>\n{sentence}\n<<<end of sentence {key}>>>"
    return JobInput(text=text, input={"sentence": sentence}, expected=EXPECTED_CHARACTERS)


AGENT_PROPOSAL = AgentProposalJob()
