"""The inputs of the jobs that summarize and merge suggestions: as text for a model, and as data for a service.

Each text of a person stands between two delimiters. They contain a random key, new for each job, which the author cannot have
known, so no text can end its part and begin another. `merge_answer` decides what the answer may change.
"""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actors.models import Actor
from agents.specs.content import SpecContent
from agents.specs.merging import Proposal
from events.rows import DiffRow
from runs.kinds.job import JobInput

LANGUAGES = {"en": "English", "zh-hant": "Traditional Chinese", "zh-hans": "Simplified Chinese"}
MAX_DIFF = 40_000
"""The number of characters of a diff that a model reads to summarize it."""
SUMMARY_LENGTH = 300
ANSWER = """{"segments": [{"text": "whole lines of the merged prompt", "from": ["s1"]}],
 "conflicts": [{"question": "what has to be decided", "between": ["s1", "s2"],
                "choices": [{"from": "s1", "text": "..."}, {"from": "s2", "text": "..."}], "chosen": 0}]}"""


def delimit(name: str, text: str, key: str) -> str:
    """Return a text between its delimiters."""
    return f"<<<{name} {key}>>>\n{text}\n<<<end of {name} {key}>>>"


def build_summary_input(change: DiffRow, *, agent: Actor, note: str, language: str) -> JobInput:
    """Return the input of a summary: the changes, the author's note, and the language of the answer."""
    key, spoken = secrets.token_hex(8), LANGUAGES.get(language, "English")
    data = {
        "agent": agent.name, "language": spoken, "note": note, "prompt_diff": change.prompt[:MAX_DIFF],
        "fields": [field.model_dump(mode="json") for field in change.fields],
    }  # fmt: skip
    fields = "\n".join(
        f"- {field.field}: {_format_value(field.before)} -> {_format_value(field.after)}" for field in change.fields
    )
    text = "\n\n".join(
        [
            f"Answer in {spoken}.",
            f"Agent: {agent.name}",
            delimit("note", note or "(none)", key),
            delimit("fields", fields or "(none)", key),
            delimit("prompt diff", change.prompt[:MAX_DIFF] or "(none)", key),
        ]
    )
    return JobInput(text=text, input=data, expected=SUMMARY_LENGTH)


def _format_value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else f"{text[:400]}…"


@dataclass(frozen=True)
class NamedProposal:
    """A proposal with its author's note, under the short name that the agent reads (`s1`)."""

    name: str
    proposal: Proposal
    note: str


def name_proposals(proposals: Sequence[Proposal], notes: Sequence[str]) -> list[NamedProposal]:
    """Name the proposals `s1`, `s2`, … in this order."""
    return [
        NamedProposal(f"s{number}", proposal, note)
        for number, (proposal, note) in enumerate(zip(proposals, notes, strict=True), 1)
    ]


def build_merge_input(
    id: UUID, *, agent: Actor, production: SpecContent, suggestions: Sequence[NamedProposal]
) -> JobInput:
    """Return the input of a merge: the production prompt, and the prompt of each suggestion.

    All other fields of a spec are merged by rule. `id`: of the merge, for an external service.
    """
    key = secrets.token_hex(8)
    parts = [f"Agent: {agent.name}", delimit("production", production.prompt, key)]
    for one in suggestions:
        parts += _format_suggestion(one, production, key)
    parts.append(
        f"Merge the prompts of {', '.join(one.name for one in suggestions)} into one. Answer in JSON:\n{ANSWER}"
    )
    prompts = [production.prompt, *(one.proposal.content.prompt for one in suggestions)]
    expected = max(map(len, prompts)) + 80 * max(prompt.count("\n") + 1 for prompt in prompts)
    data = {
        "id": str(id), "agent": agent.name, "production": production.prompt,
        "suggestions": [_build_data(one, production) for one in suggestions],
    }  # fmt: skip
    return JobInput(text="\n\n".join(parts), input=data, expected=expected)


def _format_suggestion(one: NamedProposal, production: SpecContent, key: str) -> list[str]:
    proposal, name = one.proposal, one.name
    parts = [f"Suggestion {name}, by {proposal.contributor.name}:"]
    if one.note:
        parts.append(delimit(f"{name} note", one.note, key))
    if proposal.base.prompt != production.prompt:
        parts.append(delimit(f"{name} was made on", proposal.base.prompt, key))
    return [*parts, delimit(f"{name} prompt", proposal.content.prompt, key)]


def _build_data(one: NamedProposal, production: SpecContent) -> dict[str, Any]:
    proposal = one.proposal
    older = proposal.base.prompt if proposal.base.prompt != production.prompt else None
    return {
        "name": one.name, "author": proposal.contributor.name, "note": one.note, "prompt": proposal.content.prompt,
        "made_on": older,
    }  # fmt: skip
