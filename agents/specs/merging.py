"""Proposals to change a spec, merged without a model: line by line in the prompt, field by field elsewhere.

Each proposal is compared with the version that it was made on and laid on top of today's production, one after the other.
If two proposals differ, a conflict names both of them, and the text of the first one is used.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ValidationError

from agents.specs.content import MAX_PROMPT, SpecContent, ToolUse
from agents.specs.matching import Same, matches, three_ways
from common.errors import TooLarge
from events.rows import Choice, Conflict, Contributor, Segment


@dataclass(frozen=True)
class Proposal:
    """A proposed spec, and the version that it was made on. `segments` are its prompt if parts of it are by other contributors."""

    contributor: Contributor
    base: SpecContent
    content: SpecContent
    segments: Sequence[Segment] = ()


@dataclass(frozen=True)
class Merged:
    """`segments` in order are the prompt of `content`; each names the index of its conflict in `conflicts`."""

    content: SpecContent
    segments: list[Segment]
    conflicts: list[Conflict]


def merge_proposals(production: SpecContent, proposals: Sequence[Proposal]) -> Merged:
    """Merge all proposals in order. Raises `TooLarge` when together they are more than a spec can hold."""
    lines, clashes = _merged_lines(production, proposals)
    content, about_fields = merge_fields(production, proposals)
    segments = _segments(lines, clashes)
    prompt = "".join(segment.text for segment in segments)
    conflicts = [clash.conflict() for clash in clashes] + about_fields
    return Merged(_checked(content.model_dump() | {"prompt": prompt}), segments, conflicts)


def _checked(content: dict[str, Any]) -> SpecContent:
    try:
        return SpecContent.model_validate(content)
    except ValidationError as error:
        hint = f"A prompt has up to {MAX_PROMPT:,} characters, a spec up to 64 tools."
        raise TooLarge("Together this is more than an agent can be given.", hints=[hint]) from error


# --- the prompt ---------------------------------------------------------------------------------------------------


Said = tuple[UUID | None, list[str]]
"""A contributor (null: production) and their lines at a place of the prompt."""


class _Clash:
    """A place of the prompt where proposals differ: the lines of each contributor, and the index of those that are used."""

    def __init__(self, says: list[Said], chosen: int) -> None:
        self.says = says
        self.chosen = chosen

    def conflict(self) -> Conflict:
        choices = [Choice(contributor=contributor, text="\n".join(lines)) for contributor, lines in self.says]
        return Conflict(about="prompt", question="", choices=choices, chosen=self.chosen)


@dataclass(frozen=True)
class _Line:
    """A line of the prompt so far. No text: the mark of a place where `contributors` want nothing to be said."""

    text: str | None
    contributors: tuple[UUID, ...] = ()
    clash: _Clash | None = None


def _merged_lines(production: SpecContent, proposals: Sequence[Proposal]) -> tuple[list[_Line], list[_Clash]]:
    lines = [_Line(text) for text in production.prompt.split("\n")]
    for proposal in proposals:
        lines = list(_with(lines, proposal))
    # A clash may have been swallowed by a later, wider one: those count that still have a line.
    return lines, list(dict.fromkeys(line.clash for line in lines if line.clash))


def _with(lines: list[_Line], proposal: Proposal) -> Iterator[_Line]:
    """Yield the lines after the changes of a proposal."""
    places = [place for place, line in enumerate(lines) if line.text is not None]
    # A clash is one place: none of its lines is taken for one of the base, so that whoever changes one meets all of it.
    ours = [f"\0{place}" if lines[place].clash else str(lines[place].text) for place in places]
    base = proposal.base.prompt.split("\n")
    theirs = _lines_of(proposal.segments or [Segment(text=proposal.content.prompt)])
    done = 0
    for part in three_ways(base, ours, _texts(theirs)):
        # Marks belong to the gap beside them: whoever changes a line beside one meets the clash.
        end = places[part.ours.stop - 1] + 1 if isinstance(part, Same) else _start_of(part.ours.stop, places, lines)
        here, done = lines[done:end], end
        if isinstance(part, Same):
            yield from here
        else:
            was, wanted = base[part.base.start : part.base.stop], theirs[part.theirs.start : part.theirs.stop]
            yield from _settled(here, was, wanted, proposal.contributor.id)
    yield from lines[done:]


def _start_of(number: int, places: list[int], lines: list[_Line]) -> int:
    return places[number] if number < len(places) else len(lines)


def _settled(here: list[_Line], was: list[str], theirs: list[_Line], contributor: UUID) -> list[_Line]:
    """Return the merged lines of a gap: `here` are the lines so far; the contributor changed `was` to `theirs`."""
    said, wanted = _texts(here), _texts(theirs)
    if wanted == was:
        return here
    if said == wanted:
        return [_joined(line, contributor) for line in here]
    if said == was and not any(line.contributors or line.clash for line in here):
        return _of(contributor, theirs)
    if not any([*said, *wanted]):  # a blank line against none: nobody need be asked
        return here
    return _clashing(here, theirs, contributor)


def _of(contributor: UUID, theirs: list[_Line], clash: _Clash | None = None) -> list[_Line]:
    """Return the lines as the contributor's; a mark if there is none."""
    return [_Line(line.text, line.contributors or (contributor,), clash) for line in theirs] or [
        _Line(None, (contributor,), clash)
    ]


