"""A template of a team makes a lead, the agents to which it gives tasks, and their chat, or nothing at all."""

import pytest

from actors.models import Actor
from agents.models import AgentSpec
from agents.services import agents
from agents.services import team_templates as teams
from agents.services.allowed_tools import ConfiguredTool, get_run_tools
from agents.specs.content import SpecContent
from agents.specs.templates import AGENT_TEMPLATES, LANGUAGES, TEAM_TEMPLATES, get_team_template
from boards.agent_tools import PlanTasks
from chats.models import Chat, Message
from common.errors import Forbidden, Invalid, NotFound, QuotaReached
from runs.models import Run
from tests.api.test_rights import client_for
from tests.people import Team, make_agent, make_team
from tools.registry import registry

SPECIALISTS = {
    "weather": {"find_place", "get_forecast"},
    "finance": {"get_exchange_rates", "build_budget"},
    "travel": {"search_guides", "web_fetch"},
    "general": {"web_fetch", "current_time"},
}


@pytest.fixture
def team(db) -> Team:
    return make_team()


def create(team: Team, template: str = "trip") -> teams.NewTeam:
    return teams.create_team_from_template(team.alice, team.workspace.id, template=template)


def get_content(agent: Actor) -> SpecContent:
    assert agent.current_spec is not None
    return agent.current_spec.parse_content()


def list_run_tools(team: Team, agent: Actor) -> dict[str, ConfiguredTool]:
    return get_run_tools(agent, agent.current_spec, get_content(agent), team.workspace.id, with_team=True)


def count_everything() -> tuple[int, int, int, int]:
    return Actor.objects.count(), AgentSpec.objects.count(), Chat.objects.count(), Message.objects.count()


def test_one_call_makes_a_lead_four_specialists_and_a_chat_in_which_the_lead_greets(team):
    new = create(team)
    assert (new.lead.name, new.lead.handle, new.lead.role) == ("Travel lead", "travel-lead", "Leads the team")
    assert [member.handle for member in new.members] == list(SPECIALISTS)
    assert all(member.accepts_tasks and member.parent_id == new.lead.id for member in new.members)
    assert [member.role for member in new.members][3] == "Everything else"
    for member, tools in zip(new.members, SPECIALISTS.values(), strict=True):
        assert tools <= set(list_run_tools(team, member))

    present = new.chat.participants.select_related("actor")
    assert {row.actor_id: row.response for row in present} == {
        team.alice.id: "mentions",
        new.lead.id: "always",
        **{member.id: "mentions" for member in new.members},
    }
    [greeting] = Message.objects.filter(chat=new.chat, type="TEXT_MESSAGE")
    assert greeting.author_id == new.lead.id
    assert greeting.text.startswith("Hello, I am Travel lead, and these are my agents.")
    # Its example question has no improvement: the team looks up what it answers.
    assert greeting.payload["questions"] == list(get_team_template("trip").lead.questions) != []
    assert "improvement" not in greeting.payload
    assert new.chat.title == "Trip"
    assert not Run.objects.exists()


def test_the_lead_is_a_supervisor_that_plans_for_its_members(team):
    new = create(team)
    plan = list_run_tools(team, new.lead)[PlanTasks.name].tool
    assert isinstance(plan, PlanTasks)
    assert list(plan.members) == new.members
    assert "- weather: Weather. Finds out the weather at a place" in plan.description
    content = get_content(new.lead)
    assert (content.team.members, content.team.max_at_once) == (tuple(SPECIALISTS), 3)
    assert "delegate" not in content.tool_names


def test_names_and_handles_that_are_in_use_get_a_number_and_the_second_team_has_its_own_members(team):
    make_agent(team.workspace, team.alice, "Weather")
    deleted = make_agent(team.workspace, team.alice, "Finance")
    agents.delete_agent(team.alice, deleted.id)
    first, second = create(team), create(team)
    assert [(m.name, m.handle) for m in first.members][:2] == [("Weather 2", "weather-2"), ("Finance", "finance")]
    assert [(m.name, m.handle) for m in second.members] == [
        ("Weather 3", "weather-3"),
        ("Finance 2", "finance-2"),
        ("Travel 2", "travel-2"),
        ("General 2", "general-2"),
    ]
    plan = list_run_tools(team, second.lead)[PlanTasks.name].tool
    assert isinstance(plan, PlanTasks)
    assert list(plan.members) == second.members


