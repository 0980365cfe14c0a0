"""Merge proposals to change a spec, without a model: line by line in the prompt, field by field elsewhere.

A three-way merge. It starts from production and applies one proposal after the other. For each proposal it compares three
texts: the version that the proposal was made on (`base`), the result so far (`ours`) and the proposed text (`theirs`).

* If only one of `ours` and `theirs` differs from `base`, that one is used.
* If both made the same change, it has several contributors.
* If they made different changes, a conflict lists the text of each contributor. The first contributor's is used.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ValidationError

from agents.specs.content import MAX_PROMPT, SpecContent, ToolUse
from agents.specs.matching import Same, align_three, find_common_stretches
from common.errors import TooLarge
from events.rows import Choice, Conflict, Contributor, Segment


@dataclass(frozen=True)
class Proposal:
    """A proposed spec, and the version that it was made on.

    `segments` attribute parts of its prompt to other contributors; if there are none, all of its changes are by `contributor`.
    """

    contributor: Contributor
    base: SpecContent
    content: SpecContent
    segments: Sequence[Segment] = ()


@dataclass(frozen=True)
class Merged:
    """A merged spec. The texts of `segments`, joined, are its prompt. A segment names its conflict by the index in `conflicts`."""

    content: SpecContent
    segments: list[Segment]
    conflicts: list[Conflict]


def merge_proposals(production: SpecContent, proposals: Sequence[Proposal]) -> Merged:
    """Merge all proposals in order. Raises `TooLarge` if the result is more than a spec can hold."""
    lines = [_Line(text) for text in production.prompt.split("\n")]
    for proposal in proposals:
        lines = list(_apply_proposal(lines, proposal))

    # A later proposal may have replaced all lines of a disagreement by those of a wider one.
    disagreements = list(dict.fromkeys(line.disagreement for line in lines if line.disagreement))
    segments = _group_lines(lines, disagreements)
    prompt = "".join(segment.text for segment in segments)

    content, field_conflicts = merge_fields(production, proposals)
    conflicts = [disagreement.to_conflict() for disagreement in disagreements] + field_conflicts
    return Merged(_validate_spec(content.model_dump() | {"prompt": prompt}), segments, conflicts)


def _validate_spec(content: dict[str, Any]) -> SpecContent:
    try:
        return SpecContent.model_validate(content)
    except ValidationError as error:
        hint = f"A prompt has up to {MAX_PROMPT:,} characters, a spec up to 64 tools."
        raise TooLarge("Together this is more than an agent can be given.", hints=[hint]) from error


# --- the prompt ---------------------------------------------------------------------------------------------------


_Option = tuple[UUID | None, list[str]]
"""A contributor (null: production) and the lines that they want in one stretch of the prompt."""


class _Disagreement:
    """A stretch of the prompt for which contributors want different lines. `chosen` is the index of the option in use."""

    def __init__(self, options: list[_Option], chosen: int) -> None:
        self.options = options
        self.chosen = chosen

    def to_conflict(self) -> Conflict:
        choices = [Choice(contributor=contributor, text="\n".join(lines)) for contributor, lines in self.options]
        return Conflict(about="prompt", question="", choices=choices, chosen=self.chosen)


@dataclass(frozen=True)
class _Line:
    """A line of the merged prompt. Lines of production have no contributors.

    If `text` is null, this is no line but the record of a deletion: `contributors` want no lines at this position.
    """

    text: str | None
    contributors: tuple[UUID, ...] = ()
    disagreement: _Disagreement | None = None


def _apply_proposal(lines: list[_Line], proposal: Proposal) -> Iterator[_Line]:
    """Yield the merged lines after a proposal, given those before it."""
    indexes = [index for index, line in enumerate(lines) if line.text is not None]
    # The lines of a disagreement never match the base, so a change to one of them is compared with all of them.
    ours = [f"\0{index}" if lines[index].disagreement else str(lines[index].text) for index in indexes]
    base = proposal.base.prompt.split("\n")
    theirs = _split_segments(proposal.segments or [Segment(text=proposal.content.prompt)])

    start = 0
    for part in align_three(base, ours, _get_texts(theirs)):
        if isinstance(part, Same):
            end = indexes[part.ours.stop - 1] + 1
            yield from lines[start:end]
        else:
            # Deletions before the next common line are in the gap, so a change beside them is compared with them.
            end = indexes[part.ours.stop] if part.ours.stop < len(indexes) else len(lines)
            yield from _merge_gap(
                lines[start:end],
                base[part.base.start : part.base.stop],
                theirs[part.theirs.start : part.theirs.stop],
                proposal.contributor.id,
            )
        start = end
    yield from lines[start:]


def _merge_gap(ours: list[_Line], base: list[str], theirs: list[_Line], contributor: UUID) -> list[_Line]:
    """Return the merged lines of a stretch in which the three texts differ. `theirs` are the contributor's lines."""
    our_texts, their_texts = _get_texts(ours), _get_texts(theirs)
    is_ours_unchanged = our_texts == base and not any(line.contributors or line.disagreement for line in ours)
    if their_texts == base:
        return ours
    if our_texts == their_texts:
        return [_add_contributor(line, contributor) for line in ours]
    if is_ours_unchanged:
        return _attribute(theirs, contributor)
    if not any([*our_texts, *their_texts]):  # They differ in the number of blank lines only.
        return ours
    return _build_disagreement(ours, theirs, contributor)


