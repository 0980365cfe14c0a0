"""Public agents as tools, by the API: published in one workspace, called in another, taken down during a task, published anew."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack

LISTING = {
    "description": "Finds prices and cites where they are from.",
    "category": "research",
    "languages": ["en", "zh-hant"],
    "examples": ["What does a room in Kyoto cost?"],
}


def make_agent(person, name, prompt, tools=()):
    file = {"atelier": "agent/1", "name": name, "prompt": prompt, "tools": list(tools)}
    made = person.ok("POST", f"workspaces/{person.workspace}/agents/import", {"text": json.dumps(file)})
    return made["agent"]["actor"]


@pytest.fixture
def people(stack, model):
    """Alice, who publishes, and Charlie of another workspace, each with a model of their own."""
    model.reset()
    alice, charlie = (Integrator(stack, name) for name in ("Alice", "Charlie"))
    for person, name in ((alice, "Open Bench"), (charlie, "Lighthouse Tours")):
        person.workspace = person.ok("POST", "workspaces", {"name": name})["id"]
        settings = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted"}
        person.ok("PUT", f"workspaces/{person.workspace}/model", settings | {"revision": 0})
        price = {"provider": "openai_compatible", "input_micro": 1_000_000, "output_micro": 100_000_000}
        person.ok("PUT", f"workspaces/{person.workspace}/prices", price)
    yield alice, charlie
    for person in (alice, charlie):
        person.close()


def sum_costs(person):
    today = datetime.now(UTC).date()
    period = f"starts_on={today - timedelta(days=1)}&ends_on={today + timedelta(days=1)}"
    report = person.ok("GET", f"workspaces/{person.workspace}/usage?{period}&group=tree")
    return [row["cost_micro"] for row in report["rows"]]


def test_a_public_agent_does_tasks_in_another_workspace_until_it_is_taken_down(people, model):
    alice, charlie = people
    # Alice publishes Researcher, which has Browser, an agent that comes with the release.
    researcher = make_agent(alice, "Researcher", "You research.", [{"tool": "delegate"}])
    suffix = researcher["id"][-8:]
    body = {**LISTING, "name": f"Researcher {suffix}", "handle": f"researcher-{suffix}"}
    public = alice.ok("POST", f"agents/{researcher['id']}/publish", body)
    public_id, handle = public["actor"]["id"], body["handle"]

    # Charlie finds it, and gives it to Report Writer.
    found = charlie.ok("GET", f"directory?query={suffix}%20prices")["results"]
    assert [row["actor"]["id"] for row in found] == [public_id]
    name = found[0]["tool_name"]
    writer = make_agent(charlie, "Report Writer", "You write reports.", [{"tool": name}])
    chat = charlie.ok("POST", f"workspaces/{charlie.workspace}/chats", {"title": "Report", "actor_ids": [writer["id"]]})
    chat_id = chat["chat"]["id"]
    tab = charlie.watch(chat_id)

    # Two tasks at once; each asks Browser. The room has three levels of messages.
    def call(task):
        return {"name": name, "arguments": json.dumps({"task": task})}

    browse = {"name": "delegate", "arguments": json.dumps({"name": "browser", "task": "look it up"})}
    model.script(system="You write reports.", calls=[call("prices"), call("crowds")], then={"text": "The report."})
    model.script(system="You research.", calls=[browse], then={"text": "It costs 120 [1]."})
    model.script(match="look it up", text="Kyoto rooms: 120, https://kyoto.example.")
    charlie.post(chat_id, f"@{writer['handle']} one page, please")
    assert tab.wait_for_answer(writer["id"], 1)["payload"]["text"] == "The report."
    nested = [row for row in tab.messages("TEXT_MESSAGE") if row["metadata"]]
    assert sorted(row["metadata"]["agent"]["depth"] for row in nested) == [1, 1, 2, 2]
    deepest = next(row["metadata"]["agent"] for row in nested if row["metadata"]["agent"]["depth"] == 2)
    assert (deepest["kind"], deepest["name"]) == ("sub", "browser")
    assert deepest["path"] == [writer["handle"], handle, "browser"]
    results = [json.loads(row["payload"]["text"]) for row in tab.messages("TOOL_RESPONSE") if not row["metadata"]]
    assert [result["summary"] for result in results] == ["It costs 120 [1]."] * 2
    assert {result["messageId"] for result in results} <= {row["id"] for row in nested}

    # Charlie's workspace pays, in one tree. Alice sees nothing of it.
    [cost] = sum_costs(charlie)
    runs = charlie.ok("GET", f"chats/{chat_id}/runs?state=all")["results"]
    assert len(runs) == 5
    assert cost == sum(
        call["cost_micro"] for run in runs for call in charlie.ok("GET", f"runs/{run['id']}/calls")["results"]
    )
    assert sum_costs(alice) == []
    assert alice.status("GET", f"chats/{chat_id}/messages") == 404
    assert alice.status("GET", f"runs/{runs[0]['id']}") == 404

    # Taken down during a task: the task ends with the reason, and Report Writer goes on without it.
    model.script(system="You research.", mode="drip", count=3000, every=0.02)
    model.script(system="You write reports.", calls=[call("more prices")], then={"text": "Without prices."})
    charlie.post(chat_id, f"@{writer['handle']} and now?")
    tab.wait_until(lambda each: [row for row in each.rows("run") if row["parent_id"] and row["state"] == "running"])
    assert charlie.status("POST", f"directory/{handle}/takedown", {"reason": "mine"}) in (403, 404)
    alice.ok("POST", f"directory/{handle}/takedown", {"reason": "Wrong prices."})
    assert tab.wait_for_answer(writer["id"], 2)["payload"]["text"] == "Without prices."
    ended = [row for row in tab.rows("run") if row["parent_id"] and row["error_code"] == "agent_taken_down"]
    assert len(ended) == 1

    # It is called no more: the model is not offered the tool.
    model.reset()
    model.script(system="You write reports.", text="I have no tool for that.")
    charlie.post(chat_id, f"@{writer['handle']} prices again?")
    tab.wait_for_answer(writer["id"], 3)
    assert "tools" not in model.requests[-1].body

    # Alice corrects it and publishes anew: name, handle and original are free again.
    again = alice.ok("POST", f"agents/{researcher['id']}/publish", body)
    assert again["actor"]["id"] != public_id
    assert charlie.ok("GET", f"directory/{handle}")["actor"]["id"] == again["actor"]["id"]
