"""What a merge agent answers is believed as far as the texts bear it out, and no further. Pure: no database."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.specs.content import SpecContent
from agents.specs.merging import Proposal
from common.ids import new_id
from events.rows import Contributor
from suggestions.job_inputs import name_proposals
from suggestions.merge_answer import InvalidMergeAnswer, build_merged_prompt
from tests.chaos import examples
from tests.suggestions.environment import segment

TODAY = "Be kind.\nBe brief.\n"


def suggested(*texts, base=TODAY):
    """Suggestions s1, s2, … with these prompts, made on `base`."""
    return name_proposals(
        [
            Proposal(Contributor(id=new_id(), actor_id=new_id(), name=f"N{number}"), SpecContent(prompt=base),
                     SpecContent(prompt=text))
            for number, text in enumerate(texts, 1)
        ],
        [""] * len(texts),
    )  # fmt: skip


def read(answer, *texts, today=TODAY, base=TODAY):
    """The lines of the merged prompt, each with the names of whose it is; and the conflicts."""
    suggestions = suggested(*texts, base=base)
    names = {one.proposal.contributor.id: one.name for one in suggestions}
    merged = build_merged_prompt(answer if isinstance(answer, str) else json.dumps(answer), today, suggestions)
    credited = [
        (segment.text, [names[contributor] for contributor in segment.contributors]) for segment in merged.segments
    ]
    return credited, merged.conflicts


def test_verbatim_words_are_credited_to_where_they_stand_whatever_is_claimed():
    answer = {"segments": [segment("Be kind.\n", "s2"), segment("Be loud.\n", "s2"), segment("Sign.\n")]}
    credited, _ = read(answer, "Be kind.\nBe loud.\n", TODAY + "Sign.\n")
    assert credited == [("Be kind.\n", []), ("Be loud.\n", ["s1"]), ("Sign.\n", ["s2"])]


def test_a_segment_is_split_at_line_ends_where_its_words_are_of_several():
    credited, _ = read({"segments": [segment("Be kind.\nBe loud.\nSign.\n", "s1", "s2")]}, "Be loud.\n", "Sign.\n")
    assert credited == [("Be kind.\n", []), ("Be loud.\n", ["s1"]), ("Sign.\n", ["s2"])]


def test_words_that_were_joined_are_of_all_they_were_joined_from():
    credited, _ = read({"segments": [segment("Be loud and sign.\n", "s1", "s2")]}, "Be loud.\n", "Sign.\n")
    assert credited == [("Be loud and sign.\n", ["s1", "s2"])]


def test_what_two_suggest_alike_is_of_both():
    credited, _ = read({"segments": [segment("Be loud.\n", "s1")]}, "Be loud.\n", "Be loud.\n")
    assert credited == [("Be loud.\n", ["s1", "s2"])]


def test_words_of_an_older_version_are_not_the_suggestions_own():
    """s1 was made when the prompt said "Be old."; bringing that back is nobody's wish."""
    with pytest.raises(InvalidMergeAnswer, match="neither in production nor"):
        read({"segments": [segment("Be old.\n"), segment("Sign.\n", "s1")]}, "Be old.\nSign.\n", base="Be old.\n")


def test_segments_that_lost_their_line_ends_do_not_run_together():
    credited, _ = read({"segments": [segment("Be kind."), segment("Be loud.", "s1")]}, "Be loud.\n")
    assert "".join(text for text, _ in credited) == "Be kind.\nBe loud.\n"


def test_the_text_ends_as_production_does():
    credited, _ = read({"segments": [segment("Be kind.\n"), segment("Be loud.\n", "s1")]}, "Be loud.", today="Be kind.")
    assert "".join(text for text, _ in credited) == "Be kind.\nBe loud."


@pytest.mark.parametrize("around", ["```json\n{}\n```", "Here you are:\n```\n{}\n```\nGood luck!"])
def test_an_answer_in_a_fence_is_read(around):
    answer = json.dumps({"segments": [segment("Be loud.\n", "s1")], "conflicts": []})
    assert read(around.replace("{}", answer), "Be loud.\n")[0] == [("Be loud.\n", ["s1"])]


def conflict(chosen, *choices):
    said = [{"from": name, "text": text} for name, text in choices]
    return {"question": " Which? ", "between": ["s1", "s2"], "choices": said, "chosen": chosen}


def test_the_chosen_version_of_a_conflict_is_found_in_the_text():
    said = conflict(1, ("s1", "Be loud."), ("s2", "Sign.\nDate."))
    suggestions = suggested("Be loud.\n", "Sign.\nDate.\n")
    answer = {"segments": [segment("Be kind.\nSign.\nDate.\n", "s2")], "conflicts": [said]}
    merged = build_merged_prompt(json.dumps(answer), TODAY, suggestions)
    assert [(segment.text, segment.conflict) for segment in merged.segments] == [
        ("Be kind.\n", None),
        ("Sign.\nDate.\n", 0),
    ]
    [found] = merged.conflicts
    assert (found.about, found.question, found.chosen) == ("prompt", "Which?", 1)
    assert [choice.contributor for choice in found.choices] == [one.proposal.contributor.id for one in suggestions]


