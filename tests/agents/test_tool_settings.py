"""The settings of tools, and the team, are checked when a spec is written."""

import pytest
from pydantic import ValidationError

from actors.models import Actor
from agents.services.specs import check_content
from agents.specs.content import SpecContent, Team, ToolUse
from common.errors import Invalid
from tests.factories.agents import change_spec
from tests.people import make_agent


def build_content(**custom_config: object) -> SpecContent:
    return SpecContent(tools=(ToolUse(tool="web_fetch", custom_config=custom_config),))


def test_valid_settings_are_accepted() -> None:
    check_content(build_content())
    check_content(build_content(timeout_s=5, retries=0, max_chars=500))


@pytest.mark.parametrize(
    ("custom", "hint"),
    [
        ({"timeout_s": 999}, "timeout_s: Input should be less than or equal to 120"),
        ({"max_chars": 20_000}, "max_chars: Input should be less than or equal to 19000"),
        ({"colour": "red"}, "colour: Extra inputs are not permitted"),
    ],
)
def test_invalid_settings_are_refused_with_their_names(custom: dict[str, object], hint: str) -> None:
    with pytest.raises(Invalid, match="The settings of the tool web_fetch do not fit") as refusal:
        check_content(build_content(**custom))
    assert refusal.value.hints == [hint]


def build_team(*members: str) -> SpecContent:
    return SpecContent(team=Team(members=members))


@pytest.mark.django_db
def test_a_member_of_a_team_exists_and_accepts_tasks(team):
    scribe = make_agent(team.workspace, team.alice, "Scribe")
    make_agent(team.elsewhere, team.charlie, "Stranger")
    check_content(build_team("scribe", "browser"), agent=team.robin)
    check_content(build_team("scribe", "browser"), workspace_id=team.workspace.id)
    for members, text, hint in (
        (("scribe", "ghost"), "@ghost", "team.members: Remove @ghost, or let it accept tasks."),
        (("stranger",), "@stranger", "team.members: Remove @stranger, or let it accept tasks."),
        (("robin",), "no member of its own team", "team.members: Remove @robin."),
    ):
        with pytest.raises(Invalid, match=text) as refusal:
            check_content(build_team(*members), agent=team.robin)
        assert refusal.value.hints == [hint]
    Actor.objects.filter(pk=scribe.pk).update(accepts_tasks=False)
    with pytest.raises(Invalid, match="@scribe"):
        check_content(build_team("scribe"), agent=team.robin)
    change_spec(team.robin.current_spec, team={"members": ["scribe"]})
    check_content(build_team("scribe"), agent=team.robin)  # a draft with its name can still be edited


@pytest.mark.parametrize(
    "fields",
    [
        {"members": ["a", "a"]},
        {"members": ["Not a handle"]},
        {"max_tasks": 26},
        {"max_at_once": 0},
        {"limit_dollars": -1},
        {"colour": "red"},
    ],
)
def test_a_team_has_limits(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Team.model_validate(fields)
