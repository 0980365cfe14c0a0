"""The rows of agents in lists, and the row of one agent."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chats import services as chats
from runs.models import Run
from runs.services.claims import claim_run
from tests.api.test_rights import client_for
from tests.people import make_agent
from tests.publishing.publications import add_to_chat, publish

pytestmark = pytest.mark.django_db


def test_a_list_of_agents_neither_has_nor_reads_prompts(team):
    long_prompt = "Answer slowly. " * 1_000
    scribe = make_agent(team.workspace, team.alice, "Scribe", prompt=long_prompt)
    alice = client_for(team, "alice")
    with CaptureQueriesContext(connection) as queries:
        rows = alice.ok("GET", f"workspaces/{team.workspace.id}/agents")["results"]
    assert [row["actor"]["name"] for row in rows] == ["Robin", "Scribe"]
    assert set(rows[1]) == {
        "actor",
        "state",
        "verbs",
        "accepts_tasks",
        "is_suspended",
        "role",
        "parent_id",
        "created_at",
    }
    sql = " ".join(query["sql"] for query in queries)
    assert "agents_agentspec" not in sql
    one = alice.ok("GET", f"agents/{scribe.id}")
    assert (one.pop("spec")["content"]["prompt"], one.pop("revision")) == (long_prompt, scribe.revision)
    assert one.pop("tool_name") == "delegate"
    assert "task" in str(one.pop("tool_schema"))
    assert one == rows[1]


def test_a_page_of_agents_has_the_requested_length(team):
    for number in range(30):
        make_agent(team.workspace, team.alice, f"Agent {number:02}")
    page = client_for(team, "alice").ok("GET", f"workspaces/{team.workspace.id}/agents?limit=25")
    assert len(page["results"]) == 25
    assert page["next"] is not None


def test_the_state_of_a_public_agent_is_that_of_its_runs_in_the_workspaces_of_the_reader(team):
    copy = publish(team)
    chat = add_to_chat(team, copy)
    chats.post_message(team.charlie, chat.id, text="@interpreter hello")
    assert claim_run(Run.objects.get(agent=copy).id, "there:1:a") is not None
    states = {name: client_for(team, name).ok("GET", f"agents/{copy.id}")["state"] for name in ("alice", "charlie")}
    assert states == {"alice": "idle", "charlie": "working"}
