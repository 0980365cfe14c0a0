"""The bodies of requests about approvals."""

from typing import Annotated

from pydantic import Field

from approvals.services.deciding import PersonDecision
from common.rest import Body
from events.payloads import MAX_ANSWER, MAX_CHOICES, MAX_NOTE
from tools.interface import MAX_ARGUMENT_CHARACTERS


class DecideBody(Body):
    """`arguments`: JSON text that replaces the arguments of an approved call. `note`: words for the agent. A question is `answered`
    by the index of a `choice` or by a text, `answer`."""

    decision: PersonDecision
    arguments: Annotated[str, Field(max_length=MAX_ARGUMENT_CHARACTERS)] | None = None
    note: str = Field(default="", max_length=MAX_NOTE)
    choice: Annotated[int, Field(ge=0, lt=MAX_CHOICES)] | None = None
    answer: str = Field(default="", max_length=MAX_ANSWER)
