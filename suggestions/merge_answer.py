"""Check the answer of a merge agent or service, and build the merged prompt from it.

The answer is only about the prompt: no other field of a spec comes from it, so that no text can make a model give an agent a
tool. Its attributions are checked against the texts: a line that is in production, or in a suggestion, is attributed
to that, whatever the answer claims.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agents.specs.content import MAX_PROMPT
from common.text import to_storable
from events.rows import Choice, Conflict, Segment
from suggestions.job_inputs import NamedProposal

CODE_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)
MAX_ANSWER = 1_000_000
NUL = "\x00"


class InvalidReason(StrEnum):
    """What is wrong with an answer. The web app has a text for each in three languages (`mergeWhy.<reason>`)."""

    TOO_LONG = "answer_too_long"
    NO_JSON = "answer_no_json"
    WRONG_SHAPE = "answer_wrong_shape"
    UNKNOWN_SOURCE = "answer_unknown_source"
    UNKNOWN_CHOICE = "answer_unknown_choice"
    OWN_WORDS = "answer_own_words"
    LEAVES_OUT = "answer_leaves_out"
    DROPS = "answer_drops"
    PROMPT_TOO_LONG = "answer_prompt_too_long"


class InvalidMergeAnswer(Exception):
    """The answer cannot be used. The text of the error says why, in one English sentence."""

    def __init__(self, reason: InvalidReason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class _AnswerModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class AnsweredSegment(_AnswerModel):
    text: str
    source: list[str] = Field(alias="from", max_length=21)


class AnsweredChoice(_AnswerModel):
    source: str | None = Field(alias="from")
    text: str = Field(max_length=MAX_PROMPT)


class AnsweredConflict(_AnswerModel):
    question: str = Field(max_length=2_000)
    between: list[str] = Field(default=[], max_length=21)
    choices: list[AnsweredChoice] = Field(max_length=21)
    chosen: int | None = None


class MergeAnswer(_AnswerModel):
    """The schema of an answer. `from` has the names of suggestions; none, or null in a choice, is production."""

    segments: list[AnsweredSegment] = Field(min_length=1, max_length=10_000)
    conflicts: list[AnsweredConflict] = Field(default=[], max_length=50)


@dataclass(frozen=True)
class MergedPrompt:
    """The texts of `segments`, joined, are the prompt. A segment names its conflict by the index in `conflicts`."""

    segments: list[Segment]
    conflicts: list[Conflict]

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


def build_merged_prompt(answer_text: str, production: str, suggestions: Sequence[NamedProposal]) -> MergedPrompt:
    """Return the prompt of an answer, with every line attributed to its authors. Raises `InvalidMergeAnswer`."""
    answer = _parse_answer(answer_text)
    contributors = {one.name: one.proposal.contributor.id for one in suggestions}
    _check_sources(answer, contributors)

    authors = _LineAuthors(production, suggestions)
    lines = [line for segment in answer.segments for line in authors.attribute(segment, contributors)]
    if lines and not production.endswith("\n"):
        lines[-1].text = lines[-1].text.removesuffix("\n")
    if sum(len(line.text) for line in lines) > MAX_PROMPT:
        raise InvalidMergeAnswer(
            InvalidReason.PROMPT_TOO_LONG, f"The merged prompt is longer than {MAX_PROMPT:,} characters."
        )

    conflicts = [
        _build_conflict(index, conflict, contributors, lines) for index, conflict in enumerate(answer.conflicts)
    ]
    merged = MergedPrompt(_group_lines(lines), conflicts)
    _check_every_change_is_used(merged, answer, suggestions, production)
    return merged


def _parse_answer(text: str) -> MergeAnswer:
    if len(text) > MAX_ANSWER:
        raise InvalidMergeAnswer(InvalidReason.TOO_LONG, "The answer is too long.")
    fenced = CODE_FENCE.search(text)
    try:
        return MergeAnswer.model_validate(json.loads(to_storable(fenced[1] if fenced else text)))
    except ValidationError as error:
        path = ".".join(map(str, error.errors()[0]["loc"]))
        raise InvalidMergeAnswer(
            InvalidReason.WRONG_SHAPE, f"The answer has the wrong shape ({path or 'all of it'})."
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidMergeAnswer(InvalidReason.NO_JSON, "The answer is no JSON.") from error


def _check_sources(answer: MergeAnswer, contributors: dict[str, UUID]) -> None:
    """Raise `InvalidMergeAnswer` for a source that is no suggestion, and for a chosen index without a choice."""
    names = {name for segment in answer.segments for name in segment.source}
    for conflict in answer.conflicts:
        names |= {*conflict.between, *(choice.source for choice in conflict.choices if choice.source)}
        if conflict.chosen is not None and not 0 <= conflict.chosen < len(conflict.choices):
            raise InvalidMergeAnswer(InvalidReason.UNKNOWN_CHOICE, "The answer chooses what is no choice.")
    if unknown := names - contributors.keys():
        raise InvalidMergeAnswer(
            InvalidReason.UNKNOWN_SOURCE, f"The answer credits somebody who suggested nothing ({min(unknown)[:20]})."
        )


@dataclass
class _Line:
    text: str
    contributors: tuple[UUID, ...]
    conflict: int | None = None


class _LineAuthors:
    """Knows which lines are production's, and which lines each suggestion adds. Lines are compared without outer blanks."""

    def __init__(self, production: str, suggestions: Sequence[NamedProposal]) -> None:
        self._production = _get_stripped_lines(production)
        self._added = {
            one.proposal.contributor.id: (
                _get_stripped_lines(one.proposal.content.prompt) - _get_stripped_lines(one.proposal.base.prompt)
            )
            for one in suggestions
        }

    def attribute(self, segment: AnsweredSegment, contributors: dict[str, UUID]) -> Iterator[_Line]:
        """Yield the lines of a segment with their authors.

        The sources that the answer claims count only for a line that is in no text. Raises `InvalidMergeAnswer` if it claims none.
        """
        claimed = tuple(contributors[name] for name in dict.fromkeys(segment.source))
        for text in segment.text.removesuffix("\n").split("\n"):
            stripped = text.strip()
            authors = tuple(contributor for contributor, lines in self._added.items() if stripped in lines)
            if not stripped or stripped in self._production:
                yield _Line(f"{text}\n", ())
            elif authors or claimed:
                yield _Line(f"{text}\n", authors or claimed)
            else:
                raise InvalidMergeAnswer(
                    InvalidReason.OWN_WORDS,
                    "The answer has words that stand neither in production nor in a suggestion.",
                )


