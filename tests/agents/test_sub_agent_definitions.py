"""Which agents may be given tasks: those that come with the release, and those of the workspace that accept tasks."""

import json

import pytest

from actors.models import Actor
from agents.permissions import get_production
from agents.services import agents
from agents.services.allowed_tools import get_run_tools
from agents.services.shipped import SHIPPED, get_shipped_agent
from agents.services.teams import find_sub_agents
from agents.specs.content import SpecContent, ToolUse
from agents.sub_agents import DelegateConfig
from common.errors import Conflict, Forbidden, NotFound
from events.models import AuditRecord
from system_tools.web_search.tool import WebSearch
from tests.api.client import sign_in
from tests.factories.actors import PASSWORD
from tests.people import make_agent
from tools.interface import AgentTask
from tools.registry import registry

pytestmark = pytest.mark.django_db


def set_accepts_tasks(actor, agent, *, accepts_tasks):
    return agents.update_agent_profile(actor, agent.id, revision=agent.revision, accepts_tasks=accepts_tasks)


def test_browser_is_the_agent_that_delegate_may_give_tasks_by_default(team):
    assert DelegateConfig().allowed_sub_agents == ["browser"]
    [browser] = find_sub_agents(team.robin, DelegateConfig().allowed_sub_agents)
    assert (browser.name, browser.is_shipped, browser.workspace_id) == ("Browser", True, None)
    content = SHIPPED["browser"].content
    assert get_production(browser).parse_content() == content
    assert (content.limits.max_steps, content.limits.max_seconds) == (10, 600)
    assert content.tool_names == {"web_search", "web_fetch", "current_time"}


def test_a_shipped_agent_is_meant_before_an_own_agent_of_its_handle(team):
    own = make_agent(team.workspace, team.alice, "Browser", handle="browser", prompt="Ours.")
    [found] = find_sub_agents(team.robin, ["browser"])
    assert found == get_shipped_agent("browser")
    assert found != own
    use = ToolUse(tool="delegate", custom_config={"allowed_sub_agents": ["browser"]})
    configured = get_run_tools(team.robin, team.robin.current_spec, SpecContent(tools=(use,)), team.workspace.id)
    args = {"name": "browser", "task": "Find it."}
    delegate = configured["delegate"]
    task = delegate.tool.build_wait(delegate.tool.parse_arguments(json.dumps(args)), delegate.config)
    assert isinstance(task, AgentTask)
    assert task.agent_id == found.id


@pytest.mark.parametrize("name", ["Browser", "@BROWSER ", "browser"])
def test_the_case_of_the_name_of_an_agent_does_not_matter(team, name):
    browser = get_shipped_agent("browser")
    assert find_sub_agents(team.robin, [name, "browser"]) == [browser]
    use = ToolUse(tool="delegate", custom_config={"allowed_sub_agents": [name]})
    tools = get_run_tools(team.robin, team.robin.current_spec, SpecContent(tools=(use,)), team.workspace.id)
    delegate = tools["delegate"]
    arguments = delegate.tool.parse_arguments(json.dumps({"name": name, "task": "Find it."}))
    task = delegate.tool.build_wait(arguments, delegate.config)
    assert isinstance(task, AgentTask)
    assert task.agent_id == browser.id


def test_a_shipped_agent_that_does_jobs_is_given_no_tasks(team):
    get_shipped_agent("merger")
    assert find_sub_agents(team.robin, ["merger", "summarizer"]) == []


@pytest.mark.parametrize("has_service", [True, False])
def test_browser_has_a_search_only_where_a_search_service_is_configured(team, monkeypatch, has_service):
    if has_service:
        monkeypatch.setitem(registry, "web_search", WebSearch())
    else:
        monkeypatch.delitem(registry, "web_search", raising=False)
    browser = get_shipped_agent("browser")
    production = get_production(browser)
    tools = get_run_tools(browser, production, production.parse_content(), team.workspace.id)
    assert sorted(tools) == ["current_time", "web_fetch", *(["web_search"] if has_service else [])]


def test_the_directory_lists_browser_as_an_agent_that_comes_with_the_release(team):
    api = sign_in(team.bob.email, PASSWORD)
    [row] = [row for row in api.ok("GET", "directory")["results"] if row["is_shipped"]]
    assert (row["actor"]["handle"], row["publisher_name"], row["version"]) == ("browser", None, 1)
    chat = api.ok("POST", "directory/browser/try", {"workspace_id": str(team.workspace.id)})
    assert Actor.objects.filter(handle="browser", participants__chat=chat["id"]).exists()
    Actor.objects.filter(handle="browser").update(current_spec=None)
    assert api.ok("GET", "directory/browser")["max_steps"] == 10


def test_an_agent_that_accepts_no_tasks_is_not_found(team):
    researcher = make_agent(team.workspace, team.alice, "Researcher")
    assert find_sub_agents(team.robin, ["researcher"]) == [researcher]
    changed = set_accepts_tasks(team.alice, researcher, accepts_tasks=False)
    assert (changed.accepts_tasks, changed.revision) == (False, researcher.revision + 1)
    assert find_sub_agents(team.robin, ["researcher"]) == []
    set_accepts_tasks(team.alice, changed, accepts_tasks=True)
    assert find_sub_agents(team.robin, ["researcher"]) == [researcher]


def test_editors_decide_whether_an_agent_accepts_tasks(team):
    with pytest.raises(Forbidden):
        set_accepts_tasks(team.bob, team.robin, accepts_tasks=False)
    with pytest.raises(NotFound):
        set_accepts_tasks(team.charlie, team.robin, accepts_tasks=False)
    with pytest.raises(Forbidden):
        set_accepts_tasks(team.alice, get_shipped_agent("browser"), accepts_tasks=False)
    with pytest.raises(Conflict):
        agents.update_agent_profile(team.alice, team.robin.id, revision=99, accepts_tasks=False)
    assert not Actor.objects.filter(accepts_tasks=False).exists()
    assert not AuditRecord.objects.filter(action="agent.profile_updated").exists()
    api = sign_in(team.alice.email, PASSWORD)
    body = {"accepts_tasks": False, "revision": team.robin.revision}
    assert api.ok("PATCH", f"agents/{team.robin.id}", body)["accepts_tasks"] is False
    [row] = api.ok("GET", f"workspaces/{team.workspace.id}/agents")["results"]
    assert row["accepts_tasks"] is False
    assert api("PATCH", f"agents/{team.robin.id}", {"accepts_tasks": "no", "revision": 2}).status_code == 400
