"""Merge the changes of several contributors to a spec without a model: the prompt line by line, everything else field by field.

A three-way merge. It starts from production and applies one contribution after the other. For each it compares three
prompts: that of the version that the contribution is based on (`base`), the result so far (`ours`) and that of the contribution
(`theirs`).

* If only one of `ours` and `theirs` differs from `base`, that one is used.
* If both made the same change, it has several contributors.
* If both only added lines at the same place, both additions are used, first those of `ours`.
* If they made other changes, a conflict lists the text of each contributor. The text of the first one is used.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

from pydantic import ValidationError

from agents.specs.content import MAX_MEMBERS, MAX_PROMPT, SpecContent
from agents.specs.fields import LISTS, PROMPT, find_list, flatten_spec, unflatten_spec
from common.errors import TooLarge
from common.line_matching import Same, align_three, find_common_stretches
from events.rows import ConflictChoice, Contributor, MergeConflict, Segment


@dataclass(frozen=True)
class Contribution:
    """A changed spec, its contributor, and the content of the version that it is based on.

    `segments` attribute parts of its prompt to other contributors. Without them, all of its changes are the `contributor`'s.
    """

    contributor: Contributor
    base: SpecContent
    content: SpecContent
    segments: Sequence[Segment] = ()


@dataclass(frozen=True)
class MergedSpec:
    """A merged spec. The joined texts of `segments` are its prompt. A segment names its conflict by its index in `conflicts`."""

    content: SpecContent
    segments: list[Segment]
    conflicts: list[MergeConflict]


def merge_contributions(start: SpecContent, contributions: Sequence[Contribution]) -> MergedSpec:
    """Merge contributions into `start`, in this order. Raises `TooLarge` if the result is longer than a spec may be."""
    lines = [_Line(text) for text in start.prompt.split("\n")]
    for contribution in contributions:
        lines = list(_apply_contribution(lines, contribution))

    # A conflict is listed only if it still has lines: a later contribution may have replaced them by those of a wider conflict.
    prompt_conflicts = list(dict.fromkeys(line.conflict for line in lines if line.conflict))
    segments = _group_lines(lines, prompt_conflicts)
    prompt = "".join(segment.text for segment in segments)

    content, field_conflicts = merge_fields(start, contributions)
    conflicts = [conflict.to_row() for conflict in prompt_conflicts] + field_conflicts
    return MergedSpec(_validate_spec(content.model_dump() | {PROMPT: prompt}), segments, conflicts)


def _validate_spec(content: dict[str, Any]) -> SpecContent:
    try:
        return SpecContent.model_validate(content)
    except ValidationError as error:
        hint = (
            f"A prompt has up to {MAX_PROMPT:,} characters, a spec up to 64 tools, a team up to {MAX_MEMBERS} agents."
        )
        raise TooLarge("The merged text is longer than the spec of an agent may be.", hints=[hint]) from error


# --- the prompt ---------------------------------------------------------------------------------------------------


_Option = tuple[UUID | None, list[str]]
"""A contributor (null for production), and the lines that they propose for a range of the prompt."""


class _PromptConflict:
    """A range of the prompt for which contributors propose different lines. `chosen` is the index of the option that is used."""

    def __init__(self, options: list[_Option], chosen: int) -> None:
        self.options = options
        self.chosen = chosen

    def to_row(self) -> MergeConflict:
        choices = [
            ConflictChoice(contributor=contributor, text="\n".join(lines)) for contributor, lines in self.options
        ]
        return MergeConflict(about=PROMPT, question="", choices=choices, chosen=self.chosen)


@dataclass(frozen=True)
class _Line:
    """A line of the merged prompt. Lines of production have no contributors.

    If `text` is null, it is not a line but records a deletion: `contributors` removed the lines at this position.
    """

    text: str | None
    contributors: tuple[UUID, ...] = ()
    conflict: _PromptConflict | None = None


def _apply_contribution(lines: list[_Line], contribution: Contribution) -> Iterator[_Line]:
    """Merge a contribution into the lines merged so far, and yield the result."""
    # The positions in `lines` of all lines except deletions, which have no text to compare.
    indexes = [index for index, line in enumerate(lines) if line.text is not None]
    # The lines of a conflict must never match the base, so that a change to one of them is compared with all of them.
    ours = [f"\0{index}" if lines[index].conflict else str(lines[index].text) for index in indexes]
    base = contribution.base.prompt.split("\n")
    theirs = _split_segments(contribution.segments or [Segment(text=contribution.content.prompt)])

    start = 0
    for part in align_three(base, ours, _get_texts(theirs)):
        if isinstance(part, Same):
            end = indexes[part.ours.stop - 1] + 1
            yield from lines[start:end]
        else:
            # The gap includes deletions right before the next common line: a change next to a deletion may conflict with it.
            is_last = part.ours.stop == len(indexes)
            end = len(lines) if is_last else indexes[part.ours.stop]
            yield from _merge_gap(
                lines[start:end],
                base[part.base.start : part.base.stop],
                theirs[part.theirs.start : part.theirs.stop],
                contribution.contributor.id,
                is_last=is_last,
            )
        start = end
    yield from lines[start:]


def _merge_gap(
    ours: list[_Line], base: list[str], theirs: list[_Line], contributor: UUID, *, is_last: bool
) -> list[_Line]:
    """Return the merged lines of a range in which the three texts differ. `theirs` are the contributor's lines.

    `is_last`: the range is the end of the prompt.
    """
    our_texts, their_texts = _get_texts(ours), _get_texts(theirs)
    # Equal texts are not enough: the lines may be part of a conflict or another contributor's, and a deletion has no text.
    is_ours_unchanged = our_texts == base and not any(line.contributors or line.conflict for line in ours)
    if their_texts == base:
        return ours
    if our_texts == their_texts:
        return [_add_contributor(line, contributor) for line in ours]
    if is_ours_unchanged:
        return _attribute_to(contributor, theirs)
    if not any([*our_texts, *their_texts]):  # They differ only in the number of blank lines.
        return ours
    if not base and _can_keep_both(ours, theirs):
        return _join_additions(ours, _attribute_to(contributor, theirs), is_last=is_last)
    return _build_conflict_lines(ours, theirs, contributor)


def _can_keep_both(ours: list[_Line], theirs: list[_Line]) -> bool:
    """Return whether two additions at one place can be joined: neither is a deletion, in conflict, or has a line of the other,
    which would then be there twice."""
    if any(line.text is None or line.conflict for line in ours):
        return False
    return not {*_get_texts(ours)} & {*_get_texts(theirs)} - {""}


def _join_additions(ours: list[_Line], theirs: list[_Line], *, is_last: bool) -> list[_Line]:
    # At the end of a prompt, an empty last line is the end of the line before it, and not a blank line between the additions.
    if is_last and len(ours) > 1 and not ours[-1].text:
        return [*ours[:-1], *theirs, *([] if not theirs[-1].text else ours[-1:])]
    return [*ours, *theirs]


def _attribute_to(contributor: UUID, lines: list[_Line], conflict: _PromptConflict | None = None) -> list[_Line]:
    """Attribute the lines to the contributor, except those that have contributors. An empty list becomes a deletion."""
    if not lines:
        return [_Line(None, (contributor,), conflict)]
    return [_Line(line.text, line.contributors or (contributor,), conflict) for line in lines]


def _get_texts(lines: Sequence[_Line]) -> list[str]:
    return [line.text for line in lines if line.text is not None]


def _add_contributor(line: _Line, contributor: UUID) -> _Line:
    """Return the line with one more contributor. A line of production or of a conflict is returned unchanged."""
    if not line.contributors or line.conflict or contributor in line.contributors:
        return line
    return _Line(line.text, (*line.contributors, contributor))


def _build_conflict_lines(ours: list[_Line], theirs: list[_Line], contributor: UUID) -> list[_Line]:
    """Create a conflict, and return the lines that are used for it: those of its first contributor, never production's."""
    options: list[_Option] = []
    for option in [*_list_options(ours), (contributor, _get_texts(theirs))]:
        if option not in options:
            options.append(option)
    authors = [author for author, _ in options]
    first = next(author for author in authors if author is not None)
    conflict = _PromptConflict(options, chosen=authors.index(first))
    is_first_contributor = all(author is None for author in authors[:-1])
    if is_first_contributor:
        return _attribute_to(contributor, theirs, conflict)
    return _attribute_to(first, [line for line in ours if line.text is not None], conflict)


