"""The outcome of a merge: a copy, the answer of a model or service, or a merge line by line if that answer cannot be used."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agents.specs.content import SpecContent
from agents.specs.fields import flatten_spec
from agents.specs.merging import Contribution, merge_contributions, merge_fields
from common.errors import Code
from events.rows import Contributor, MergeMethod, Provenance
from llm.endpoints import DEMO_MODEL
from runs.models import Run, RunState
from suggestions.job_inputs import NamedSuggestion, name_suggestions
from suggestions.merge_answer import InvalidMergeAnswer, build_merged_prompt
from suggestions.models import Merge, Suggestion

MERGE_SERVICE = "merge_service"
"""The provider in the stamp of a run that an external service answered."""
DEMO_CODE = "demo_model"
"""The error code of a merge by the demo model, which cannot merge: it was done line by line."""


@dataclass(frozen=True)
class Outcome:
    """A merged spec, and the contributors of its parts.

    `error_code` (an `InvalidReason`, `DEMO_CODE`, or the error code of the job) and `error` say why the answer of the model or
    service was not used.
    """

    content: SpecContent
    provenance: Provenance
    method: MergeMethod
    error_code: str = ""
    error: str = ""


def lock_chosen_suggestions(merge: Merge) -> list[Suggestion]:
    """Lock the suggestions of a merge, and return those that exist and are for its agent, the oldest first.

    If two suggestions add lines at the same place, the lines have this order, too.
    """
    rows = Suggestion.objects.select_related("agent", "author", "base", "decided_by").filter(
        agent=merge.agent_id, pk__in=merge.chosen
    )
    found = rows.order_by("pk").select_for_update(of=("self",))
    return sorted(found, key=lambda suggestion: (suggestion.created_at, suggestion.pk))


def _build_contribution(suggestion: Suggestion) -> Contribution:
    """Build the contribution that a suggestion makes. The id of its contributor is the id of the suggestion."""
    title = suggestion.note.strip().partition("\n")[0][:90]
    contributor = Contributor(id=suggestion.id, actor_id=suggestion.author_id, name=suggestion.author.name, title=title)
    return Contribution(contributor, suggestion.base.parse_content(), suggestion.parse_content())


def build_named_suggestions(suggestions: Sequence[Suggestion]) -> list[NamedSuggestion]:
    """Return the suggestions with the short names by which the merge agent refers to them."""
    contributions = [_build_contribution(suggestion) for suggestion in suggestions]
    return name_suggestions(contributions, [suggestion.note for suggestion in suggestions])


def build_copied_outcome(merge: Merge, suggestion: Suggestion) -> Outcome:
    """Return the outcome for a single suggestion made on the current production version: its spec, unchanged."""
    return Outcome(suggestion.parse_content(), _merge_line_by_line(merge, [suggestion]).provenance, MergeMethod.COPIED)


def get_job_outcome(run: Run, merge: Merge, suggestions: Sequence[Suggestion]) -> Outcome:
    """Return the outcome of a finished job. Raises `TooLarge` if the suggestions together are more than a spec can hold."""
    if run.state != RunState.COMPLETED:
        return _merge_line_by_line(merge, suggestions, run.error_code or Code.INTERNAL, run.error)
    try:
        return _read_answer(run, merge, suggestions)
    except InvalidMergeAnswer as error:
        if _get_provider(run) == DEMO_MODEL:
            return _merge_line_by_line(merge, suggestions, DEMO_CODE, "The demo model merges line by line.")
        return _merge_line_by_line(merge, suggestions, error.reason, str(error))


def _get_provider(run: Run) -> str | None:
    return run.stamp.get("provider") if run.stamp else None


def _read_answer(run: Run, merge: Merge, suggestions: Sequence[Suggestion]) -> Outcome:
    """Return the outcome with the prompt of the answer. All other fields are merged by rule. Raises `InvalidMergeAnswer`."""
    production, named = merge.base.parse_content(), build_named_suggestions(suggestions)
    prompt = build_merged_prompt(run.answer, production.prompt, named)
    content, field_conflicts = merge_fields(production, [suggestion.contribution for suggestion in named])
    provenance = Provenance(
        origin="merge",
        merge_id=merge.id,
        contributors=[suggestion.contribution.contributor for suggestion in named],
        segments=prompt.segments,
        conflicts=prompt.conflicts + field_conflicts,
    )
    method = MergeMethod.EXTERNAL if _get_provider(run) == MERGE_SERVICE else MergeMethod.AGENT
    content = content.model_copy(update={"prompt": prompt.text})
    return Outcome(content, provenance, method)


def _merge_line_by_line(
    merge: Merge, suggestions: Sequence[Suggestion], error_code: str = "", error: str = ""
) -> Outcome:
    contributions = [_build_contribution(suggestion) for suggestion in suggestions]
    merged = merge_contributions(merge.base.parse_content(), contributions)
    # Leave out empty segments, except those of a conflict: there the chosen option deletes the lines.
    segments = [segment for segment in merged.segments if segment.text or segment.conflict is not None]
    provenance = Provenance(
        origin="merge",
        merge_id=merge.id,
        contributors=[contribution.contributor for contribution in contributions],
        segments=segments,
        conflicts=merged.conflicts,
    )
    return Outcome(merged.content, provenance, MergeMethod.TEXT, error_code, error)


def get_stored_outcome(merge: Merge) -> Outcome | None:
    """Return the stored outcome of a merge whose draft could not be created, or null if it has none."""
    if merge.content is None or merge.result is None:
        return None
    content = SpecContent.model_validate(merge.content)
    provenance = Provenance.model_validate(merge.result)
    return Outcome(content, provenance, MergeMethod(merge.method), merge.fallback_code, merge.fallback)


def is_used(suggestion: Suggestion, content: SpecContent, provenance: Provenance | None) -> bool:
    """Return whether a version contains anything of a suggestion. Blank lines do not count.

    That is a changed field, a line that the suggestion adds, or a line that is attributed to it. If the suggestion adds no line,
    the absence of a line that it removes counts, too.
    """
    base, proposed = suggestion.base.parse_content(), suggestion.parse_content()
    old_fields, new_fields, fields = flatten_spec(base), flatten_spec(proposed), flatten_spec(content)
    for name in {*old_fields, *new_fields}:
        if new_fields.get(name) != old_fields.get(name) and fields.get(name) == new_fields.get(name):
            return True

    before, after, saved = _count_lines(base.prompt), _count_lines(proposed.prompt), _count_lines(content.prompt)
    added, removed = after - before, before - after
    if any(saved[line] > before[line] for line in added):
        return True
    if not added and any(saved[line] < before[line] for line in removed):
        return True
    if not added and not removed and base.prompt != proposed.prompt:
        return content.prompt != base.prompt  # The suggestion moves lines or changes blank ones.

    segments = provenance.segments if provenance else []
    attributed: Counter[str] = Counter()
    for segment in segments:
        if suggestion.pk in segment.contributors:
            attributed += _count_lines(segment.text)
    return any(saved[line] > before[line] for line in attributed)


def _count_lines(text: str) -> Counter[str]:
    return Counter(line.strip() for line in text.split("\n") if line.strip())
