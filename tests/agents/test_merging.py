"""Three-way merging without a model: no proposed line is lost unless a conflict names it."""

import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.specs.content import MAX_MEMBERS, ContextSettings, Limits, Parameters, SpecContent, Team, ToolUse
from agents.specs.merging import Contribution, MergedSpec, attribute_lines, merge_contributions, merge_fields
from common import line_matching
from common.errors import TooLarge
from events.rows import Contributor, Segment

ANN, BEN, CAT = (
    Contributor(id=uuid.UUID(int=number), actor_id=uuid.UUID(int=number + 100), name=name)
    for number, name in enumerate(("Ann", "Ben", "Cat"), 1)
)


def build_content(prompt, **fields):
    return SpecContent(prompt=prompt, **fields)


def build_contribution(contributor, base, content, **fields):
    if isinstance(base, str):
        base, content = build_content(base), build_content(content)
    return Contribution(contributor, base, content)


def merge_texts(production, *texts):
    """Merge texts of several people that were all made on production."""
    contributors = (ANN, BEN, CAT)
    return merge_contributions(
        build_content(production),
        [
            build_contribution(contributor, production, text)
            for contributor, text in zip(contributors, texts, strict=False)
        ],
    )


def list_segments(result: MergedSpec):
    names = {contributor.id: contributor.name for contributor in (ANN, BEN, CAT)}
    return [(segment.text, [names[id] for id in segment.contributors], segment.conflict) for segment in result.segments]


def list_choices(conflict):
    names = {None: None} | {contributor.id: contributor.name for contributor in (ANN, BEN, CAT)}
    return [(names[choice.contributor], choice.text) for choice in conflict.choices]


# --- the prompt ---------------------------------------------------------------------------------------------------


def test_changes_in_different_places_are_all_merged_and_attributed():
    result = merge_texts("a\nb\nc\nd\ne", "A\nb\nc\nd\ne", "a\nb\nc\nd\nE", "a\nb\nx\nc\nd\ne")
    assert result.content.prompt == "A\nb\nx\nc\nd\nE"
    assert list_segments(result) == [
        ("A\n", ["Ann"], None),
        ("b\n", [], None),
        ("x\n", ["Cat"], None),
        ("c\nd\n", [], None),
        ("E", ["Ben"], None),
    ]
    assert result.conflicts == []


def test_the_same_change_of_two_people_has_two_contributors():
    result = merge_texts("a\nb\nc", "a\nB\nc", "a\nB\nc")
    assert (result.content.prompt, result.conflicts) == ("a\nB\nc", [])
    assert list_segments(result)[1] == ("B\n", ["Ann", "Ben"], None)


def test_different_changes_of_one_line_are_a_conflict_and_the_first_is_used():
    result = merge_texts("a\nb\nc", "a\nB\nc", "a\nbb\nc", "a\nbbb\nc")
    assert result.content.prompt == "a\nB\nc"
    assert [(conflict.about, conflict.chosen, list_choices(conflict)) for conflict in result.conflicts] == [
        ("prompt", 0, [("Ann", "B"), ("Ben", "bb"), ("Cat", "bbb")])
    ]
    assert list_segments(result)[1] == ("B\n", ["Ann"], 0)


def test_changes_of_neighbouring_lines_are_a_conflict():
    result = merge_texts("a\nb\nc\nd", "a\nB\nc\nd", "a\nb\nC\nd")
    assert list_choices(result.conflicts[0]) == [("Ann", "B\nc"), ("Ben", "b\nC")]
    assert result.content.prompt == "a\nB\nc\nd"


@pytest.mark.parametrize(
    ("before", "ann", "ben", "after"),
    [
        ("a\nb", "a\nb\nx", "a\nb\ny", "a\nb\nx\ny"),
        ("a\nb\n", "a\nb\nx\n", "a\nb\ny\n", "a\nb\nx\ny\n"),
        ("a\nb", "a\nb\nx\n", "a\nb\ny\n", "a\nb\nx\ny\n"),
        ("a\nb", "a\nb\nx\n", "a\nb\ny", "a\nb\nx\ny\n"),
        ("a\nb", "a\nb\nx", "a\nb\ny\n", "a\nb\nx\ny\n"),
        ("a\nb", "x\na\nb", "y\na\nb", "x\ny\na\nb"),
        ("a\nb", "a\n\nx\nb", "a\n\ny\nb", "a\n\nx\n\ny\nb"),
        ("a\n", "a\nx1\nx2\n", "a\ny\n", "a\nx1\nx2\ny\n"),
    ],
)
def test_two_additions_at_one_place_are_both_used_and_no_conflict(before, ann, ben, after):
    result = merge_texts(before, ann, ben)
    assert (result.content.prompt, result.conflicts) == (after, [])
    assert "".join(segment.text for segment in result.segments) == after
    added = {
        line: names for text, names, _ in list_segments(result) for line in text.split("\n") if line[:1] in ("x", "y")
    }
    assert set(map(tuple, added.values())) == {("Ann",), ("Ben",)}
    assert all((names == ["Ann"]) == line.startswith("x") for line, names in added.items())