def _list_options(ours: list[_Line]) -> list[_Option]:
    """Return the options for a range: the lines that are used, then the other options of each conflict in the range."""
    contributors = dict.fromkeys(contributor for line in ours for contributor in line.contributors)
    authors: list[UUID | None] = [*contributors] or [None]
    options: list[_Option] = [(author, _get_texts(ours)) for author in authors]
    for conflict in dict.fromkeys(line.conflict for line in ours if line.conflict):
        for index, (author, texts) in enumerate(conflict.options):
            if index != conflict.chosen:
                options.append((author, _replace_conflict(ours, conflict, texts)))
    return options


def _replace_conflict(lines: list[_Line], conflict: _PromptConflict, texts: list[str]) -> list[str]:
    """Return the texts of the lines, with `texts` in place of the lines of the conflict."""
    first = next(index for index, line in enumerate(lines) if line.conflict is conflict)
    after = [line for line in lines[first:] if line.conflict is not conflict]
    return [*_get_texts(lines[:first]), *texts, *_get_texts(after)]


def _group_lines(lines: list[_Line], conflicts: list[_PromptConflict]) -> list[Segment]:
    """Return the segments of a prompt: its lines, grouped by contributors and conflict.

    Every line but the last ends with a line feed. A deletion in a conflict is an empty segment; other
    deletions are left out.
    """
    lines = [line for line in lines if line.text is not None or line.conflict]
    last = max(index for index, line in enumerate(lines) if line.text is not None)
    texts = ["" if line.text is None else line.text + "\n" * (index != last) for index, line in enumerate(lines)]
    groups = groupby(zip(lines, texts, strict=True), key=lambda pair: (pair[0].contributors, pair[0].conflict))
    return [
        Segment(
            text="".join(text for _, text in group),
            contributors=list(contributors),
            conflict=conflicts.index(conflict) if conflict else None,
        )
        for (contributors, conflict), group in groups
    ]


