"""What comes of merging: by copying, by what a model or a service answered, or line by line when that is of no use."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from agents.specs.content import SpecContent
from agents.specs.merging import Proposal, flatten_spec, merge_fields, merge_proposals
from common.errors import Code
from events.rows import Contributor, Provenance
from runs.models import Run, RunState
from suggestions.briefs import Named, named
from suggestions.merge_answer import Unusable, merged_prompt
from suggestions.models import Merge, Suggestion

EXTERNAL = "merge_service"


@dataclass(frozen=True)
class Outcome:
    """A spec, and whose words it is made of. `error_code` and `error` say why it is not by whom it was asked of: a
    `Why`, or the code of the job."""

    content: SpecContent
    provenance: Provenance
    method: str
    error_code: str = ""
    error: str = ""


def suggestions_of(merge: Merge) -> list[Suggestion]:
    """Those that were chosen and are there, for its agent, in the order given; their rows are locked."""
    rows = Suggestion.objects.select_related("agent", "author", "base", "decided_by").filter(
        agent=merge.agent_id, pk__in=merge.chosen
    )
    found = rows.order_by("pk").select_for_update(of=("self",))
    return sorted(found, key=lambda suggestion: merge.chosen.index(suggestion.pk))


def proposals(suggestions: Sequence[Suggestion]) -> list[Proposal]:
    """Each with the version that it was made on; its contributor has the suggestion's id."""
    return [Proposal(_contributor(one), one.base.content(), one.proposed()) for one in suggestions]


def _contributor(suggestion: Suggestion) -> Contributor:
    title = suggestion.note.strip().partition("\n")[0][:90]
    return Contributor(id=suggestion.id, actor_id=suggestion.author_id, name=suggestion.author.name, title=title)


def named_for(suggestions: Sequence[Suggestion]) -> list[Named]:
    """Under the names by which a merge agent knows them."""
    return named(proposals(suggestions), [one.note for one in suggestions])


def copied(merge: Merge, suggestions: Sequence[Suggestion]) -> Outcome:
    """One suggestion that was made on today's production, as it is."""
    by_line = _line_by_line(merge, suggestions)
    return Outcome(suggestions[0].proposed(), by_line.provenance, "copied")


def outcome_of(run: Run, merge: Merge, suggestions: Sequence[Suggestion]) -> Outcome:
    """What a job came to. Raises `TooLarge` when the suggestions together are more than an agent can be given."""
    if run.state != RunState.COMPLETED:
        return _line_by_line(merge, suggestions, run.error_code or Code.INTERNAL, run.error)
    try:
        return _as_answered(run, merge, suggestions)
    except Unusable as error:
        return _line_by_line(merge, suggestions, error.why, str(error))


def _as_answered(run: Run, merge: Merge, suggestions: Sequence[Suggestion]) -> Outcome:
    production, all_ = merge.base.content(), named_for(suggestions)
    prompt = merged_prompt(run.answer, production.prompt, all_)
    content, about_fields = merge_fields(production, [one.proposal for one in all_])
    provenance = Provenance(
        origin="merge", merge_id=merge.id, contributors=[one.proposal.contributor for one in all_], segments=prompt.segments,
        conflicts=prompt.conflicts + about_fields,
    )  # fmt: skip
    is_external = run.stamp is not None and run.stamp.get("provider") == EXTERNAL
    whole = content.model_copy(update={"prompt": prompt.text})
    return Outcome(whole, provenance, "external" if is_external else "agent")


def _line_by_line(merge: Merge, suggestions: Sequence[Suggestion], error_code: str = "", error: str = "") -> Outcome:
    all_ = proposals(suggestions)
    done = merge_proposals(merge.base.content(), all_)
    # Behind a last line end stands an empty line, which is nobody's; where nothing stands by choice, it is a conflict's.
    segments = [segment for segment in done.segments if segment.text or segment.conflict is not None]
    provenance = Provenance(
        origin="merge",
        merge_id=merge.id,
        contributors=[one.contributor for one in all_],
        segments=segments,
        conflicts=done.conflicts,
    )
    return Outcome(done.content, provenance, "text", error_code, error)


def kept(merge: Merge) -> Outcome | None:
    """What an earlier try came to and could not place."""
    if merge.content is None or merge.result is None:
        return None
    content = SpecContent.model_validate(merge.content)
    provenance = Provenance.model_validate(merge.result)
    return Outcome(content, provenance, merge.method, merge.fallback_code, merge.fallback)


def is_used(suggestion: Suggestion, content: SpecContent, provenance: Provenance | None) -> bool:
    """Return whether anything of a suggestion is in the version that its draft became: a field, a line that it adds or removes, or
    a line that was made of its words. Blank lines do not count."""
    base, wanted = suggestion.base.content(), suggestion.proposed()
    was, wants, has = flatten_spec(base), flatten_spec(wanted), flatten_spec(content)
    if any(wants.get(name) != was.get(name) and has.get(name) == wants.get(name) for name in {*was, *wants}):
        return True
    before, after, now = _lines(base.prompt), _lines(wanted.prompt), _lines(content.prompt)
    adds, takes_out = after - before, before - after
    if any(now[line] > before[line] for line in adds):
        return True
    if not adds and any(now[line] < before[line] for line in takes_out):
        return True
    if not adds and not takes_out and base.prompt != wanted.prompt:
        return content.prompt != base.prompt  # it moves lines, or parts them by blank ones
    segments = provenance.segments if provenance else []
    made = sum((_lines(segment.text) for segment in segments if suggestion.pk in segment.contributors), Counter[str]())
    return any(now[line] > before[line] for line in made)


def _lines(text: str) -> Counter[str]:
    return Counter(line.strip() for line in text.split("\n") if line.strip())
