"""Public agents as tools: their names and schemas in the API, the tools of a workspace, and their policies."""

import pytest

from actors.models import Actor
from agents.permissions import get_production
from agents.services import agents, drafts
from agents.services.allowed_tools import get_run_tools
from agents.services.shipped import get_shipped_agent
from agents.specs.content import SpecContent, ToolUse
from common.errors import Conflict, Forbidden, NotFound
from events.rows import Policy
from publishing import services as publishing
from tests.api.client import sign_in
from tests.api.test_rights import fingerprint
from tests.factories.actors import PASSWORD
from tests.factories.agents import add_tool_use
from tests.people import make_agent
from tests.publishing.publications import LISTING, publish
from tests.tools.test_workspace_tools import add_server, add_tool
from tools import services as tools
from tools.models import ToolPolicy
from tools.registry import build_agent_tool_name
from tools.selectors import list_offered_tool_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def public(team):
    """A public agent of another workspace."""
    source = make_agent(team.elsewhere, team.charlie, "Source")
    return publishing.publish_agent(team.charlie, source.id, name="Source", handle="source", **LISTING)


def give(team, name, **fields):
    add_tool_use(team.robin.current_spec, name, **fields)


def list_agent_rows(team):
    return [row for row in list_offered_tool_rows(team.workspace.id) if row.tool_type == "agent"]


def test_the_directory_has_the_name_and_the_schema_of_an_agent_as_a_tool(team, public):
    api = sign_in(team.bob.email, PASSWORD)
    name = build_agent_tool_name(public.id)
    [row] = api.ok("GET", "directory?query=source+interprets")["results"]
    assert row["tool_name"] == name
    detail = api.ok("GET", f"directory/{name}")  # the name of the tool finds the agent, too
    assert (detail["actor"]["id"], detail["tool_name"]) == (str(public.id), name)
    assert detail["tool_schema"]["required"] == ["task"]
    assert set(detail["tool_schema"]["properties"]) == {"task", "context", "options"}
    publishing.take_down_agent(team.charlie, public.id)
    assert api("GET", f"directory/{name}").json()["error"]["code"] == "taken_down"


def test_the_name_of_a_tool_finds_its_agent_and_not_one_that_has_this_name_as_its_handle(team, public):
    name = build_agent_tool_name(public.id)
    publish(team, handle=name)
    api = sign_in(team.bob.email, PASSWORD)
    assert api.ok("GET", f"directory/{name}")["actor"]["handle"] == "source"


def test_an_agent_says_by_which_tool_others_give_it_tasks(team, public):
    api = sign_in(team.alice.email, PASSWORD)
    own = api.ok("GET", f"agents/{team.robin.id}")
    assert (own["tool_name"], own["tool_schema"]["required"]) == ("delegate", ["task", "name"])
    other = api.ok("GET", f"agents/{public.id}")
    assert (other["tool_name"], other["tool_schema"]["required"]) == (build_agent_tool_name(public.id), ["task"])
    agents.update_agent_profile(team.alice, team.robin.id, revision=own["revision"], accepts_tasks=False)
    own = api.ok("GET", f"agents/{team.robin.id}")
    assert (own["tool_name"], own["tool_schema"]) == (None, None)


def test_the_tools_of_a_workspace_have_the_agents_that_one_of_its_agents_has_as_a_tool(team, public):
    assert list_agent_rows(team) == []
    give(team, build_agent_tool_name(public.id), is_enabled=False)
    browser = get_shipped_agent("browser")
    content = SpecContent(prompt="Ask.", tools=(ToolUse(tool=build_agent_tool_name(browser.id)),))
    drafts.claim_draft(team.alice, team.chat.id, team.robin.id, content=content)
    first, second = list_agent_rows(team)
    assert (first.name, first.title, first.publisher_name) == (
        build_agent_tool_name(browser.id),
        "Browser",
        None,
    )
    assert (second.title, second.publisher_name, second.policy) == ("Source", team.elsewhere.name, "auto")
    assert second.agent is not None
    assert (second.agent.id, second.id, second.server_name) == (public.id, None, "")
    assert (second.effect, second.schema_["required"]) == ("read", ["task"])
    # Those of the publisher's workspace are its own affair.
    assert [row for row in list_offered_tool_rows(team.elsewhere.id) if row.tool_type == "agent"] == []
    publishing.take_down_agent(team.charlie, public.id)
    assert [row.title for row in list_agent_rows(team)] == ["Browser"]


def test_the_list_makes_as_many_queries_for_many_agents_as_for_one(team, public, django_assert_num_queries):
    give(team, build_agent_tool_name(public.id))
    with django_assert_num_queries(5):
        list_offered_tool_rows(team.workspace.id)
    for number in range(5):
        source = make_agent(team.elsewhere, team.charlie, f"Other {number}")
        other = publishing.publish_agent(
            team.charlie, source.id, name=f"Other {number}", handle=f"other-{number}", **LISTING
        )
        give(team, build_agent_tool_name(other.id))
    with django_assert_num_queries(5):
        assert len(list_agent_rows(team)) == 6


def test_editors_set_the_policy_of_any_public_agent_for_their_workspace(team, public):
    name = build_agent_tool_name(public.id)
    path = f"workspaces/{team.workspace.id}/tools/{name}/policy"
    row = sign_in(team.alice.email, PASSWORD).ok("PUT", path, {"policy": "ask"})
    assert (row["name"], row["policy"], row["tool_type"], row["agent"]["id"]) == (name, "ask", "agent", str(public.id))
    assert [(one.name, one.policy) for one in list_agent_rows(team)] == [
        (name, "ask")
    ]  # shown, although no agent has it
    own = build_agent_tool_name(team.robin.id)  # an agent of the workspace, which is no tool of its own
    before = fingerprint()
    for actor, tool, error in (
        (team.bob, name, Forbidden),
        (team.charlie, name, NotFound),
        (team.alice, own, NotFound),
    ):
        with pytest.raises(error):
            tools.set_policy(actor, team.workspace.id, tool, policy=Policy.AUTO)
    assert fingerprint() == before
    publishing.take_down_agent(team.charlie, public.id)
    with pytest.raises(NotFound):
        tools.set_policy(team.alice, team.workspace.id, name, policy=Policy.OFF)
    assert ToolPolicy.objects.get().policy == "ask"


def test_a_public_agent_that_is_off_is_no_tool_of_a_run(team, public):
    name = build_agent_tool_name(public.id)
    give(team, name)

    def list_run_tools(workspace):
        robin = Actor.objects.get(pk=team.robin.pk)
        spec = get_production(robin)
        return set(get_run_tools(robin, spec, spec.parse_content(), workspace.id))

    assert name in list_run_tools(team.workspace)
    tools.set_policy(team.alice, team.workspace.id, name, policy=Policy.OFF)
    assert name not in list_run_tools(team.workspace)
    assert name in list_run_tools(team.elsewhere)  # the policy is that of the workspace of the run


def test_no_tool_of_a_workspace_gets_the_name_of_an_agent(team, public):
    server = add_server(team)
    add_tool(team, server, "agent_of_change")
    before = fingerprint()
    with pytest.raises(Conflict):
        add_tool(team, server, build_agent_tool_name(public.id))
    assert fingerprint() == before
