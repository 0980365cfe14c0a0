"""Three-way merging without a model: nothing that anybody wants is lost without a conflict that names it."""

import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.specs import matching
from agents.specs.content import Limits, Parameters, SpecContent, ToolUse
from agents.specs.merging import Merged, Proposal, attribute_lines, merge_fields, merge_proposals
from common.errors import TooLarge
from events.rows import Contributor, Segment

ANN, BEN, CAT = (
    Contributor(id=uuid.UUID(int=number), actor_id=uuid.UUID(int=number + 100), name=name)
    for number, name in enumerate(("Ann", "Ben", "Cat"), 1)
)


def says(prompt, **fields):
    return SpecContent(prompt=prompt, **fields)


def wants(contributor, base, content, **fields):
    if isinstance(base, str):
        base, content = says(base), says(content)
    return Proposal(contributor, base, content)


def together(production, *texts):
    """What comes of several people's texts, all made on production."""
    contributors = (ANN, BEN, CAT)
    return merge_proposals(
        says(production), [wants(v, production, t) for v, t in zip(contributors, texts, strict=False)]
    )


def voiced(result: Merged):
    names = {contributor.id: contributor.name for contributor in (ANN, BEN, CAT)}
    return [(segment.text, [names[id] for id in segment.contributors], segment.conflict) for segment in result.segments]


def choices(conflict):
    names = {None: None} | {contributor.id: contributor.name for contributor in (ANN, BEN, CAT)}
    return [(names[choice.contributor], choice.text) for choice in conflict.choices]


# --- the prompt ---------------------------------------------------------------------------------------------------


def test_changes_in_different_places_all_land_and_carry_their_authors():
    result = together("a\nb\nc\nd\ne", "A\nb\nc\nd\ne", "a\nb\nc\nd\nE", "a\nb\nx\nc\nd\ne")
    assert result.content.prompt == "A\nb\nx\nc\nd\nE"
    assert voiced(result) == [
        ("A\n", ["Ann"], None), ("b\n", [], None), ("x\n", ["Cat"], None), ("c\nd\n", [], None), ("E", ["Ben"], None)
    ]  # fmt: skip
    assert result.conflicts == []


def test_the_same_change_by_two_is_one_and_both_are_named():
    result = together("a\nb\nc", "a\nB\nc", "a\nB\nc")
    assert (result.content.prompt, result.conflicts) == ("a\nB\nc", [])
    assert voiced(result)[1] == ("B\n", ["Ann", "Ben"], None)


def test_two_changes_of_one_line_are_a_conflict_and_the_first_stands():
    result = together("a\nb\nc", "a\nB\nc", "a\nbb\nc", "a\nbbb\nc")
    assert result.content.prompt == "a\nB\nc"
    assert [(c.about, c.chosen, choices(c)) for c in result.conflicts] == [
        ("prompt", 0, [("Ann", "B"), ("Ben", "bb"), ("Cat", "bbb")])
    ]
    assert voiced(result)[1] == ("B\n", ["Ann"], 0)


def test_changes_of_neighbouring_lines_are_a_conflict():
    result = together("a\nb\nc\nd", "a\nB\nc\nd", "a\nb\nC\nd")
    assert choices(result.conflicts[0]) == [("Ann", "B\nc"), ("Ben", "b\nC")]
    assert result.content.prompt == "a\nB\nc\nd"


def test_taking_a_line_away_against_changing_it_is_a_conflict_and_has_its_place():
    result = together("a\nb\nc", "a\nc", "a\nB\nc")
    assert result.content.prompt == "a\nc"
    assert choices(result.conflicts[0]) == [("Ann", ""), ("Ben", "B")]
    assert voiced(result) == [("a\n", [], None), ("", ["Ann"], 0), ("c", [], None)]
    assert together("a\nb\nc", "a\nB\nc", "a\nc").content.prompt == "a\nB\nc"


def test_taking_a_line_away_twice_is_agreement():
    result = together("a\nb\nc", "a\nc", "a\nc")
    assert (result.content.prompt, result.conflicts) == ("a\nc", [])


def test_a_third_contributor_over_two_conflicts_names_all_that_was_said():
    result = together("a\nb\nc\nd\ne", "A\nb\nc\nd\nE", "aa\nb\nc\nd\nee", "all\nnew")
    assert len(result.conflicts) == 1
    assert choices(result.conflicts[0]) == [
        ("Ann", "A\nb\nc\nd\nE"), ("Ben", "aa\nb\nc\nd\nE"), ("Ben", "A\nb\nc\nd\nee"), ("Cat", "all\nnew")
    ]  # fmt: skip
    assert result.content.prompt == "A\nb\nc\nd\nE"


