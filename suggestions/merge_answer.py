"""What a merge agent or service answered: read strictly, and believed only as far as the texts bear it out.

The answer speaks of the prompt alone. Whatever it claims, words that stand in production or in a suggestion are credited to
where they stand; nothing else of a spec comes from here, so that no text can talk a model into giving an agent a tool.
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
from common.text import storable
from events.rows import Choice, Conflict, Segment
from suggestions.briefs import Named

FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)
MAX_ANSWER = 1_000_000
NUL = "\x00"


class Why(StrEnum):
    """What is wrong with an answer; the web app has a text for each in three languages (`mergeWhy.<why>`)."""

    TOO_LONG = "answer_too_long"
    NO_JSON = "answer_no_json"
    WRONG_SHAPE = "answer_wrong_shape"
    UNKNOWN_SOURCE = "answer_unknown_source"
    UNKNOWN_CHOICE = "answer_unknown_choice"
    OWN_WORDS = "answer_own_words"
    LEAVES_OUT = "answer_leaves_out"
    DROPS = "answer_drops"
    PROMPT_TOO_LONG = "answer_prompt_too_long"


class Unusable(Exception):
    """The answer cannot be taken; its text says why, in one English sentence."""

    def __init__(self, why: Why, text: str) -> None:
        super().__init__(text)
        self.why = why


class _Closed(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class AnsweredSegment(_Closed):
    text: str
    source: list[str] = Field(alias="from", max_length=21)


class SaidChoice(_Closed):
    source: str | None = Field(alias="from")
    text: str = Field(max_length=MAX_PROMPT)


class SaidConflict(_Closed):
    question: str = Field(max_length=2_000)
    between: list[str] = Field(default=[], max_length=21)
    choices: list[SaidChoice] = Field(max_length=21)
    chosen: int | None = None


class MergeAnswer(_Closed):
    """The schema of an answer. `from`: names of suggestions, none for production; null in a choice is production, too."""

    segments: list[AnsweredSegment] = Field(min_length=1, max_length=10_000)
    conflicts: list[SaidConflict] = Field(default=[], max_length=50)


@dataclass(frozen=True)
class MergedPrompt:
    """`segments` joined are the prompt; each names the place of its conflict in `conflicts`."""

    segments: list[Segment]
    conflicts: list[Conflict]

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


def merged_prompt(answered: str, production: str, suggestions: Sequence[Named]) -> MergedPrompt:
    """The prompt of an answer, every line credited to whose it is. Raises `Unusable`."""
    answer = _read(answered)
    contributors = {one.name: one.proposal.contributor.id for one in suggestions}
    _knows_its_sources(answer, contributors)
    texts = _Texts(production, suggestions)
    lines = [line for segment in answer.segments for line in texts.credited(segment, contributors)]
    _ends_as(lines, production)
    if sum(len(line.text) for line in lines) > MAX_PROMPT:
        raise Unusable(Why.PROMPT_TOO_LONG, f"The merged prompt is longer than {MAX_PROMPT:,} characters.")
    conflicts = [_settled(number, said, contributors, lines) for number, said in enumerate(answer.conflicts)]
    merged = MergedPrompt(list(_segments(lines)), conflicts)
    _says_what_all_want(merged, answer, suggestions, production)
    return merged


def _read(answered: str) -> MergeAnswer:
    if len(answered) > MAX_ANSWER:
        raise Unusable(Why.TOO_LONG, "The answer is too long.")
    fenced = FENCED.search(answered)
    try:
        return MergeAnswer.model_validate(json.loads(storable(fenced[1] if fenced else answered)))
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        raise Unusable(Why.WRONG_SHAPE, f"The answer has the wrong shape ({place or 'all of it'}).") from error
    except (ValueError, RecursionError) as error:
        raise Unusable(Why.NO_JSON, "The answer is no JSON.") from error


def _knows_its_sources(answer: MergeAnswer, contributors: dict[str, UUID]) -> None:
    named = {name for segment in answer.segments for name in segment.source}
    for said in answer.conflicts:
        named |= {*said.between, *(choice.source for choice in said.choices if choice.source)}
        if said.chosen is not None and not 0 <= said.chosen < len(said.choices):
            raise Unusable(Why.UNKNOWN_CHOICE, "The answer chooses what is no choice.")
    if unknown := named - contributors.keys():
        raise Unusable(Why.UNKNOWN_SOURCE, f"The answer credits somebody who suggested nothing ({min(unknown)[:20]}).")


@dataclass
class _Line:
    text: str
    contributors: tuple[UUID, ...]
    conflict: int | None = None

    @property
    def bare(self) -> str:
        return self.text.strip()


class _Texts:
    """Who wrote which lines: blanks at their ends make no difference."""

    def __init__(self, production: str, suggestions: Sequence[Named]) -> None:
        self._production = bare_lines(production)
        self._own = {
            one.proposal.contributor.id: bare_lines(one.proposal.content.prompt) - bare_lines(one.proposal.base.prompt)
            for one in suggestions
        }

    def credited(self, segment: AnsweredSegment, contributors: dict[str, UUID]) -> Iterator[_Line]:
        """The lines of a segment, each with whose it is. Raises `Unusable` for words that nobody wrote and nobody is said to."""
        claimed = tuple(contributors[name] for name in dict.fromkeys(segment.source))
        for text in _whole_lines(segment.text):
            bare = text.strip()
            own = tuple(contributor for contributor, lines in self._own.items() if bare in lines)
            if not bare or bare in self._production:
                yield _Line(text, ())
            elif own or claimed:
                yield _Line(text, own or claimed)
            else:
                raise Unusable(
                    Why.OWN_WORDS, "The answer has words that stand neither in production nor in a suggestion."
                )


def bare_lines(text: str) -> set[str]:
    """The lines that say something, without the blanks around them."""
    return {line.strip() for line in text.split("\n")} - {""}


def _whole_lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    return lines[:-1] if text.endswith("\n") else lines


def _ends_as(lines: list[_Line], production: str) -> None:
    """The end of the last line is production's: agents end theirs as it comes."""
    if lines and not production.endswith("\n"):
        lines[-1].text = lines[-1].text.removesuffix("\n")


