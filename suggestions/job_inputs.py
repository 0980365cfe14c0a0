"""The inputs of the jobs that summarize and merge suggestions: as text for a model, and as data for a service.

Each text of a person, except a name, is placed between two delimiters. They contain a random key, new for each job, which the
author cannot have known, so no text can end its own part and begin another. `merge_answer` checks the answer.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from actors.models import Actor
from agents.specs.content import SpecContent
from agents.specs.merging import Contribution
from common.ids import new_id
from events.rows import Contributor, DiffRow
from runs.kinds.job import JobInput

LANGUAGE_NAMES = {"en": "English", "zh-hant": "Traditional Chinese", "zh-hans": "Simplified Chinese"}
MAX_DIFF = 40_000
"""The number of characters of a diff that the summarizer reads at most."""
SUMMARY_LENGTH = 300
"""The number of characters that a summary is expected to have."""
MERGE_ANSWER_EXAMPLE = """{"segments": [{"text": "whole lines of the merged prompt", "from": ["s1"]}],
 "conflicts": [{"question": "what has to be decided", "between": ["s1", "s2"],
                "choices": [{"from": "s1", "text": "..."}, {"from": "s2", "text": "..."}], "chosen": 0}]}"""


def delimit(name: str, text: str, key: str) -> str:
    """Return a text between its delimiters."""
    return f"<<<{name} {key}>>>\n{text}\n<<<end of {name} {key}>>>"


def build_summary_input(change: DiffRow, *, agent: Actor, note: str, language: str) -> JobInput:
    """Build the input of a summary: the changes, the author's note, and the language of the answer."""
    key = secrets.token_hex(8)
    language_name = LANGUAGE_NAMES.get(language, "English")
    data = {
        "agent": agent.name,
        "language": language_name,
        "note": note,
        "prompt_diff": change.prompt[:MAX_DIFF],
        "fields": [field.model_dump(mode="json") for field in change.fields],
    }
    fields = "\n".join(
        f"- {field.field}: {_format_value(field.before)} -> {_format_value(field.after)}" for field in change.fields
    )
    text = "\n\n".join(
        [
            f"Answer in {language_name}.",
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
class NamedSuggestion:
    """The contribution of a suggestion, its author's note, and the short name by which the merge agent refers to it (`s1`)."""

    name: str
    contribution: Contribution
    note: str


def name_suggestions(contributions: Sequence[Contribution], notes: Sequence[str]) -> list[NamedSuggestion]:
    """Name the suggestions `s1`, `s2`, … in this order."""
    return [
        NamedSuggestion(f"s{number}", contribution, note)
        for number, (contribution, note) in enumerate(zip(contributions, notes, strict=True), 1)
    ]


def build_merge_input(
    id: UUID, *, agent: Actor, production: SpecContent, suggestions: Sequence[NamedSuggestion]
) -> JobInput:
    """Build the input of a merge: the production prompt, and the prompt of each suggestion.

    All other fields of a spec are merged by rule. `id` is the id of the merge, which an external service receives.
    """
    key = secrets.token_hex(8)
    parts = [f"Agent: {agent.name}", delimit("production", production.prompt, key)]
    for suggestion in suggestions:
        contribution, name = suggestion.contribution, suggestion.name
        parts.append(f"Suggestion {name}, by {contribution.contributor.name}:")
        if suggestion.note:
            parts.append(delimit(f"{name} note", suggestion.note, key))
        if contribution.base.prompt != production.prompt:
            parts.append(delimit(f"{name} was made on", contribution.base.prompt, key))
        parts.append(delimit(f"{name} prompt", contribution.content.prompt, key))
    names = ", ".join(suggestion.name for suggestion in suggestions)
    parts.append(f"Merge the prompts of {names} into one. Answer in JSON:\n{MERGE_ANSWER_EXAMPLE}")
    prompts = [production.prompt, *(suggestion.contribution.content.prompt for suggestion in suggestions)]
    # The expected characters of the answer: the longest prompt, and 80 characters of JSON around each line.
    expected = max(map(len, prompts)) + 80 * max(prompt.count("\n") + 1 for prompt in prompts)
    data = {
        "id": str(id),
        "agent": agent.name,
        "production": production.prompt,
        "suggestions": [_build_suggestion_data(suggestion, production) for suggestion in suggestions],
    }
    return JobInput(text="\n\n".join(parts), input=data, expected=expected)


def parse_merge_input(data: Mapping[str, Any]) -> tuple[str, list[NamedSuggestion]]:
    """Return the production prompt and the suggestions of a merge from the data of its input. Of the specs, only the prompts are
    known, and the contributors have new ids."""
    production = data["production"]
    suggestions = [
        NamedSuggestion(
            item["name"],
            Contribution(
                Contributor(id=new_id(), actor_id=new_id(), name=item["author"]),
                SpecContent(prompt=production if item["base_prompt"] is None else item["base_prompt"]),
                SpecContent(prompt=item["prompt"]),
            ),
            item["note"],
        )
        for item in data["suggestions"]
    ]
    return production, suggestions


def _build_suggestion_data(suggestion: NamedSuggestion, production: SpecContent) -> dict[str, Any]:
    contribution = suggestion.contribution
    return {
        "name": suggestion.name,
        "author": contribution.contributor.name,
        "note": suggestion.note,
        "prompt": contribution.content.prompt,
        "base_prompt": contribution.base.prompt if contribution.base.prompt != production.prompt else None,
    }