def test_what_was_made_on_an_older_version_goes_on_top_of_todays():
    result = merge_proposals(says("a\nb\nc\nnew"), [wants(ANN, "a\nb\nc", "A\nb\nc")])
    assert (result.content.prompt, result.conflicts) == ("A\nb\nc\nnew", [])


def test_production_against_a_contributor_lets_the_contributor_stand_and_offers_what_production_says():
    result = merge_proposals(says("a\ntoday\nc"), [wants(ANN, "a\nb\nc", "a\nB\nc"), wants(BEN, "a\nb\nc", "a\nbb\nc")])
    assert result.content.prompt == "a\nB\nc"
    assert choices(result.conflicts[0]) == [("Ann", "B"), (None, "today"), ("Ben", "bb")]
    assert result.conflicts[0].chosen == 0


def test_it_does_not_ask_about_what_production_says_already():
    result = merge_proposals(says("a\nB\nc"), [wants(ANN, "a\nb\nc", "a\nB\nc")])
    assert (result.content.prompt, result.conflicts, voiced(result)) == ("a\nB\nc", [], [("a\nB\nc", [], None)])


@pytest.mark.parametrize(
    ("before", "ann", "ben", "after"),
    [
        ("一\n二\n三", "壹\n二\n三", "一\n二\n三🌍", "壹\n二\n三🌍"),
        ("a\r\nb\r\nc\r\n", "A\r\nb\r\nc\r\n", "a\r\nb\r\nC\r\n", "A\r\nb\r\nC\r\n"),
        ("a\nb\nc", "a\nb\nc\nd", "A\nb\nc", "A\nb\nc\nd"),
        ("a\nb\nc", "a\nb\nc\n", "A\nb\nc", "A\nb\nc\n"),
        ("a\u2028b\x0bc\nd\ne", "a\u2028B\x0bc\nd\ne", "a\u2028b\x0bc\nd\nE", "a\u2028B\x0bc\nd\nE"),
        ("", "hello", "", "hello"),
        ("a\nb\nc", "", "a\nb\nc", ""),
    ],
)
def test_every_kind_of_line(before, ann, ben, after):
    result = together(before, ann, ben)
    assert (result.content.prompt, result.conflicts) == (after, [])
    assert "".join(segment.text for segment in result.segments) == after


LINES = st.sampled_from(["", "- be kind", "回答簡短。", "🌍", "x", "x\r", "y"])
PROMPTS = st.lists(LINES, max_size=8).map("\n".join)
USES = st.builds(ToolUse, tool=st.sampled_from("abcd"), usage_instructions=st.sampled_from(["", "often", "少用"]))
CONTENTS = st.builds(
    SpecContent, prompt=PROMPTS, model=st.sampled_from(["", "m", "n"]),
    parameters=st.builds(Parameters, temperature=st.sampled_from([None, 0.0, 1.5])),
    limits=st.builds(Limits, max_steps=st.integers(1, 3)), memory=st.sampled_from(["chat", "agent"]),
    tools=st.lists(USES, max_size=4, unique_by=lambda use: use.tool).map(tuple),
)  # fmt: skip


@given(production=CONTENTS, content=CONTENTS)
def test_one_proposal_on_todays_production_comes_out_as_it_is(production, content):
    result = merge_proposals(production, [Proposal(ANN, production, content)])
    assert (result.content, result.conflicts) == (content, [])


KIND, TWICE, ENDED = (SpecContent(prompt=text) for text in ("- be kind", "- be kind\n- be kind", "- be kind\n"))


@example(production=KIND, proposals=[(TWICE, ENDED)])
@given(production=CONTENTS, proposals=st.lists(st.tuples(CONTENTS, CONTENTS), max_size=3))
def test_nothing_that_anybody_wrote_vanishes_without_a_conflict_that_names_it(production, proposals):
    made = [Proposal(contributor, *texts) for contributor, texts in zip((ANN, BEN, CAT), proposals, strict=False)]
    result = merge_proposals(production, made)
    assert "".join(segment.text for segment in result.segments) == result.content.prompt
    prompt = result.content.prompt.split("\n")
    for proposal in made:
        named = [c.text.split("\n") for one in result.conflicts if one.about == "prompt"
                 for c in one.choices if c.contributor == proposal.contributor.id]  # fmt: skip
        known = {line for lines in (prompt, *named) for line in lines}
        # What production says already is nobody's wish any more; and a blank line against none asks nobody.
        stood = {"", *proposal.base.prompt.split("\n"), *production.prompt.split("\n")}
        assert set(proposal.content.prompt.split("\n")) - stood - known == set()
    for place, conflict in enumerate(result.conflicts):
        assert conflict.chosen is not None
        assert len({choice.text for choice in conflict.choices}) > 1
        if conflict.about == "prompt":
            standing = "".join(segment.text for segment in result.segments if segment.conflict == place)
            ended = standing if result.segments[-1].conflict == place else standing.removesuffix("\n")
            assert ended == conflict.choices[conflict.chosen].text