def _attribute(lines: list[_Line], contributor: UUID, disagreement: _Disagreement | None = None) -> list[_Line]:
    """Return the lines with the contributor as their author, unless they have one. No lines become a deletion."""
    return [_Line(line.text, line.contributors or (contributor,), disagreement) for line in lines] or [
        _Line(None, (contributor,), disagreement)
    ]


def _get_texts(lines: Sequence[_Line]) -> list[str]:
    return [line.text for line in lines if line.text is not None]


def _add_contributor(line: _Line, contributor: UUID) -> _Line:
    """Return the line with one more contributor. A line of production or of a disagreement stays as it is."""
    if not line.contributors or line.disagreement or contributor in line.contributors:
        return line
    return _Line(line.text, (*line.contributors, contributor))


def _build_disagreement(ours: list[_Line], theirs: list[_Line], contributor: UUID) -> list[_Line]:
    """Return the lines in use of a new disagreement: those of its first contributor, never production's."""
    options = [*_list_options(ours), (contributor, _get_texts(theirs))]
    options = [option for index, option in enumerate(options) if option not in options[:index]]
    authors = [author for author, _ in options]
    first = next(author for author in authors if author is not None)
    disagreement = _Disagreement(options, chosen=authors.index(first))
    if all(author is None for author in authors[:-1]):
        return _attribute(theirs, contributor, disagreement)
    return _attribute([line for line in ours if line.text is not None], first, disagreement)


def _list_options(ours: list[_Line]) -> list[_Option]:
    """Return what each contributor wants in a stretch: the lines in use, then the other options of each disagreement in it."""
    in_use = dict.fromkeys(contributor for line in ours for contributor in line.contributors)
    authors: list[UUID | None] = [*in_use] or [None]
    disagreements = dict.fromkeys(line.disagreement for line in ours if line.disagreement)
    others = [
        (author, _replace_disagreement(ours, disagreement, texts))
        for disagreement in disagreements
        for index, (author, texts) in enumerate(disagreement.options)
        if index != disagreement.chosen
    ]
    return [(author, _get_texts(ours)) for author in authors] + others


def _replace_disagreement(lines: list[_Line], disagreement: _Disagreement, texts: list[str]) -> list[str]:
    """Return the texts of the lines, with `texts` in place of the lines of the disagreement."""
    first = next(index for index, line in enumerate(lines) if line.disagreement is disagreement)
    after = [line for line in lines[first:] if line.disagreement is not disagreement]
    return [*_get_texts(lines[:first]), *texts, *_get_texts(after)]


def _group_lines(lines: list[_Line], disagreements: list[_Disagreement]) -> list[Segment]:
    """Return the lines as segments, grouped by contributors. Every line but the last ends with a line feed."""
    # Of the deletions only those in a disagreement are shown: as an empty segment.
    lines = [line for line in lines if line.text is not None or line.disagreement]
    last = max(index for index, line in enumerate(lines) if line.text is not None)
    texts = ["" if line.text is None else line.text + "\n" * (index != last) for index, line in enumerate(lines)]
    groups = groupby(zip(lines, texts, strict=True), key=lambda pair: (pair[0].contributors, pair[0].disagreement))
    return [
        Segment(
            text="".join(text for _, text in group),
            contributors=list(contributors),
            conflict=disagreements.index(disagreement) if disagreement else None,
        )
        for (contributors, disagreement), group in groups
    ]


def _split_segments(segments: Sequence[Segment]) -> list[_Line]:
    """Return the lines of a prompt, given its segments. The reverse of `_group_lines`."""
    texts = "".join(segment.text for segment in segments).split("\n")
    # A line belongs to the segment that has its line feed.
    authors = [tuple(segment.contributors) for segment in segments for _ in range(segment.text.count("\n"))]
    # The last line has none: it belongs to the last segment with a text, unless that ends with a line feed.
    last_segment = next((segment for segment in reversed(segments) if segment.text), Segment(text=""))
    authors.append(() if last_segment.text.endswith("\n") else tuple(last_segment.contributors))
    return [_Line(text, contributors) for text, contributors in zip(texts, authors, strict=True)]


