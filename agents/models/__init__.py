"""Agents' tables: specs and drafts, runs and their ledger."""

from agents.models.runs import LLMCall, Run, RunState, Step
from agents.models.specs import AgentGrant, AgentSpec, AgentToolConfig, Draft, DraftWish, EarlierText, Origin

__all__ = [
    "AgentGrant",
    "AgentSpec",
    "AgentToolConfig",
    "Draft",
    "DraftWish",
    "EarlierText",
    "LLMCall",
    "Origin",
    "Run",
    "RunState",
    "Step",
]