def _split_segments(segments: Sequence[Segment]) -> list[_Line]:
    """Return the lines of a prompt that is given as segments, with their contributors. Conflicts, and deletions (segments without a
    text), are left out."""
    texts = "".join(segment.text for segment in segments).split("\n")
    # A line belongs to the segment that contains its line feed.
    authors = [tuple(segment.contributors) for segment in segments for _ in range(segment.text.count("\n"))]
    # The last line has no line feed. It belongs to the last segment with a text, unless that one ends with a line feed.
    last_segment = next((segment for segment in reversed(segments) if segment.text), Segment(text=""))
    authors.append(() if last_segment.text.endswith("\n") else tuple(last_segment.contributors))
    return [_Line(text, contributors) for text, contributors in zip(texts, authors, strict=True)]


def attribute_lines(segments: Sequence[Segment], edits: Sequence[tuple[UUID, str]]) -> list[Segment]:
    """Attribute the lines of a prompt to contributors, and return them as segments.

    The prompt was first `segments`. Each edit is a contributor and the whole prompt after their change.
    """
    lines = _split_segments(segments)
    for contributor, text in edits:
        lines = list(_attribute_changes(lines, text.split("\n"), contributor))
    return _group_lines(lines, [])


def _attribute_changes(before: list[_Line], after: list[str], contributor: UUID) -> Iterator[_Line]:
    """Yield the lines of `after`. Those that are also in `before` keep their contributors, all others get the contributor."""
    done = 0
    for old_start, new_start, size in find_common_stretches(_get_texts(before), after):
        yield from (_Line(text, (contributor,)) for text in after[done:new_start])
        yield from before[old_start : old_start + size]
        done = new_start + size
    yield from (_Line(text, (contributor,)) for text in after[done:])