@given(data=st.data())
def test_changes_that_do_not_touch_all_land(data):
    base = [f"line {number}" for number in range(data.draw(st.integers(3, 14)))]
    lines, owners = list(base), {}
    for number in range(0, len(base), 2):
        owners[number] = data.draw(st.sampled_from([None, ANN, BEN, CAT]))
    made, after = [], list(base)
    for contributor in (ANN, BEN, CAT):
        mine = [f"{contributor.name} {n}" if owners.get(n) == contributor else line for n, line in enumerate(lines)]
        after = [mine[n] if mine[n] != base[n] else line for n, line in enumerate(after)]
        made.append(wants(contributor, "\n".join(base), "\n".join(mine)))
    result = merge_proposals(says("\n".join(base)), made)
    assert (result.content.prompt, result.conflicts) == ("\n".join(after), [])


def test_whose_the_lines_are_that_came_to_be_step_by_step():
    before = together("a\nb\nc", "a\nB\nc", "a\nb\nc\nd").segments
    told = attribute_lines(before, [(CAT.id, "a\nB\nc\nmore"), (ANN.id, "first\na\nB\nc\nmore")])
    assert [(segment.text, segment.contributors) for segment in told] == [
        ("first\n", [ANN.id]), ("a\n", []), ("B\n", [ANN.id]), ("c\n", []), ("more", [CAT.id])
    ]  # fmt: skip


@given(texts=st.lists(PROMPTS, min_size=1, max_size=4))
def test_told_segments_are_the_text(texts):
    told = attribute_lines([Segment(text=texts[0])], [(ANN.id, text) for text in texts[1:]])
    assert "".join(segment.text for segment in told) == texts[-1]


# --- everything else ----------------------------------------------------------------------------------------------


def test_a_field_that_one_changes_is_taken_and_what_two_change_differently_is_asked():
    base = says("", model="m", tools=(ToolUse(tool="a"), ToolUse(tool="b")))
    ann = says("", model="n", limits=Limits(max_steps=3), tools=(ToolUse(tool="b"), ToolUse(tool="c")))
    ben = says("", model="o", memory="agent", tools=(ToolUse(tool="a", is_enabled=False), ToolUse(tool="b")))
    content, conflicts = merge_fields(base, [Proposal(ANN, base, ann), Proposal(BEN, base, ben)])
    assert (content.model, content.limits.max_steps, content.memory) == ("n", 3, "agent")
    assert [use.tool for use in content.tools] == ["b", "c"]
    assert [(c.about, choices(c), c.chosen) for c in conflicts] == [
        ("model", [("Ann", "n"), ("Ben", "o")], 0),
        ("tools.a", [("Ann", ""),
                     ("Ben", '{"custom_config": {}, "is_enabled": false, "tool": "a", "usage_instructions": ""}')], 0),
    ]  # fmt: skip


def test_a_field_that_production_changed_meanwhile_is_asked_about():
    base, today, ann = (says("", parameters=Parameters(temperature=t)) for t in (0.1, 0.5, 0.9))
    content, conflicts = merge_fields(today, [Proposal(ANN, base, ann)])
    assert content.parameters.temperature == 0.9
    assert choices(conflicts[0]) == [("Ann", "0.9"), (None, "0.5")]
    assert merge_fields(today, [Proposal(ANN, base, base)]) == (today, [])
    assert merge_fields(today, [Proposal(ANN, base, today)]) == (today, [])


def test_new_tools_of_two_people_stand_beside_their_neighbours():
    def having(names):
        return says("", tools=tuple(ToolUse(tool=name) for name in names))

    made = [Proposal(v, having("abc"), having(n)) for v, n in ((ANN, "axbc"), (BEN, "abcy"), (CAT, "abyc"))]
    content, conflicts = merge_fields(having("abc"), made)
    assert ("".join(use.tool for use in content.tools), conflicts) == ("axbcy", [])


def test_what_is_more_than_a_spec_can_lock_is_refused():
    with pytest.raises(TooLarge):
        together("a\nb", "x" * 60_000 + "\na\nb", "a\nb\n" + "x" * 60_000)


def test_texts_of_nothing_but_equal_lines_take_no_minutes():
    before, after = ["", "x"] * 30_000, ["x", "x", ""] * 20_000
    parts = list(matching.align_three(before, after, before))
    assert [line for part in parts for line in before[part.base.start : part.base.stop]] == before
    assert [line for part in parts for line in after[part.ours.start : part.ours.stop]] == after
