"""Check the answer of a merge agent or service, and build the merged prompt from it.

Only the prompt comes from the answer; the other fields of the spec are merged by rule, so that no text can make a model give an
agent a tool. The authors that the answer names for a line count only if the line is neither in production nor in a suggestion.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from agents.specs.content import MAX_PROMPT
from events.rows import ConflictChoice, MergeConflict, Segment
from llm.structured import InvalidAnswer, parse_answer
from suggestions.job_inputs import NamedSuggestion

NUL = "\x00"


class InvalidReason(StrEnum):
    """Why an answer cannot be used. The web app has a text for each reason in three languages (`mergeWhy.<reason>`)."""

    TOO_LONG = "answer_too_long"
    NO_JSON = "answer_no_json"
    WRONG_SHAPE = "answer_wrong_shape"
    UNKNOWN_SOURCE = "answer_unknown_source"
    UNKNOWN_CHOICE = "answer_unknown_choice"
    OWN_WORDS = "answer_own_words"
    LEAVES_OUT = "answer_leaves_out"
    DROPS = "answer_drops"
    PROMPT_TOO_LONG = "answer_prompt_too_long"


class InvalidMergeAnswer(InvalidAnswer):
    """The answer cannot be used. The text of the exception says why, in one English sentence."""

    def __init__(self, reason: InvalidReason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class _AnswerModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class AnswerSegment(_AnswerModel):
    text: str
    source: list[str] = Field(alias="from", max_length=21)


class AnswerChoice(_AnswerModel):
    source: str | None = Field(alias="from")
    text: str = Field(max_length=MAX_PROMPT)


class AnswerConflict(_AnswerModel):
    question: str = Field(max_length=2_000)
    between: list[str] = Field(default=[], max_length=21)
    choices: list[AnswerChoice] = Field(max_length=21)
    chosen: int | None = None


class MergeAnswer(_AnswerModel):
    """The schema of an answer. `from` holds names of suggestions; an empty list, or null in a choice, means production."""

    segments: list[AnswerSegment] = Field(min_length=1, max_length=10_000)
    conflicts: list[AnswerConflict] = Field(default=[], max_length=50)


@dataclass(frozen=True)
class MergedPrompt:
    """A merged prompt: the joined texts of `segments`. A segment names its conflict by its index in `conflicts`."""

    segments: list[Segment]
    conflicts: list[MergeConflict]

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


def build_merged_prompt(answer_text: str, production: str, suggestions: Sequence[NamedSuggestion]) -> MergedPrompt:
    """Build the merged prompt from an answer, and attribute every line to its authors. Raises `InvalidMergeAnswer`."""
    return check_merge_answer(production, suggestions, _parse_answer(answer_text))


def check_merge_answer(production: str, suggestions: Sequence[NamedSuggestion], answer: MergeAnswer) -> MergedPrompt:
    """Check an answer against the texts, and return the merged prompt. Raises `InvalidMergeAnswer`."""
    contributors = {suggestion.name: suggestion.contribution.contributor.id for suggestion in suggestions}
    _check_sources(answer, contributors)

    authors = _LineAuthors(production, suggestions)
    lines = [line for segment in answer.segments for line in authors.attribute(segment, contributors)]
    # Every line ends with a line feed so far. The last one keeps it only if that of production has one.
    if lines and not production.endswith("\n"):
        lines[-1].text = lines[-1].text.removesuffix("\n")
    if sum(len(line.text) for line in lines) > MAX_PROMPT:
        raise InvalidMergeAnswer(
            InvalidReason.PROMPT_TOO_LONG, f"The merged prompt is longer than {MAX_PROMPT:,} characters."
        )

    conflicts = [
        _build_conflict(index, conflict, contributors, lines) for index, conflict in enumerate(answer.conflicts)
    ]
    segments = [
        Segment(text="".join(line.text for line in group), contributors=list(authors_of_group), conflict=index)
        for (authors_of_group, index), group in groupby(lines, key=lambda line: (line.contributors, line.conflict))
    ]
    merged = MergedPrompt(segments, conflicts)
    _check_every_change_is_used(merged, answer, suggestions, production)
    return merged


def _parse_answer(text: str) -> MergeAnswer:
    try:
        return parse_answer(MergeAnswer, text)
    except InvalidAnswer as error:
        reason = InvalidReason(f"answer_{error.code}")
        raise InvalidMergeAnswer(reason, str(error)) from error


def _check_sources(answer: MergeAnswer, contributors: dict[str, UUID]) -> None:
    """Raise `InvalidMergeAnswer` if a source is not the name of a suggestion, or `chosen` is not the index of a choice."""
    names = {name for segment in answer.segments for name in segment.source}
    for conflict in answer.conflicts:
        names |= {*conflict.between, *(choice.source for choice in conflict.choices if choice.source)}
        if conflict.chosen is not None and not 0 <= conflict.chosen < len(conflict.choices):
            raise InvalidMergeAnswer(InvalidReason.UNKNOWN_CHOICE, "The answer chooses an option that does not exist.")
    if unknown := names - contributors.keys():
        raise InvalidMergeAnswer(
            InvalidReason.UNKNOWN_SOURCE, f"The answer names a source that is not a suggestion ({min(unknown)[:20]})."
        )


@dataclass
class _AnswerLine:
    text: str
    contributors: tuple[UUID, ...]
    conflict: int | None = None


class _LineAuthors:
    """Attributes lines: stores the lines of production, and those that each suggestion adds. Blanks around a line are ignored."""

    def __init__(self, production: str, suggestions: Sequence[NamedSuggestion]) -> None:
        self._production = _get_stripped_lines(production)
        self._added = {
            suggestion.contribution.contributor.id: (
                _get_stripped_lines(suggestion.contribution.content.prompt)
                - _get_stripped_lines(suggestion.contribution.base.prompt)
            )
            for suggestion in suggestions
        }

    def attribute(self, segment: AnswerSegment, contributors: dict[str, UUID]) -> Iterator[_AnswerLine]:
        """Yield the lines of a segment with their authors.

        A line that is neither in production nor in a suggestion is attributed to the sources that the answer names for the
        segment. Raises `InvalidMergeAnswer` if it names none.
        """
        claimed = tuple(contributors[name] for name in dict.fromkeys(segment.source))
        for text in segment.text.removesuffix("\n").split("\n"):
            stripped = text.strip()
            authors = tuple(contributor for contributor, lines in self._added.items() if stripped in lines)
            if not stripped or stripped in self._production:
                yield _AnswerLine(f"{text}\n", ())
            elif authors or claimed:
                yield _AnswerLine(f"{text}\n", authors or claimed)
            else:
                raise InvalidMergeAnswer(
                    InvalidReason.OWN_WORDS,
                    "The answer has text that is neither in production nor in a suggestion.",
                )


def _get_stripped_lines(text: str) -> set[str]:
    """Return the non-blank lines of a text, without the blanks around them."""
    return {line.strip() for line in text.split("\n")} - {""}


def _build_conflict(
    index: int, conflict: AnswerConflict, contributors: dict[str, UUID], lines: list[_AnswerLine]
) -> MergeConflict:
    """Build a conflict, and mark the lines of its chosen text in `lines`. If they are not there, no choice is chosen."""
    chosen = conflict.chosen
    if chosen is not None and not _mark_lines(index, conflict.choices[chosen].text, lines):
        chosen = None
    choices = [
        ConflictChoice(contributor=contributors[choice.source] if choice.source else None, text=choice.text.strip("\n"))
        for choice in conflict.choices
    ]
    return MergeConflict(about="prompt", question=conflict.question.strip(), choices=choices, chosen=chosen)


def _mark_lines(conflict_index: int, text: str, lines: list[_AnswerLine]) -> bool:
    """Mark the first lines that have this text and are not part of another conflict. Return whether they were found.

    If the text is empty (the choice is to delete lines), there is nothing to mark: return true.
    """
    if not text.strip():
        return True
    # One substring search: comparing lists of lines at every index takes hours if an answer repeats a line often enough.
    # Lines of other conflicts are replaced by NUL, which no stored text contains, so they never match.
    prompt = "".join(f"\n{line.text.strip() if line.conflict is None else NUL}" for line in lines) + "\n"
    wanted = [line.strip() for line in text.strip().split("\n")]
    position = prompt.find("\n".join(["", *wanted, ""]))
    if position < 0:
        return False
    start = prompt.count("\n", 0, position)
    for line in lines[start : start + len(wanted)]:
        line.conflict = conflict_index
    return True


def _check_every_change_is_used(
    merged: MergedPrompt, answer: MergeAnswer, suggestions: Sequence[NamedSuggestion], production: str
) -> None:
    """Raise `InvalidMergeAnswer` if a suggestion is not used, or if a line of production is missing that no suggestion removes.

    A suggestion is used if a line or a choice is attributed to it, or a conflict names it. A suggestion that only removes lines is
    also used if one of them is missing.
    """
    merged_lines, production_lines = _get_stripped_lines(merged.text), _get_stripped_lines(production)
    used = {contributor for segment in merged.segments for contributor in segment.contributors}
    used |= {choice.contributor for conflict in merged.conflicts for choice in conflict.choices if choice.contributor}
    in_conflict = {name for conflict in answer.conflicts for name in conflict.between}
    all_removed: set[str] = set()
    for suggestion in suggestions:
        contribution = suggestion.contribution
        before = _get_stripped_lines(contribution.base.prompt)
        after = _get_stripped_lines(contribution.content.prompt)
        added, removed = after - before - production_lines, (before - after) & production_lines
        all_removed |= removed
        is_removal_used = not added and not removed <= merged_lines
        is_used = contribution.contributor.id in used or suggestion.name in in_conflict or is_removal_used
        if (added or removed) and not is_used:
            raise InvalidMergeAnswer(
                InvalidReason.LEAVES_OUT, f"The answer leaves out what {contribution.contributor.name} suggests."
            )
    if production_lines - merged_lines - all_removed:
        raise InvalidMergeAnswer(
            InvalidReason.DROPS, "The answer drops lines of production that no suggestion removes."
        )
