"""The services of suggestions and merges."""

from suggestions.services.deciding import reject_suggestion, withdraw_suggestion
from suggestions.services.merges import (
    accept_suggestion,
    merge_suggestions,
    retry_merge,
    stop_merge,
)
from suggestions.services.suggesting import suggest_draft, suggest_spec
from suggestions.services.summaries import summarize_suggestion
from suggestions.services.unused import read_draft_suggestions

__all__ = [
    "accept_suggestion",
    "merge_suggestions",
    "read_draft_suggestions",
    "reject_suggestion",
    "retry_merge",
    "stop_merge",
    "suggest_draft",
    "suggest_spec",
    "summarize_suggestion",
    "withdraw_suggestion",
]
