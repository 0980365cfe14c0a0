"""The services of context."""

from context.services.corrections import correct_sentence, undo_correction
from context.services.settings import change_context_settings
from context.services.strategies import record_strategy
from context.services.summaries import request_summary, request_summary_on_commit, start_due_summary

__all__ = [
    "change_context_settings",
    "correct_sentence",
    "record_strategy",
    "request_summary",
    "request_summary_on_commit",
    "start_due_summary",
    "undo_correction",
]