def _texts(lines: Sequence[_Line]) -> list[str]:
    return [line.text for line in lines if line.text is not None]


def _joined(line: _Line, contributor: UUID) -> _Line:
    """Return the line with one more contributor. A line of production has none, and one of a clash gets no other."""
    if not line.contributors or line.clash or contributor in line.contributors:
        return line
    return _Line(line.text, (*line.contributors, contributor))


def _clashing(here: list[_Line], theirs: list[_Line], contributor: UUID) -> list[_Line]:
    """Return the lines of a clash. A contributor wins against production, and the first contributor against later ones."""
    says = _each_once([*_said(here), (contributor, _texts(theirs))])
    first = next(who for who, _ in says if who is not None)
    clash = _Clash(says, chosen=[who for who, _ in says].index(first))
    if all(who is None for who, _ in says[:-1]):
        return _of(contributor, theirs, clash)
    return _of(first, [line for line in here if line.text is not None], clash)


def _said(here: list[_Line]) -> list[Said]:
    """Return the texts of a place by contributor: the used one, then the other choices of each clash in it."""
    contributors: list[UUID | None] = list(
        dict.fromkeys(contributor for line in here for contributor in line.contributors)
    )
    clashes = dict.fromkeys(line.clash for line in here if line.clash)
    others = [
        (contributor, _instead(here, clash, lines))
        for clash in clashes for number, (contributor, lines) in enumerate(clash.says) if number != clash.chosen
    ]  # fmt: skip
    return [(contributor, _texts(here)) for contributor in contributors or [None]] + others


def _instead(here: list[_Line], clash: _Clash, lines: list[str]) -> list[str]:
    """Return the texts of `here`, with other lines in place of a clash."""
    first = next(place for place, line in enumerate(here) if line.clash is clash)
    before = _texts(here[:first])
    after = _texts([line for line in here[first:] if line.clash is not clash])
    return [*before, *lines, *after]


def _each_once(says: list[Said]) -> list[Said]:
    return [one for place, one in enumerate(says) if one not in says[:place]]


def _segments(lines: list[_Line], clashes: list[_Clash]) -> list[Segment]:
    """Group the lines by contributors. Every line but the last ends with a line feed."""
    lines = [line for line in lines if line.text is not None or line.clash]
    last = max(place for place, line in enumerate(lines) if line.text is not None)
    texts = ["" if line.text is None else line.text + "\n" * (place != last) for place, line in enumerate(lines)]
    groups = groupby(zip(lines, texts, strict=True), key=lambda pair: (pair[0].contributors, pair[0].clash))
    return [
        Segment(text="".join(text for _, text in group), contributors=list(contributors),
              conflict=clashes.index(clash) if clash else None)
        for (contributors, clash), group in groups
    ]  # fmt: skip


def attribute_lines(segments: Sequence[Segment], steps: Sequence[tuple[UUID, str]]) -> list[Segment]:
    """Attribute the lines of a prompt to contributors: it began as `segments`, and each step is a contributor's new text."""
    lines = _lines_of(segments)
    for contributor, text in steps:
        lines = list(_retold(lines, text.split("\n"), contributor))
    return _segments(lines, [])


def _lines_of(segments: Sequence[Segment]) -> list[_Line]:
    """Return the lines of a prompt from its segments. The last one has no line feed."""
    texts = "".join(segment.text for segment in segments).split("\n")
    whose = [tuple(segment.contributors) for segment in segments for _ in range(segment.text.count("\n"))]
    unended = next((segment for segment in reversed(segments) if segment.text), Segment(text=""))
    last = tuple(unended.contributors) if not unended.text.endswith("\n") else ()
    return [_Line(text, contributors) for text, contributors in zip(texts, [*whose, last], strict=True)]