def test_additions_of_three_people_are_all_used_in_their_order():
    result = merge_texts("a\n", "a\nx\n", "a\ny\n", "a\nz\n")
    assert (result.content.prompt, result.conflicts) == ("a\nx\ny\nz\n", [])
    assert list_segments(result)[1:4] == [("x\n", ["Ann"], None), ("y\n", ["Ben"], None), ("z\n", ["Cat"], None)]


def test_an_addition_of_production_comes_before_one_at_the_same_place():
    result = merge_contributions(build_content("a\nnew\n"), [build_contribution(ANN, "a\n", "a\nx\n")])
    assert (result.content.prompt, result.conflicts) == ("a\nnew\nx\n", [])
    assert list_segments(result)[:2] == [("a\nnew\n", [], None), ("x\n", ["Ann"], None)]


def test_additions_that_have_a_line_in_common_are_a_conflict():
    """Both would put the common line into the prompt twice."""
    result = merge_texts("a\n", "a\n# Rules\nx\n", "a\n# Rules\ny\n")
    assert result.content.prompt == "a\n# Rules\nx\n"
    assert list_choices(result.conflicts[0]) == [("Ann", "# Rules\nx"), ("Ben", "# Rules\ny")]


def test_a_deletion_and_a_change_of_one_line_are_a_conflict_with_a_segment():
    result = merge_texts("a\nb\nc", "a\nc", "a\nB\nc")
    assert result.content.prompt == "a\nc"
    assert list_choices(result.conflicts[0]) == [("Ann", ""), ("Ben", "B")]
    assert list_segments(result) == [("a\n", [], None), ("", ["Ann"], 0), ("c", [], None)]
    assert merge_texts("a\nb\nc", "a\nB\nc", "a\nc").content.prompt == "a\nB\nc"


def test_the_same_deletion_of_two_people_is_not_a_conflict():
    result = merge_texts("a\nb\nc", "a\nc", "a\nc")
    assert (result.content.prompt, result.conflicts) == ("a\nc", [])


def test_a_change_across_two_conflicts_becomes_one_conflict_with_all_choices():
    result = merge_texts("a\nb\nc\nd\ne", "A\nb\nc\nd\nE", "aa\nb\nc\nd\nee", "all\nnew")
    assert len(result.conflicts) == 1
    assert list_choices(result.conflicts[0]) == [
        ("Ann", "A\nb\nc\nd\nE"),
        ("Ben", "aa\nb\nc\nd\nE"),
        ("Ben", "A\nb\nc\nd\nee"),
        ("Cat", "all\nnew"),
    ]
    assert result.content.prompt == "A\nb\nc\nd\nE"


def test_a_contribution_on_an_older_version_is_merged_into_production():
    result = merge_contributions(build_content("a\nb\nc\nnew"), [build_contribution(ANN, "a\nb\nc", "A\nb\nc")])
    assert (result.content.prompt, result.conflicts) == ("A\nb\nc\nnew", [])


def test_in_a_conflict_with_production_the_contributor_is_used_and_production_is_a_choice():
    result = merge_contributions(
        build_content("a\ntoday\nc"),
        [build_contribution(ANN, "a\nb\nc", "a\nB\nc"), build_contribution(BEN, "a\nb\nc", "a\nbb\nc")],
    )
    assert result.content.prompt == "a\nB\nc"
    assert list_choices(result.conflicts[0]) == [("Ann", "B"), (None, "today"), ("Ben", "bb")]
    assert result.conflicts[0].chosen == 0


def test_a_change_that_production_already_has_is_not_a_conflict():
    result = merge_contributions(build_content("a\nB\nc"), [build_contribution(ANN, "a\nb\nc", "a\nB\nc")])
    assert (result.content.prompt, result.conflicts, list_segments(result)) == ("a\nB\nc", [], [("a\nB\nc", [], None)])


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
def test_all_kinds_of_lines_are_merged(before, ann, ben, after):
    result = merge_texts(before, ann, ben)
    assert (result.content.prompt, result.conflicts) == (after, [])
    assert "".join(segment.text for segment in result.segments) == after


