"""Checking the answer of a merge agent against the texts. These tests use no database."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agents.specs.content import SpecContent
from agents.specs.merging import Contribution
from common.ids import new_id
from events.rows import Contributor
from suggestions.job_inputs import name_suggestions
from suggestions.merge_answer import InvalidMergeAnswer, build_merged_prompt
from tests.chaos import examples
from tests.suggestions.environment import build_segment

PRODUCTION = "Be kind.\nBe brief.\n"


def build_suggestions(*texts, base=PRODUCTION):
    """Build the suggestions s1, s2, … with these prompts, made on `base`."""
    return name_suggestions(
        [
            Contribution(
                Contributor(id=new_id(), actor_id=new_id(), name=f"N{number}"),
                SpecContent(prompt=base),
                SpecContent(prompt=text),
            )
            for number, text in enumerate(texts, 1)
        ],
        [""] * len(texts),
    )


def build_prompt(answer, *texts, production=PRODUCTION, base=PRODUCTION):
    """Build the merged prompt. Return its segments, each with the names of its contributors, and its conflicts."""
    suggestions = build_suggestions(*texts, base=base)
    names = {suggestion.contribution.contributor.id: suggestion.name for suggestion in suggestions}
    merged = build_merged_prompt(answer if isinstance(answer, str) else json.dumps(answer), production, suggestions)
    attributed = [
        (segment.text, [names[contributor] for contributor in segment.contributors]) for segment in merged.segments
    ]
    return attributed, merged.conflicts


def test_a_line_of_a_text_is_attributed_to_that_text_whatever_the_answer_claims():
    answer = {
        "segments": [build_segment("Be kind.\n", "s2"), build_segment("Be loud.\n", "s2"), build_segment("Sign.\n")]
    }
    attributed, _ = build_prompt(answer, "Be kind.\nBe loud.\n", PRODUCTION + "Sign.\n")
    assert attributed == [("Be kind.\n", []), ("Be loud.\n", ["s1"]), ("Sign.\n", ["s2"])]


def test_a_segment_with_lines_of_several_authors_is_split():
    attributed, _ = build_prompt(
        {"segments": [build_segment("Be kind.\nBe loud.\nSign.\n", "s1", "s2")]}, "Be loud.\n", "Sign.\n"
    )
    assert attributed == [("Be kind.\n", []), ("Be loud.\n", ["s1"]), ("Sign.\n", ["s2"])]


def test_a_joined_line_is_attributed_to_all_claimed_sources():
    attributed, _ = build_prompt(
        {"segments": [build_segment("Be loud and sign.\n", "s1", "s2")]}, "Be loud.\n", "Sign.\n"
    )
    assert attributed == [("Be loud and sign.\n", ["s1", "s2"])]


def test_a_line_of_two_suggestions_is_attributed_to_both():
    attributed, _ = build_prompt({"segments": [build_segment("Be loud.\n", "s1")]}, "Be loud.\n", "Be loud.\n")
    assert attributed == [("Be loud.\n", ["s1", "s2"])]


def test_a_line_of_the_base_alone_is_not_attributed_to_the_suggestion():
    """s1 was made on a version with the line "Be old.", which no suggestion adds again."""
    with pytest.raises(InvalidMergeAnswer, match="neither in production nor"):
        build_prompt(
            {"segments": [build_segment("Be old.\n"), build_segment("Sign.\n", "s1")]},
            "Be old.\nSign.\n",
            base="Be old.\n",
        )


def test_segments_without_line_feeds_stay_separate_lines():
    attributed, _ = build_prompt(
        {"segments": [build_segment("Be kind."), build_segment("Be loud.", "s1")]}, "Be loud.\n"
    )
    assert "".join(text for text, _ in attributed) == "Be kind.\nBe loud.\n"


def test_the_prompt_ends_with_a_line_feed_only_if_production_does():
    attributed, _ = build_prompt(
        {"segments": [build_segment("Be kind.\n"), build_segment("Be loud.\n", "s1")]},
        "Be loud.",
        production="Be kind.",
    )
    assert "".join(text for text, _ in attributed) == "Be kind.\nBe loud."


@pytest.mark.parametrize("template", ["```json\n{}\n```", "Here you are:\n```\n{}\n```\nGood luck!"])
def test_an_answer_in_a_code_fence_is_parsed(template):
    answer = json.dumps({"segments": [build_segment("Be loud.\n", "s1")], "conflicts": []})
    assert build_prompt(template.replace("{}", answer), "Be loud.\n")[0] == [("Be loud.\n", ["s1"])]


@pytest.mark.timeout(20)
def test_an_answer_that_begins_code_blocks_very_often_is_refused_in_time():
    with pytest.raises(InvalidMergeAnswer):
        build_prompt("x```\n" * 100_000, "Be loud.\n")


def test_an_escaped_nul_is_removed():
    answer = json.dumps({"segments": [build_segment("Be\x00 loud.\n", "s1")], "conflicts": []})
    assert "\\u0000" in answer
    assert build_prompt(answer, "Be loud.\n")[0] == [("Be loud.\n", ["s1"])]


def build_conflict(chosen, *choices):
    listed = [{"from": name, "text": text} for name, text in choices]
    return {"question": " Which? ", "between": ["s1", "s2"], "choices": listed, "chosen": chosen}


def test_the_lines_of_the_chosen_text_are_marked_with_their_conflict():
    conflict = build_conflict(1, ("s1", "Be loud."), ("s2", "Sign.\nDate."))
    suggestions = build_suggestions("Be loud.\n", "Sign.\nDate.\n")
    answer = {"segments": [build_segment("Be kind.\nSign.\nDate.\n", "s2")], "conflicts": [conflict]}
    merged = build_merged_prompt(json.dumps(answer), PRODUCTION, suggestions)
    assert [(segment.text, segment.conflict) for segment in merged.segments] == [
        ("Be kind.\n", None),
        ("Sign.\nDate.\n", 0),
    ]
    [merged_conflict] = merged.conflicts
    assert (merged_conflict.about, merged_conflict.question, merged_conflict.chosen) == ("prompt", "Which?", 1)
    assert [choice.contributor for choice in merged_conflict.choices] == [
        suggestion.contribution.contributor.id for suggestion in suggestions
    ]


def test_a_choice_whose_text_is_not_in_the_prompt_is_not_chosen():
    conflict = build_conflict(0, ("s1", "Be loud."), (None, "Be brief."))
    _, [merged_conflict] = build_prompt(
        {"segments": [build_segment("Sign.\n", "s2")], "conflicts": [conflict]}, "Be loud.\n", "Sign.\n"
    )
    assert (merged_conflict.chosen, merged_conflict.choices[1].contributor) == (None, None)


@pytest.mark.parametrize("text", ["Be kind.\n\nSign.\n", "Be kind.\nSign.\n"])
def test_a_chosen_deletion_stays_chosen_and_marks_no_line(text):
    conflict = build_conflict(1, ("s1", "Be loud."), ("s2", "\n"))
    answer = {"segments": [build_segment(text, "s2")], "conflicts": [conflict]}
    merged = build_merged_prompt(json.dumps(answer), PRODUCTION, build_suggestions("Be loud.\n", "Sign.\n"))
    assert {segment.conflict for segment in merged.segments} == {None}
    assert [merged_conflict.chosen for merged_conflict in merged.conflicts] == [1]


def test_two_conflicts_with_the_same_text_mark_different_lines():
    conflicts = [
        build_conflict(0, ("s1", "Sign.\nSign.")),
        build_conflict(0, ("s1", "Sign.")),
        build_conflict(0, ("s1", "Sign.")),
    ]
    answer = {"segments": [build_segment("Sign.\nSign.\nSign.\n", "s1")], "conflicts": conflicts}
    merged = build_merged_prompt(json.dumps(answer), "", build_suggestions("Sign.\n", "Sign.\n", base=""))
    assert [(segment.text, segment.conflict) for segment in merged.segments] == [("Sign.\nSign.\n", 0), ("Sign.", 1)]
    assert [merged_conflict.chosen for merged_conflict in merged.conflicts] == [0, 0, None]


@pytest.mark.timeout(20)
def test_an_answer_that_repeats_a_line_very_often_is_parsed_in_time():
    conflicts = [build_conflict(0, ("s1", "x\n" * 24_000 + "y"))] * 10
    build_prompt(
        {"segments": [build_segment("x\n" * 49_000, "s1")], "conflicts": conflicts},
        "x\n",
        "x\n",
        production="",
        base="",
    )


@pytest.mark.parametrize(
    "conflict",
    [build_conflict(2, ("s1", "a"), ("s2", "b")), build_conflict(-1, ("s1", "a")), build_conflict(0, ("s9", "a"))],
)
def test_a_conflict_with_an_unknown_source_or_choice_is_refused(conflict):
    with pytest.raises(InvalidMergeAnswer):
        build_prompt({"segments": [build_segment("Be loud.\n", "s1")], "conflicts": [conflict]}, "Be loud.\n")


def test_an_answer_that_ignores_a_suggestion_is_refused_unless_a_conflict_names_it():
    segments = [build_segment("Be loud.\n", "s1")]
    with pytest.raises(InvalidMergeAnswer, match="N2"):
        build_prompt({"segments": segments}, "Be loud.\n", "Sign.\n")
    build_prompt({"segments": segments, "conflicts": [build_conflict(0, ("s1", "Be loud."))]}, "Be loud.\n", "Sign.\n")
    build_prompt(
        {"segments": segments}, "Be loud.\n", "Be kind.\n"
    )  # the second one only removes a line, which is removed
    with pytest.raises(InvalidMergeAnswer, match="N2"):
        build_prompt({"segments": [build_segment(PRODUCTION), *segments]}, PRODUCTION + "Be loud.\n", "Be kind.\n")


def test_an_answer_that_drops_a_line_of_production_is_refused():
    """The text of a suggestion may make the merge agent drop a rule that no suggestion removes."""
    with pytest.raises(InvalidMergeAnswer, match="drops lines"):
        build_prompt({"segments": [build_segment("Be loud.\n", "s1")]}, PRODUCTION + "Be loud.\n")


@pytest.mark.parametrize(
    "answer", ["", "null", "[]", "1", "{}", '{"segments": 1}', '{"segments": [{"text": "a"}]}', "{" * 9]
)
def test_an_answer_of_another_shape_is_refused(answer):
    with pytest.raises(InvalidMergeAnswer):
        build_prompt(answer, "Be loud.\n")


def test_an_answer_with_a_prompt_that_is_too_long_is_refused():
    with pytest.raises(InvalidMergeAnswer, match="longer than"):
        build_prompt({"segments": [build_segment("x" * 100_001, "s1")]}, "Be loud.\n")


LINES = st.lists(
    st.sampled_from(["Be kind.", "Be brief.", "Be loud.", "Sign.", "界 🌍", "", " Be kind. ", "x\ry"]), max_size=6
)
TEXTS = LINES.map("\n".join)
SEGMENTS = st.lists(st.builds(build_segment, TEXTS, st.sampled_from(["s1", "s2"])), min_size=1, max_size=5)


@settings(max_examples=examples(150), deadline=None)
@example("Be kind.", "x\ry", " Be kind. ", [build_segment("x\ry\n Be kind. ", "s1")])  # \r is no line break here
@given(TEXTS, TEXTS, TEXTS, SEGMENTS)
def test_the_segments_are_the_prompt_and_lines_of_production_have_no_contributors(production, one, two, segments):
    suggestions = build_suggestions(one, two, base=production)
    try:
        merged = build_merged_prompt(json.dumps({"segments": segments}), production, suggestions)
    except InvalidMergeAnswer:
        return
    answer_lines = [line.strip() for segment in segments for line in segment["text"].split("\n")]
    assert [line for line in answer_lines if line] == [line.strip() for line in merged.text.split("\n") if line.strip()]
    production_lines = {line.strip() for line in production.split("\n")}
    for segment in merged.segments:
        lines = {line.strip() for line in segment.text.split("\n")} - {""}
        assert not (segment.contributors and lines & production_lines)
        assert segment.contributors or lines <= production_lines