def _retold(lines: list[_Line], texts: list[str], contributor: UUID) -> Iterator[_Line]:
    done = 0
    for before, after, size in matches(_texts(lines), texts):
        yield from (_Line(text, (contributor,)) for text in texts[done:after])
        yield from lines[before : before + size]
        done = after + size
    yield from (_Line(text, (contributor,)) for text in texts[done:])


# --- everything else ----------------------------------------------------------------------------------------------


def merge_fields(production: SpecContent, proposals: Sequence[Proposal]) -> tuple[SpecContent, list[Conflict]]:
    """Merge every field but the prompt, which stays production's. The order of the tools is never a conflict."""
    flat = flatten_spec(production)
    changes = [
        (proposal.contributor, flatten_spec(proposal.base), flatten_spec(proposal.content)) for proposal in proposals
    ]
    names = list(dict.fromkeys([*flat, *(name for _, base, content in changes for name in (*base, *content))]))
    settled, conflicts = {}, []
    for name in names:
        changes_of_field = [(v, base.get(name), content.get(name)) for v, base, content in changes]
        settled[name], conflict = _field(name, flat.get(name), [one for one in changes_of_field if one[1] != one[2]])
        conflicts += [conflict] if conflict else []
    return _whole(production, settled, _order(production, proposals)), conflicts


def flatten_spec(content: SpecContent) -> dict[str, Any]:
    """Return a spec without its prompt as one flat dict.

    Its keys are `model`, `parameters.<name>`, `limits.<name>`, `memory`, `tools.<name>` (a `ToolUse`).
    """
    flat: dict[str, Any] = {"model": content.model}
    groups: dict[str, BaseModel] = {"parameters": content.parameters, "limits": content.limits}
    for group, values in groups.items():
        flat |= {f"{group}.{name}": value for name, value in values}
    return flat | {"memory": content.memory} | {f"tools.{use.tool}": use for use in content.tools}


def _field(name: str, today: Any, changes_of_field: list[tuple[Contributor, Any, Any]]) -> tuple[Any, Conflict | None]:
    """Return the merged value of a field, and a conflict if the changes differ. The first change is used.

    Each change is a contributor, the value in their base and the value in their proposal.
    """
    if not changes_of_field:
        return today, None
    wanted = changes_of_field[0][2]
    has_moved = any(was != today for _, was, _ in changes_of_field) and any(
        want != today for _, _, want in changes_of_field
    )
    if not has_moved and all(want == wanted for _, _, want in changes_of_field):
        return wanted, None
    choices = [Choice(contributor=contributor.id, text=_short(want)) for contributor, _, want in changes_of_field]
    if has_moved and _short(today) not in [choice.text for choice in choices]:
        choices.append(Choice(text=_short(today)))
    return wanted, Conflict(about=name, question="", choices=choices, chosen=0)


def _short(value: Any) -> str:
    """A field's value as the text of a choice; empty when there is none (a tool that is taken away)."""
    if isinstance(value, ToolUse):
        return json.dumps(value.model_dump(), ensure_ascii=False, sort_keys=True)
    return "" if value is None else str(value)


def _order(production: SpecContent, proposals: Sequence[Proposal]) -> list[str]:
    """Return the names of all tools, in production's order or a proposal's changed one; new ones after their neighbour."""
    order = [use.tool for use in production.tools]
    for proposal in proposals:
        base, wanted = ([use.tool for use in content.tools] for content in (proposal.base, proposal.content))
        if order == base:
            order = wanted + [name for name in order if name not in wanted]
        else:
            _add(order, wanted)
    return order


def _add(order: list[str], wanted: list[str]) -> None:
    for place, name in enumerate(wanted):
        if name not in order:
            order.insert(order.index(wanted[place - 1]) + 1 if place else 0, name)


def _whole(production: SpecContent, flat: dict[str, Any], order: list[str]) -> SpecContent:
    """Return the spec of flat fields, with production's prompt."""
    groups: dict[str, dict[str, Any]] = {"parameters": {}, "limits": {}}
    for name, value in flat.items():
        group, _, key = name.partition(".")
        if group in groups:
            groups[group][key] = value
    tools = [use.model_dump() for tool in order if (use := flat.get(f"tools.{tool}")) is not None]
    return _checked(
        {"prompt": production.prompt, "model": flat["model"], "memory": flat["memory"], "tools": tools} | groups
    )