def _get_stripped_lines(text: str) -> set[str]:
    """Return the lines that are not blank, without the blanks around them."""
    return {line.strip() for line in text.split("\n")} - {""}


def _build_conflict(
    index: int, conflict: AnsweredConflict, contributors: dict[str, UUID], lines: list[_Line]
) -> Conflict:
    """Return the conflict, and mark the lines of its chosen text. None is chosen if its text is not in the prompt."""
    chosen = conflict.chosen
    if chosen is not None and not _mark_lines(index, conflict.choices[chosen].text, lines):
        chosen = None
    choices = [
        Choice(contributor=contributors[choice.source] if choice.source else None, text=choice.text.strip("\n"))
        for choice in conflict.choices
    ]
    return Conflict(about="prompt", question=conflict.question.strip(), choices=choices, chosen=chosen)


def _mark_lines(conflict: int, text: str, lines: list[_Line]) -> bool:
    """Mark the first lines that have this text and are in no other conflict. Return whether there are any."""
    # One search of a text in another: comparing lines at every index takes hours if an answer repeats itself enough.
    # No text contains a NUL, so the lines of other conflicts are never found.
    prompt = "".join(f"\n{line.text.strip() if line.conflict is None else NUL}" for line in lines) + "\n"
    wanted = [line.strip() for line in text.strip().split("\n")]
    position = prompt.find("\n".join(["", *wanted, ""]))
    if position < 0:
        return False
    start = prompt.count("\n", 0, position)
    for line in lines[start : start + len(wanted)]:
        line.conflict = conflict
    return True


def _group_lines(lines: list[_Line]) -> list[Segment]:
    return [
        Segment(text="".join(line.text for line in group), contributors=list(contributors), conflict=conflict)
        for (contributors, conflict), group in groupby(lines, key=lambda line: (line.contributors, line.conflict))
    ]


def _check_every_change_is_used(
    merged: MergedPrompt, answer: MergeAnswer, suggestions: Sequence[NamedProposal], production: str
) -> None:
    """Raise `InvalidMergeAnswer` if a suggestion is ignored, or if a line is gone that no suggestion removes.

    A suggestion is used if some line or choice is attributed to it, if it is in a conflict, or, if it only removes lines, if one of
    them is gone.
    """
    merged_lines, production_lines = _get_stripped_lines(merged.text), _get_stripped_lines(production)
    used = {contributor for segment in merged.segments for contributor in segment.contributors}
    used |= {choice.contributor for conflict in merged.conflicts for choice in conflict.choices if choice.contributor}
    in_conflict = {name for conflict in answer.conflicts for name in conflict.between}
    all_removed: set[str] = set()
    for one in suggestions:
        before, after = _get_stripped_lines(one.proposal.base.prompt), _get_stripped_lines(one.proposal.content.prompt)
        added, removed = after - before - production_lines, (before - after) & production_lines
        all_removed |= removed
        is_removal_used = not added and removed - merged_lines
        is_used = one.proposal.contributor.id in used or one.name in in_conflict or is_removal_used
        if (added or removed) and not is_used:
            raise InvalidMergeAnswer(
                InvalidReason.LEAVES_OUT, f"The answer leaves out what {one.proposal.contributor.name} suggests."
            )
    if production_lines - merged_lines - all_removed:
        raise InvalidMergeAnswer(InvalidReason.DROPS, "The answer drops words of production that nobody takes out.")