LINES = st.sampled_from(["", "- be kind", "回答簡短。", "🌍", "x", "x\r", "y"])
PROMPTS = st.lists(LINES, max_size=8).map("\n".join)
USES = st.builds(ToolUse, tool=st.sampled_from("abcd"), usage_instructions=st.sampled_from(["", "often", "少用"]))
CONTENTS = st.builds(
    SpecContent,
    prompt=PROMPTS,
    model=st.sampled_from(["", "m", "n"]),
    parameters=st.builds(Parameters, temperature=st.sampled_from([None, 0.0, 1.5])),
    limits=st.builds(Limits, max_steps=st.integers(1, 3)),
    memory=st.sampled_from(["chat", "agent"]),
    context=st.builds(ContextSettings, max_tokens=st.sampled_from([None, 4_000])),
    tools=st.lists(USES, max_size=4, unique_by=lambda use: use.tool).map(tuple),
)


@given(production=CONTENTS, content=CONTENTS)
def test_a_single_contribution_on_production_is_the_result(production, content):
    result = merge_contributions(production, [Contribution(ANN, production, content)])
    assert (result.content, result.conflicts) == (content, [])


KIND, TWICE, ENDED = (SpecContent(prompt=text) for text in ("- be kind", "- be kind\n- be kind", "- be kind\n"))


@example(production=KIND, changes=[(TWICE, ENDED)])
@given(production=CONTENTS, changes=st.lists(st.tuples(CONTENTS, CONTENTS), max_size=3))
def test_every_proposed_line_is_in_the_prompt_or_in_a_conflict(production, changes):
    contributions = [
        Contribution(contributor, *texts) for contributor, texts in zip((ANN, BEN, CAT), changes, strict=False)
    ]
    result = merge_contributions(production, contributions)
    assert "".join(segment.text for segment in result.segments) == result.content.prompt
    prompt = result.content.prompt.split("\n")
    for contribution in contributions:
        in_conflicts = [
            choice.text.split("\n")
            for conflict in result.conflicts
            if conflict.about == "prompt"
            for choice in conflict.choices
            if choice.contributor == contribution.contributor.id
        ]
        found_lines = {line for lines in (prompt, *in_conflicts) for line in lines}
        # Lines that are in the base or in production were not added by the contribution, and blank lines are not conflicts.
        ignored = {"", *contribution.base.prompt.split("\n"), *production.prompt.split("\n")}
        assert set(contribution.content.prompt.split("\n")) - ignored - found_lines == set()
    for index, conflict in enumerate(result.conflicts):
        assert conflict.chosen is not None
        assert len({choice.text for choice in conflict.choices}) > 1
        if conflict.about == "prompt":
            text_in_prompt = "".join(segment.text for segment in result.segments if segment.conflict == index)
            chosen_text = text_in_prompt if result.segments[-1].conflict == index else text_in_prompt.removesuffix("\n")
            assert chosen_text == conflict.choices[conflict.chosen].text


@given(data=st.data())
def test_changes_that_do_not_touch_are_all_merged(data):
    base = [f"line {number}" for number in range(data.draw(st.integers(3, 14)))]
    lines, owners = list(base), {}
    for number in range(0, len(base), 2):
        owners[number] = data.draw(st.sampled_from([None, ANN, BEN, CAT]))
    contributions, after = [], list(base)
    for contributor in (ANN, BEN, CAT):
        proposed = [
            f"{contributor.name} {index}" if owners.get(index) == contributor else line
            for index, line in enumerate(lines)
        ]
        after = [proposed[index] if proposed[index] != base[index] else line for index, line in enumerate(after)]
        contributions.append(build_contribution(contributor, "\n".join(base), "\n".join(proposed)))
    result = merge_contributions(build_content("\n".join(base)), contributions)
    assert (result.content.prompt, result.conflicts) == ("\n".join(after), [])


@given(data=st.data())
def test_additions_at_any_places_are_all_used_once_and_attributed(data):
    base = [f"line {number}" for number in range(data.draw(st.integers(0, 6)))]
    contributions, added = [], {}
    for contributor in (ANN, BEN, CAT):
        lines = list(base)
        for number in range(data.draw(st.integers(1, 3))):
            text = f"{contributor.name} {number}"
            lines.insert(data.draw(st.integers(0, len(lines))), text)
            added[text] = contributor.id
        contributions.append(build_contribution(contributor, "\n".join([*base, ""]), "\n".join([*lines, ""])))
    result = merge_contributions(build_content("\n".join([*base, ""])), contributions)
    assert result.conflicts == []
    assert sorted(result.content.prompt.split("\n")) == sorted([*base, *added, ""])
    assert [line for line in result.content.prompt.split("\n") if line in base] == base
    owners = {line: segment.contributors for segment in result.segments for line in segment.text.split("\n") if line}
    assert owners == {line: [added[line]] if line in added else [] for line in [*base, *added]}