# --- everything else ----------------------------------------------------------------------------------------------


class _FieldChange(NamedTuple):
    """The values of a field in the base and in the content of a contribution."""

    contributor: Contributor
    base: Any
    proposed: Any


def merge_fields(
    production: SpecContent, contributions: Sequence[Contribution]
) -> tuple[SpecContent, list[MergeConflict]]:
    """Merge every field except the prompt, which remains that of production. The order of a list never is a conflict."""
    values = flatten_spec(production)
    names = dict.fromkeys(values)
    changes: dict[str, list[_FieldChange]] = defaultdict(list)
    for contribution in contributions:
        base, proposed = flatten_spec(contribution.base), flatten_spec(contribution.content)
        for name in dict.fromkeys([*base, *proposed]):
            names[name] = None
            if base.get(name) != proposed.get(name):
                changes[name].append(_FieldChange(contribution.contributor, base.get(name), proposed.get(name)))

    merged: dict[str, Any] = {}
    conflicts: list[MergeConflict] = []
    for name in names:
        merged[name], conflict = _merge_field(name, values.get(name), changes[name])
        if conflict is not None:
            conflicts.append(conflict)
    in_order = {name: value for name, value in merged.items() if find_list(name) is None}
    for name in LISTS:
        in_order |= {path: merged[path] for path in _order_items(name, production, contributions)}
    return _validate_spec(unflatten_spec(in_order, prompt=production.prompt)), conflicts


def _merge_field(name: str, current: Any, changes: list[_FieldChange]) -> tuple[Any, MergeConflict | None]:
    """Return the merged value of a field, and a conflict if the changes differ. The value of the first change is used.

    `current` is the value in production. It is also a choice of the conflict if production changed since a contribution's base, and
    not to what all contributions propose.
    """
    if not changes:
        return current, None
    value = changes[0].proposed
    differs_from_production = any(change.base != current for change in changes) and any(
        change.proposed != current for change in changes
    )
    if not differs_from_production and all(change.proposed == value for change in changes):
        return value, None
    choices = [
        ConflictChoice(contributor=change.contributor.id, text=_format_value(change.proposed)) for change in changes
    ]
    if differs_from_production and _format_value(current) not in [choice.text for choice in choices]:
        choices.append(ConflictChoice(text=_format_value(current)))
    return value, MergeConflict(about=name, question="", choices=choices, chosen=0)


def _format_value(value: Any) -> str:
    """Return a field's value as the text of a choice: a text as it is, any other value as JSON. It is empty if there is no value,
    as of a removed tool. The web app formats values in the same way (`formatField`)."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _order_items(name: str, production: SpecContent, contributions: Sequence[Contribution]) -> list[str]:
    """Return the paths of all items of a list, such as the tools, in the order of production, or of the first contribution that
    changes the list and whose base has it in the order of production.

    A new item follows the one before it in the contribution that adds it.
    """
    order = _list_items(name, production)
    for contribution in contributions:
        base, proposed = (_list_items(name, content) for content in (contribution.base, contribution.content))
        if order == base:
            order = proposed + [path for path in order if path not in proposed]
            continue
        for index, path in enumerate(proposed):
            if path not in order:
                order.insert(order.index(proposed[index - 1]) + 1 if index else 0, path)
    return order


def _list_items(name: str, content: SpecContent) -> list[str]:
    return [path for path in flatten_spec(content) if find_list(path) == name]