def attribute_lines(segments: Sequence[Segment], edits: Sequence[tuple[UUID, str]]) -> list[Segment]:
    """Attribute the lines of a prompt to contributors.

    The prompt began as `segments`. Each edit is a contributor and the whole prompt after their change.
    """
    lines = _split_segments(segments)
    for contributor, text in edits:
        lines = list(_attribute_changes(lines, text.split("\n"), contributor))
    return _group_lines(lines, [])


def _attribute_changes(before: list[_Line], after: list[str], contributor: UUID) -> Iterator[_Line]:
    """Yield the lines of `after`: those that `before` has, too, as they were there, all others as the contributor's."""
    done = 0
    for old_start, new_start, size in find_common_stretches(_get_texts(before), after):
        yield from (_Line(text, (contributor,)) for text in after[done:new_start])
        yield from before[old_start : old_start + size]
        done = new_start + size
    yield from (_Line(text, (contributor,)) for text in after[done:])


# --- everything else ----------------------------------------------------------------------------------------------


class _FieldChange(NamedTuple):
    """A field in the base and in the content of a proposal."""

    contributor: Contributor
    base: Any
    proposed: Any


def merge_fields(production: SpecContent, proposals: Sequence[Proposal]) -> tuple[SpecContent, list[Conflict]]:
    """Merge every field but the prompt, which stays production's. The order of the tools is never a conflict."""
    values = flatten_spec(production)
    flat = [(one.contributor, flatten_spec(one.base), flatten_spec(one.content)) for one in proposals]
    names = dict.fromkeys([*values, *(name for _, base, proposed in flat for name in (*base, *proposed))])
    merged, conflicts = {}, []
    for name in names:
        changes = [
            _FieldChange(contributor, base.get(name), proposed.get(name))
            for contributor, base, proposed in flat
            if base.get(name) != proposed.get(name)
        ]
        merged[name], conflict = _merge_field(name, values.get(name), changes)
        conflicts += [conflict] if conflict else []
    return _unflatten_spec(production, merged, _order_tools(production, proposals)), conflicts


def flatten_spec(content: SpecContent) -> dict[str, Any]:
    """Return a spec without its prompt as one flat dict.

    Its keys are `model`, `parameters.<name>`, `limits.<name>`, `memory`, `tools.<name>` (a `ToolUse`).
    """
    flat: dict[str, Any] = {"model": content.model}
    groups: dict[str, BaseModel] = {"parameters": content.parameters, "limits": content.limits}
    for group, values in groups.items():
        flat |= {f"{group}.{name}": value for name, value in values}
    return flat | {"memory": content.memory} | {f"tools.{use.tool}": use for use in content.tools}


def _merge_field(name: str, current: Any, changes: list[_FieldChange]) -> tuple[Any, Conflict | None]:
    """Return the merged value of a field, and a conflict if the changes differ. The first change is used.

    `current` is production's value. It is a choice, too, if production changed the field since a proposal was made on it.
    """
    if not changes:
        return current, None
    value = changes[0].proposed
    is_changed_in_production = any(change.base != current for change in changes) and any(
        change.proposed != current for change in changes
    )
    if not is_changed_in_production and all(change.proposed == value for change in changes):
        return value, None
    choices = [Choice(contributor=change.contributor.id, text=_format_value(change.proposed)) for change in changes]
    if is_changed_in_production and _format_value(current) not in [choice.text for choice in choices]:
        choices.append(Choice(text=_format_value(current)))
    return value, Conflict(about=name, question="", choices=choices, chosen=0)


def _format_value(value: Any) -> str:
    """Return a field's value as the text of a choice. It is empty if there is none (a tool that is removed)."""
    if isinstance(value, ToolUse):
        return json.dumps(value.model_dump(), ensure_ascii=False, sort_keys=True)
    return "" if value is None else str(value)


def _order_tools(production: SpecContent, proposals: Sequence[Proposal]) -> list[str]:
    """Return the names of all tools in production's order, or as a proposal reorders them. A new tool follows its neighbour."""
    order = [use.tool for use in production.tools]
    for proposal in proposals:
        base, proposed = ([use.tool for use in content.tools] for content in (proposal.base, proposal.content))
        if order == base:
            order = proposed + [name for name in order if name not in proposed]
            continue
        for index, name in enumerate(proposed):
            if name not in order:
                order.insert(order.index(proposed[index - 1]) + 1 if index else 0, name)
    return order


def _unflatten_spec(production: SpecContent, flat: dict[str, Any], order: list[str]) -> SpecContent:
    """Return the spec of these fields, with its tools in this order and production's prompt."""
    groups: dict[str, dict[str, Any]] = {"parameters": {}, "limits": {}}
    for name, value in flat.items():
        group, _, key = name.partition(".")
        if group in groups:
            groups[group][key] = value
    tools = [use.model_dump() for tool in order if (use := flat.get(f"tools.{tool}")) is not None]
    return _validate_spec(
        {"prompt": production.prompt, "model": flat["model"], "memory": flat["memory"], "tools": tools} | groups
    )