def test_lines_are_attributed_to_the_edit_that_added_them():
    before = merge_texts("a\nb\nc", "a\nB\nc", "a\nb\nc\nd").segments
    segments = attribute_lines(before, [(CAT.id, "a\nB\nc\nmore"), (ANN.id, "first\na\nB\nc\nmore")])
    assert [(segment.text, segment.contributors) for segment in segments] == [
        ("first\n", [ANN.id]),
        ("a\n", []),
        ("B\n", [ANN.id]),
        ("c\n", []),
        ("more", [CAT.id]),
    ]


@given(texts=st.lists(PROMPTS, min_size=1, max_size=4))
def test_attributed_segments_are_the_text(texts):
    segments = attribute_lines([Segment(text=texts[0])], [(ANN.id, text) for text in texts[1:]])
    assert "".join(segment.text for segment in segments) == texts[-1]


# --- everything else ----------------------------------------------------------------------------------------------


def test_a_field_changed_by_one_is_merged_and_one_changed_differently_by_two_is_a_conflict():
    base = build_content("", model="m", tools=(ToolUse(tool="a"), ToolUse(tool="b")))
    ann = build_content("", model="n", limits=Limits(max_steps=3), tools=(ToolUse(tool="b"), ToolUse(tool="c")))
    ben = build_content("", model="o", memory="agent", tools=(ToolUse(tool="a", is_enabled=False), ToolUse(tool="b")))
    content, conflicts = merge_fields(base, [Contribution(ANN, base, ann), Contribution(BEN, base, ben)])
    assert (content.model, content.limits.max_steps, content.memory) == ("n", 3, "agent")
    assert [use.tool for use in content.tools] == ["b", "c"]
    assert [(conflict.about, list_choices(conflict), conflict.chosen) for conflict in conflicts] == [
        ("model", [("Ann", "n"), ("Ben", "o")], 0),
        (
            "tools.a",
            [("Ann", ""), ("Ben", '{"custom_config": {}, "is_enabled": false, "tool": "a", "usage_instructions": ""}')],
            0,
        ),
    ]


def test_members_of_a_team_are_merged_one_by_one():
    base, ann, ben, cat = (
        build_content("", team=Team(members=members.split(), max_tasks=tasks))
        for members, tasks in (
            ("weather finance", 10),
            ("weather finance travel", 10),
            ("browser weather", 10),
            ("weather finance travel", 4),
        )
    )
    contributions = [Contribution(one, base, content) for one, content in ((ANN, ann), (BEN, ben), (CAT, cat))]
    content, conflicts = merge_fields(base, contributions)
    assert (content.team.members, content.team.max_tasks) == (("browser", "weather", "travel"), 4)
    assert conflicts == []


def test_a_merged_team_that_is_too_large_is_refused():
    members = [f"agent-{number}" for number in range(MAX_MEMBERS)]
    base, ann, ben = (build_content("", team=Team(members=m)) for m in (members[:-1], members, [*members[:-1], "one"]))
    with pytest.raises(TooLarge):
        merge_fields(base, [Contribution(ANN, base, ann), Contribution(BEN, base, ben)])


def test_a_field_that_production_also_changed_is_a_conflict():
    base, today, ann = (build_content("", parameters=Parameters(temperature=value)) for value in (0.1, 0.5, 0.9))
    content, conflicts = merge_fields(today, [Contribution(ANN, base, ann)])
    assert content.parameters.temperature == 0.9
    assert list_choices(conflicts[0]) == [("Ann", "0.9"), (None, "0.5")]
    assert merge_fields(today, [Contribution(ANN, base, base)]) == (today, [])
    assert merge_fields(today, [Contribution(ANN, base, today)]) == (today, [])


def test_new_tools_keep_their_position_after_their_neighbour():
    def build_with_tools(names):
        return build_content("", tools=tuple(ToolUse(tool=name) for name in names))

    contributions = [
        Contribution(contributor, build_with_tools("abc"), build_with_tools(names))
        for contributor, names in ((ANN, "axbc"), (BEN, "abcy"), (CAT, "abyc"))
    ]
    content, conflicts = merge_fields(build_with_tools("abc"), contributions)
    assert ("".join(use.tool for use in content.tools), conflicts) == ("axbcy", [])


def test_a_merged_prompt_that_is_too_long_is_refused():
    with pytest.raises(TooLarge):
        merge_texts("a\nb", "x" * 60_000 + "\na\nb", "a\nb\n" + "x" * 60_000)


def test_long_texts_of_equal_lines_are_aligned_in_time():
    before, after = ["", "x"] * 30_000, ["x", "x", ""] * 20_000
    parts = list(line_matching.align_three(before, after, before))
    assert [line for part in parts for line in before[part.base.start : part.base.stop]] == before
    assert [line for part in parts for line in after[part.ours.start : part.ours.stop]] == after
