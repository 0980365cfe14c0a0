"""A run that this process has claimed, with what was read and computed for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from context.earlier import EarlierContext
from context.retrieval import Vector
from events.rows import Policy
from llm.endpoints import StoredSettings
from llm.sent_requests import RequestRecorder
from memory.selectors import ReadMemory
from runs.models import Run


@dataclass
class ClaimedRun:
    """A run that this process has claimed. `row` is the run as it was claimed; only `attempt` rises, with each retry of an answer.

    Each step reads the stored run again and changes that row. The other fields are known to this process only: whatever depends on
    them gets this object beside the stored row.
    """

    row: Run
    usage_rules: Mapping[str, Any] | None = None
    """Budgets and prices, as the claim has read them; null: they are read when they are needed."""
    has_notes: bool = True
    """Whether its agent may have notes."""
    stored_settings: StoredSettings | None = None
    """What decides which model answers, as the claim has read it; null: it is read when it is needed."""
    tool_policies: Mapping[str, Policy] | None = None
    """The policies of the workspace for tools, as the claim has read them; null: they are read when they are needed."""
    participants: Sequence[Mapping[str, Any]] | None = None
    """The participants of its chat, as the claim has read them; null: they are read when they are needed."""
    calls_of_other_runs: int | None = None
    """How many calls the other runs of its tree have made, if that was read for several runs that were claimed together."""
    memory: ReadMemory | None = None
    """What its model reads of the agent's memory; null: nothing, or not any more."""
    has_outside_texts: bool | None = None
    """Whether its model reads texts from outside besides those of the chat (FAIR8); null: the run was not prepared."""
    earlier_context: EarlierContext | None = None
    """What its model reads of the older messages of a long chat."""
    request_vector: Vector | None = None
    """The embedding of the message that it answers, if older messages are searched by it."""
    request_recorder: RequestRecorder | None = None
    """What keeps the requests that are sent to its model."""