def test_a_version_that_does_not_stand_in_the_text_was_not_chosen():
    said = conflict(0, ("s1", "Be loud."), (None, "Be brief."))
    _, [found] = read({"segments": [segment("Sign.\n", "s2")], "conflicts": [said]}, "Be loud.\n", "Sign.\n")
    assert (found.chosen, found.choices[1].contributor) == (None, None)


def test_two_conflicts_about_the_same_words_are_two_places():
    said = [conflict(0, ("s1", "Sign.\nSign.")), conflict(0, ("s1", "Sign.")), conflict(0, ("s1", "Sign."))]
    answer = {"segments": [segment("Sign.\nSign.\nSign.\n", "s1")], "conflicts": said}
    merged = build_merged_prompt(json.dumps(answer), "", suggested("Sign.\n", "Sign.\n", base=""))
    assert [(segment.text, segment.conflict) for segment in merged.segments] == [("Sign.\nSign.\n", 0), ("Sign.", 1)]
    assert [found.chosen for found in merged.conflicts] == [0, 0, None]


@pytest.mark.timeout(20)
def test_an_answer_that_repeats_itself_without_end_is_read_all_the_same():
    said = [conflict(0, ("s1", "x\n" * 24_000 + "y"))] * 10
    read({"segments": [segment("x\n" * 49_000, "s1")], "conflicts": said}, "x\n", "x\n", today="", base="")


@pytest.mark.parametrize(
    "said", [conflict(2, ("s1", "a"), ("s2", "b")), conflict(-1, ("s1", "a")), conflict(0, ("s9", "a"))]
)
def test_a_conflict_between_what_there_is_not_is_no_answer(said):
    with pytest.raises(InvalidMergeAnswer):
        read({"segments": [segment("Be loud.\n", "s1")], "conflicts": [said]}, "Be loud.\n")


def test_who_is_left_out_without_a_word_makes_the_answer_unusable_and_who_loses_a_conflict_does_not():
    segments = [segment("Be loud.\n", "s1")]
    with pytest.raises(InvalidMergeAnswer, match="N2"):
        read({"segments": segments}, "Be loud.\n", "Sign.\n")
    read({"segments": segments, "conflicts": [conflict(0, ("s1", "Be loud."))]}, "Be loud.\n", "Sign.\n")
    read({"segments": segments}, "Be loud.\n", "Be kind.\n")  # who only takes something away got it
    with pytest.raises(InvalidMergeAnswer, match="N2"):
        read({"segments": [segment(TODAY), *segments]}, TODAY + "Be loud.\n", "Be kind.\n")


def test_words_of_production_that_nobody_takes_out_do_not_vanish():
    """A suggestion's text may talk the agent into dropping a rule: that is no merge of what was suggested."""
    with pytest.raises(InvalidMergeAnswer, match="drops words"):
        read({"segments": [segment("Be loud.\n", "s1")]}, TODAY + "Be loud.\n")


@pytest.mark.parametrize(
    "answer", ["", "null", "[]", "1", "{}", '{"segments": 1}', '{"segments": [{"text": "a"}]}', "{" * 9]
)
def test_what_has_another_shape_is_no_answer(answer):
    with pytest.raises(InvalidMergeAnswer):
        read(answer, "Be loud.\n")


def test_more_than_an_agent_can_be_given_is_no_answer():
    with pytest.raises(InvalidMergeAnswer, match="longer than"):
        read({"segments": [segment("x" * 100_001, "s1")]}, "Be loud.\n")


LINES = st.lists(
    st.sampled_from(["Be kind.", "Be brief.", "Be loud.", "Sign.", "界 🌍", "", " Be kind. ", "x\ry"]), max_size=6
)
TEXTS = LINES.map("\n".join)
SEGMENTS = st.lists(st.builds(segment, TEXTS, st.sampled_from(["s1", "s2"])), min_size=1, max_size=5)


@settings(max_examples=examples(150), deadline=None)
@given(TEXTS, TEXTS, TEXTS, SEGMENTS)
def test_segments_are_the_prompt_and_nobody_is_credited_with_words_of_production(today, one, two, segments):
    suggestions = suggested(one, two, base=today)
    try:
        merged = build_merged_prompt(json.dumps({"segments": segments}), today, suggestions)
    except InvalidMergeAnswer:
        return
    said = [line.strip() for one in segments for line in one["text"].split("\n")]
    assert [line for line in said if line] == [line.strip() for line in merged.text.split("\n") if line.strip()]
    own = {line.strip() for line in today.split("\n")}
    for found in merged.segments:
        lines = {line.strip() for line in found.text.split("\n")} - {""}
        assert not (found.contributors and lines & own)
        assert found.contributors or lines <= own
