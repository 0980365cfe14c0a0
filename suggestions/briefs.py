"""What the shipped agents read: a summary's brief and a merge's, as text for a model and as data for a service.

People's texts stand between marks that carry a random key, made anew for each brief, which nobody could know when they
wrote: a text cannot end its part and begin another. What the answer may change is settled where it is read, not here
(`merge_answer`).
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
"""Characters of a diff that a summarizer reads: more says nothing that three sentences could."""
SUMMARY_LENGTH = 300
ANSWER = """{"segments": [{"text": "whole lines of the merged prompt", "from": ["s1"]}],
 "conflicts": [{"question": "what has to be decided", "between": ["s1", "s2"],
                "choices": [{"from": "s1", "text": "..."}, {"from": "s2", "text": "..."}], "chosen": 0}]}"""


def part(name: str, text: str, key: str) -> str:
    """A text of somebody's, between marks of its own."""
    return f"<<<{name} {key}>>>\n{text}\n<<<end of {name} {key}>>>"


def summary_brief(change: DiffRow, *, agent: Actor, note: str, language: str) -> JobInput:
    """What changes from one spec to the other, in whose words, and the language to say it in."""
    key, spoken = secrets.token_hex(8), LANGUAGES.get(language, "English")
    data = {
        "agent": agent.name, "language": spoken, "note": note, "prompt_diff": change.prompt[:MAX_DIFF],
        "fields": [field.model_dump(mode="json") for field in change.fields],
    }  # fmt: skip
    fields = "\n".join(f"- {field.field}: {_short(field.before)} -> {_short(field.after)}" for field in change.fields)
    text = "\n\n".join(
        [
            f"Answer in {spoken}.",
            f"Agent: {agent.name}",
            part("note", note or "(none)", key),
            part("fields", fields or "(none)", key),
            part("prompt diff", change.prompt[:MAX_DIFF] or "(none)", key),
        ]
    )
    return JobInput(text=text, input=data, expected=SUMMARY_LENGTH)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else f"{text[:400]}…"


@dataclass(frozen=True)
class Named:
    """A proposal under the short name that the agent knows it by (`s1`), with its author's note."""

    name: str
    proposal: Proposal
    note: str


def named(proposals: Sequence[Proposal], notes: Sequence[str]) -> list[Named]:
    """`s1`, `s2`, … in the order given."""
    return [
        Named(f"s{number}", proposal, note)
        for number, (proposal, note) in enumerate(zip(proposals, notes, strict=True), 1)
    ]


def merge_brief(id: UUID, *, agent: Actor, production: SpecContent, suggestions: Sequence[Named]) -> JobInput:
    """The production prompt and what each suggestion makes of it. Only the prompt is asked about: everything else of a spec
    is merged by rule. `id` is the merge's, for a service outside."""
    key = secrets.token_hex(8)
    parts = [f"Agent: {agent.name}", part("production", production.prompt, key)]
    for one in suggestions:
        parts += _parts(one, production, key)
    parts.append(
        f"Merge the prompts of {', '.join(one.name for one in suggestions)} into one. Answer in JSON:\n{ANSWER}"
    )
    prompts = [production.prompt, *(one.proposal.content.prompt for one in suggestions)]
    expected = max(map(len, prompts)) + 80 * max(prompt.count("\n") + 1 for prompt in prompts)
    data = {
        "id": str(id), "agent": agent.name, "production": production.prompt,
        "suggestions": [_as_data(one, production) for one in suggestions],
    }  # fmt: skip
    return JobInput(text="\n\n".join(parts), input=data, expected=expected)


def _parts(one: Named, production: SpecContent, key: str) -> list[str]:
    proposal, name = one.proposal, one.name
    parts = [f"Suggestion {name}, by {proposal.contributor.name}:"]
    if one.note:
        parts.append(part(f"{name} note", one.note, key))
    if proposal.base.prompt != production.prompt:
        parts.append(part(f"{name} was made on", proposal.base.prompt, key))
    return [*parts, part(f"{name} prompt", proposal.content.prompt, key)]


def _as_data(one: Named, production: SpecContent) -> dict[str, Any]:
    proposal = one.proposal
    older = proposal.base.prompt if proposal.base.prompt != production.prompt else None
    return {
        "name": one.name, "author": proposal.contributor.name, "note": one.note, "prompt": proposal.content.prompt,
        "made_on": older,
    }  # fmt: skip