def test_a_team_has_the_language_of_its_creator(team):
    team.alice.language = "zh-hant"
    team.alice.save(update_fields=["language"])
    new = create(team)
    assert (new.lead.name, new.lead.handle, new.chat.title) == ("旅遊組長", "travel-lead", "旅行")
    assert [(member.name, member.handle) for member in new.members][0] == ("天氣", "weather")
    assert "「六個人去京都四天" in Message.objects.get(chat=new.chat, type="TEXT_MESSAGE").text


@pytest.mark.parametrize(("quota", "most"), [("agents", 5), ("chats", 1)])
def test_a_quota_that_is_reached_in_the_middle_leaves_nothing(team, settings, quota, most):
    """Robin is the first agent: the fifth of the team is one too many. Alice has made one chat."""
    settings.QUOTAS = settings.QUOTAS | {quota: most}
    before = count_everything()
    with pytest.raises(QuotaReached):
        create(team)
    assert count_everything() == before


def test_only_who_may_create_agents_creates_a_team(team):
    before = count_everything()
    for person, error in ((team.bob, Forbidden), (team.charlie, NotFound)):
        with pytest.raises(error):
            teams.create_team_from_template(person, team.workspace.id, template="trip")
    with pytest.raises(Invalid, match="There is no such template"):
        create(team, "circus")
    assert count_everything() == before


def test_the_api_lists_the_templates_and_creates_a_team(team):
    alice = client_for(team, "alice")
    [trip] = alice.ok("GET", "team-templates?language=zh-hans")["results"]
    assert (trip["key"], trip["name"], trip["lead"]["name"]) == ("trip", "旅行团队", "旅游组长")
    assert [member["name"] for member in trip["members"]] == ["天气", "财务", "旅游", "通用"]
    new = alice.ok("POST", f"workspaces/{team.workspace.id}/teams", {"template": "trip"})
    assert new["lead"]["actor"]["handle"] == "travel-lead"
    assert [member["parent_id"] for member in new["members"]] == [new["lead"]["actor"]["id"]] * 4
    participants = alice.ok("GET", f"chats/{new['chat_id']}/participants")["results"]
    assert len(participants) == 6
    alice.refused(400, "invalid", "POST", f"workspaces/{team.workspace.id}/teams", {"template": "circus"})


@pytest.mark.parametrize("key", [*SPECIALISTS, "scribe", "research_lead"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_agent_has_the_tools_and_the_role_of_its_template(team, key, language):
    template = AGENT_TEMPLATES[key][language]
    team.alice.language = language
    agent = agents.create_agent(team.alice, team.workspace.id, name="New", template=key).agent
    content = get_content(agent)
    assert (agent.role, content.prompt) == (template.role, template.prompt)
    assert content.tool_names == set(template.tools) - {"web_search"}  # no search service is set up


def test_a_tool_that_this_installation_lacks_is_left_out_of_new_agents(team, monkeypatch):
    monkeypatch.delitem(registry, "get_forecast")
    new = create(team)
    assert get_content(new.members[0]).tool_names & {"find_place", "get_forecast"} == {"find_place"}
    assert "get_forecast" not in get_template_row(team, "weather")["tools"]


def get_template_row(team: Team, key: str) -> dict:
    rows = client_for(team, "alice").ok("GET", "agent-templates")["results"]
    return next(row for row in rows if row["key"] == key)


@pytest.mark.parametrize(("name", "start"), [("Heron", "你好，我是 Heron。"), ("蒼鷺", "你好，我是蒼鷺。")])
def test_a_greeting_in_chinese_has_a_space_beside_a_latin_name_only(team, name, start):
    team.alice.language = "zh-hant"
    new = agents.create_agent(team.alice, team.workspace.id, name=name, template="scribe", open_chat=True)
    assert Message.objects.get(chat=new.chat, type="TEXT_MESSAGE").text.startswith(start)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_a_template_of_a_team_fits_its_column(language):
    for key in TEAM_TEMPLATES:
        template = get_team_template(key, language)
        for agent in (template.lead, *template.members):
            assert 1 <= len(agent.name) <= 78  # a number may be added
            assert 1 <= len(agent.role) <= 80
            assert agent.greeting.format(name=agent.name)
        assert PlanTasks.name in template.lead.prompt
