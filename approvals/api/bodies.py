"""The bodies of requests about approvals."""

from typing import Annotated

from pydantic import Field

from approvals.services.deciding import PersonDecision
from common.rest import Body
from events.payloads import MAX_ANSWER, MAX_CHOICES, MAX_NOTE
from tools.interface import MAX_ARGUMENT_CHARACTERS


class DecideBody(Body):
    decision: PersonDecision
    """A call is `approved`, `approved_for_run` (also equal calls of the run) or `refused`; a question is `answered`."""
    arguments: Annotated[str, Field(max_length=MAX_ARGUMENT_CHARACTERS)] | None = None
    """JSON text that replaces the arguments of an approved call."""
    note: str = Field(default="", max_length=MAX_NOTE)
    """A text for the agent."""
    choice: Annotated[int, Field(ge=0, lt=MAX_CHOICES)] | None = None
    """The index of the choice that answers a question."""
    answer: str = Field(default="", max_length=MAX_ANSWER)
    """The text that answers a question, instead of `choice`."""
