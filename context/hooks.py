"""The hooks of context, which call functions of the apps above it. `config/hooks.py` lists these functions."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actors.models import Actor
from common.hooks import CollectingHook


@dataclass(frozen=True)
class SummaryJob:
    """A job that writes the summary of a chat for a person. `text`: its input for a model; `data`: this text, and the
    `until` of `continue_summary`; `expected`: characters of the answer."""

    person: Actor
    workspace_id: UUID
    chat_id: UUID
    text: str
    data: dict[str, Any]
    expected: int


# Called when a summary is to be written. The listener starts the job, and returns its id.
summary_requested: CollectingHook[[SummaryJob], UUID] = CollectingHook("summary_requested")