def _settled(number: int, said: SaidConflict, contributors: dict[str, UUID], lines: list[_Line]) -> Conflict:
    """The conflict, its chosen version found in the text; when it does not stand there, something else does."""
    chosen = said.chosen
    if chosen is not None and not _mark(number, said.choices[chosen].text, lines):
        chosen = None
    choices = [
        Choice(contributor=contributors[choice.source] if choice.source else None, text=choice.text.strip("\n"))
        for choice in said.choices
    ]
    return Conflict(about="prompt", question=said.question.strip(), choices=choices, chosen=chosen)


def _mark(number: int, text: str, lines: list[_Line]) -> bool:
    # One search of a text in another: comparing lines at every place takes hours where an answer repeats itself enough.
    # No text has a NUL, so that what another conflict has marked is never found again.
    standing = "".join(f"\n{line.bare if line.conflict is None else NUL}" for line in lines) + "\n"
    wanted = [line.strip() for line in text.strip().split("\n")]
    place = standing.find("\n".join(["", *wanted, ""]))
    if place < 0:
        return False
    start = standing.count("\n", 0, place)
    for line in lines[start : start + len(wanted)]:
        line.conflict = number
    return True


def _segments(lines: list[_Line]) -> Iterator[Segment]:
    for (contributors, conflict), group in groupby(lines, key=lambda line: (line.contributors, line.conflict)):
        yield Segment(text="".join(line.text for line in group), contributors=list(contributors), conflict=conflict)


def _says_what_all_want(
    merged: MergedPrompt, answer: MergeAnswer, suggestions: Sequence[Named], production: str
) -> None:
    """Whoever wants something got some of it, or is party to a conflict; and nothing is gone that nobody takes out.

    Raises `Unusable`.
    """
    stands, today = bare_lines(merged.text), bare_lines(production)
    heard = {contributor for segment in merged.segments for contributor in segment.contributors}
    heard |= {choice.contributor for conflict in merged.conflicts for choice in conflict.choices if choice.contributor}
    parties = {name for said in answer.conflicts for name in said.between}
    taken_out: set[str] = set()
    for one in suggestions:
        was, wanted = bare_lines(one.proposal.base.prompt), bare_lines(one.proposal.content.prompt)
        new, gone = wanted - was - today, (was - wanted) & today
        taken_out |= gone
        is_heard = one.proposal.contributor.id in heard or one.name in parties or (not new and gone - stands)
        if (new or gone) and not is_heard:
            raise Unusable(Why.LEAVES_OUT, f"The answer leaves out what {one.proposal.contributor.name} suggests.")
    if today - stands - taken_out:
        raise Unusable(Why.DROPS, "The answer drops words of production that nobody takes out.")
