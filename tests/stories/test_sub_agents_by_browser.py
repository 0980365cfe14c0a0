"""Agents that give tasks to others: the streams of sub-agents in two browsers, and of a newcomer in the middle."""

import json
import re
import time
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from common.ids import new_id
from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.integrator import Integrator
from tests.stories.screens import Person, get_box, invite, join_by_link, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

CREATE_TEAM = """async isPublic => {
  const csrf = document.cookie.match(/csrftoken=([^;]+)/)[1]
  const ask = async (method, path, body) => {
    const headers = { 'Content-Type': 'application/json', 'X-CSRFToken': csrf }
    const answer = await fetch('/api/v1/' + path, { method, headers, body: body && JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return answer.json()
  }
  const chat = location.pathname.split('/c/')[1].split('/')[0]
  const { results } = await ask('GET', `chats/${chat}/participants`)
  const scribe = results.find(row => row.actor.kind === 'agent').actor
  const workspace = scribe.workspace_id
  await ask('PUT', `workspaces/${workspace}/tools/current_time/policy`, { policy: 'ask' })
  const create = async (name, uses) => {
    const body = { name, prompt: `You are ${name}.`, tools: [], open_chat: true }
    const { actor, chat_id } = await ask('POST', `workspaces/${workspace}/agents`, body)
    await setTools(chat_id, actor.id, uses)
    return actor
  }
  const setTools = async (chat, agent, uses) => {
    const { spec } = await ask('GET', `agents/${agent}`)
    const tools = uses.map(use => ({ is_enabled: true, usage_instructions: '', custom_config: {}, ...use }))
    const content = { prompt: spec.content.prompt, tools }
    const draft = await ask('PUT', `chats/${chat}/agents/${agent}/draft`, { content })
    const version = { revision: draft.revision, base_version: spec.number }
    await ask('POST', `chats/${chat}/agents/${agent}/draft/save`, version)
  }
  const delegateTo = (...handles) => ({ tool: 'delegate', custom_config: { allowed_sub_agents: handles } })
  const reader = await create('Reader', [{ tool: 'current_time' }])
  const researcher = await create('Researcher', [delegateTo(reader.handle)])
  const tools = [delegateTo(researcher.handle, reader.handle)]
  if (!isPublic) return setTools(chat, scribe.id, tools)
  const listing = { name: 'Open Reader', handle: 'open-reader', description: 'Reads.', category: 'language' }
  const { actor } = await ask('POST', `agents/${reader.id}/publish`, listing)
  await setTools(chat, scribe.id, [...tools, { tool: 'agent_' + actor.id.replaceAll('-', '') }])
  return actor.id
}"""
"""Creates the agents Researcher and Reader, whom Scribe may give tasks to. Researcher may give tasks to Reader.

With `isPublic`, publishes Reader, lets Scribe call the copy as a tool, and returns its id.
"""
TAKE_DOWN = """id => fetch(`/api/v1/directory/${id}/takedown`, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'X-CSRFToken': document.cookie.match(/csrftoken=([^;]+)/)[1],
  },
  body: JSON.stringify({ reason: 'It is wrong.' }),
}).then(answer => answer.status)"""


def delegate(name: str, task: str) -> dict[str, str]:
    return {"name": "delegate", "arguments": json.dumps({"name": name, "task": task}, ensure_ascii=False)}


def ask(person: Person, method: str, path: str, **body: Any) -> Any:
    """Send a request of the API as the signed-in person, and return its answer."""
    token = next(cookie["value"] for cookie in person.context.cookies() if cookie["name"] == "csrftoken")
    url = f"{person.stack.url}/api/v1/{path}"
    answer = person.context.request.fetch(url, method=method, headers={"X-CSRFToken": token}, **body)
    assert answer.ok, (method, path, answer.status, answer.text())
    return answer.json()


def publish_researcher(stack: Stack) -> dict[str, Any]:
    """Publish an agent of another workspace, which may give tasks to Browser. Return its actor."""
    lin = Integrator(stack, "Lin")
    workspace = lin.ok("POST", "workspaces", {"name": "Nanhai Studio"})["id"]
    file = {"atelier": "agent/1", "name": "Researcher", "prompt": "You research.", "tools": [{"tool": "delegate"}]}
    made = lin.ok("POST", f"workspaces/{workspace}/agents/import", {"text": json.dumps(file)})
    listing = {"name": "Open Researcher", "handle": "open-researcher", "description": "Finds.", "category": "research"}
    public = lin.ok("POST", f"agents/{made['agent']['actor']['id']}/publish", listing)
    lin.close()
    actor: dict[str, Any] = public["actor"]
    return actor


def open_report_chat(alice: Person, tool: str, file_id: str) -> None:
    """Create the agent Report Writer with this tool, open a chat with it, and post a file there under this id."""
    workspace = ask(alice, "GET", "workspaces")["results"][0]
    file = {"atelier": "agent/1", "name": "Report Writer", "prompt": "You write reports.", "tools": [{"tool": tool}]}
    made = ask(alice, "POST", f"workspaces/{workspace['id']}/agents/import", data={"text": json.dumps(file)})
    body = {"title": "Report", "actor_ids": [made["agent"]["actor"]["id"]]}
    chat_id = ask(alice, "POST", f"workspaces/{workspace['id']}/chats", data=body)["chat"]["id"]
    prices = {"name": "prices.csv", "mimeType": "text/csv", "buffer": b"month,price\nNovember,120\n"}
    ask(alice, "POST", f"chats/{chat_id}/files", multipart={"id": file_id, "file": prices})
    ask(alice, "POST", f"files/{file_id}/post", data={"wake": "nobody"})
    alice.open(re.sub(r"/c/.*", f"/c/{chat_id}", alice.page.url.removeprefix(alice.stack.url)))
    alice.sees("prices.csv")


def get_stream(person: Person, path: str) -> Locator:
    """Return the streams of the sub-agents of this path, such as `Scribe › Researcher`."""
    return person.log.get_by_role("region", name=re.compile(f"^{path}, depth"))


def list_streams(person: Person) -> list[list[str | None]]:
    """Return the label of each stream, that of the stream around it, and whether it is open."""
    streams: list[list[str | None]] = (
        person.log.evaluate("""log => [...log.querySelectorAll('[data-sub-agent]')].map(stream => [
      stream.ariaLabel,
      stream.parentElement.closest('[data-sub-agent]')?.ariaLabel ?? null,
      stream.querySelector('button').ariaExpanded,
    ])""")
    )
    return streams


TREE = [
    ["Scribe › Researcher, depth 1", None, "false"],
    ["Scribe › Researcher, depth 1", None, "true"],
    ["Scribe › Researcher › Reader, depth 2", "Scribe › Researcher, depth 1", "true"],
]


def test_sub_agents_work_in_the_reply_of_the_agent_that_gave_them_tasks(browser, people, stack, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    alice.page.evaluate(CREATE_TEAM)

    # Two researchers at the same time, of which one gives a task to a reader.
    model.script(match="prices of rooms", text="Rooms cost 21% more than in 2025.")
    model.script(match="route 100", mode="drip", count=5000, every=0.05)
    model.script(match="the crowds", calls=[delegate("reader", "Read about route 100")], then={"text": "Walk early."})
    calls = [delegate("researcher", "Find the prices of rooms"), delegate("researcher", "Find out about the crowds")]
    model.script(
        match="autumn in Kyoto", calls=calls, text="Two work on it.", then={"text": "Book now and walk early."}
    )
    alice.post("One page on autumn in Kyoto")
    carol = Person(browser, stack, "Carol", viewport={"width": 1440, "height": 900}, color_scheme="dark")
    join_by_link(alice, carol, "suggester")
    alice.page.reload()
    for person in (alice, bob, carol):
        expect(person.log.get_by_text("2 working · 1 done")).to_be_visible()
        expect(get_stream(person, "Scribe › Researcher › Reader").get_by_text("w1 w2")).to_be_visible()
        expect(person.log.get_by_text("waiting for its sub-agents").last).to_be_visible()
        assert list_streams(person) == TREE
        # Nothing of a sub-agent is a message of its own.
        expect(person.log.get_by_role("article", name=re.compile("^(Researcher|Reader)"))).to_have_count(0)
    # Bob may not stop what Alice has asked for.
    expect(bob.log.get_by_role("button", name="Stop Reader")).to_have_attribute("aria-disabled", "true")
    carol.close()

    # The agent that was asked reads the next message, and those that it waits for do not.
    alice.page.get_by_placeholder(re.compile("^Message ")).fill("And the temples")
    expect(alice.page.get_by_text("while it works, at its next step; not its sub-agents.")).to_be_visible()
    alice.page.get_by_placeholder(re.compile("^Message ")).fill("")

    # Folding by the button, and by the keys of a head.
    alice.log.get_by_role("button", name="Fold all", exact=True).click()
    assert [is_open for _, _, is_open in list_streams(alice)] == ["false"] * 2
    alice.log.get_by_role("button", name="Unfold all").click()
    assert [is_open for _, _, is_open in list_streams(alice)] == ["true"] * 3
    get_stream(alice, "Scribe › Researcher").first.get_by_role("button").first.press("ArrowLeft")
    assert list_streams(alice) == TREE

    # Only the reader stops: its caller goes on, and so does the one above.
    alice.log.get_by_role("button", name="Stop Reader").click()
    for person in people:
        person.sees("Book now and walk early.")
        expect(person.log.get_by_text("2 done · 1 stopped")).to_be_visible()
    # What a person has unfolded stays open.
    expect(get_stream(alice, "Scribe › Researcher › Reader").get_by_text("Stopped by Alice")).to_be_visible()
    expect(get_stream(alice, "Scribe › Researcher").last.get_by_text("Walk early.")).to_be_visible()
    alice.log.get_by_role("button", name="Fold all", exact=True).click()
    ended = list_streams(bob)
    bob.page.reload()
    expect(bob.log.get_by_text("2 done · 1 stopped")).to_be_visible()
    assert list_streams(bob) == ended

    # The cost of the reply, by its runs.
    alice.log.get_by_role("button", name=re.compile("tokens, 4 runs")).click()
    costs = alice.page.get_by_role("dialog", name="Cost of this reply").get_by_role("listitem")
    expect(costs).to_have_count(4)
    expect(costs.last).to_contain_text("Readerstopped")
    alice.page.keyboard.press("Escape")


def test_a_person_stops_all_sub_agents_and_decides_for_one(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    alice.page.evaluate(CREATE_TEAM)

    model.script(match="slow", mode="drip", count=5000, every=0.05)
    calls = [delegate("researcher", "slow one"), delegate("reader", "slow two")]
    model.script(match="Begin", calls=calls, then={"text": "Never."})
    alice.post("Begin")
    for person in people:
        expect(person.log.get_by_text("2 working")).to_be_visible()
        expect(get_stream(person, "Scribe › Reader").get_by_text("w1 w2")).to_be_visible()
    # By the keyboard: the log may move under a mouse while it is pressed.
    alice.log.get_by_role("button", name="Stop all").press("Enter")
    for person in people:
        expect(person.log.get_by_text("2 stopped")).to_be_visible()
        expect(person.log.get_by_role("button", name="Retry")).to_be_visible()
        expect(person.log.get_by_text("Never.")).to_have_count(0)

    # The reader of Bob's run needs an approval. The card is in its stream, and Bob decides there.
    model.script(
        match="the time",
        calls=[{"name": "current_time", "arguments": '{"timezone": "Asia/Taipei"}'}],
        then={"text": "It is noon."},
    )
    model.script(match="Ask for it", calls=[delegate("reader", "Find out the time")], then={"text": "Noon, he says."})
    bob.page.get_by_placeholder(re.compile("^Message ")).fill("Ask for it")
    bob.page.get_by_role("button", name="Send").click()
    for person in people:
        reader = get_stream(person, "Scribe › Reader").last
        expect(reader.get_by_role("region", name="Approval: current_time")).to_be_visible()
        expect(person.log.get_by_role("region", name="Approval: current_time")).to_have_count(1)
    expect(get_stream(alice, "Scribe › Reader").last.get_by_text("waits for Bob")).to_be_visible()
    get_stream(bob, "Scribe › Reader").last.get_by_role("button", name="Approve", exact=True).click()
    for person in people:
        person.sees("Noon, he says.")
        expect(person.log.get_by_role("region", name="Approval: current_time")).to_have_count(0)
    stream = get_stream(alice, "Scribe › Reader").last
    stream.get_by_role("button").first.click()
    expect(stream.get_by_text("Approved by Bob")).to_be_visible()


def test_a_person_refuses_a_call_of_a_sub_agent_and_stops_a_tree_that_waits(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    alice.page.evaluate(CREATE_TEAM)
    call = {"name": "current_time", "arguments": '{"timezone": "Asia/Taipei"}'}
    model.script(match="the time", calls=[call], then={"text": "I may not ask."})
    model.script(match="Research", calls=[delegate("reader", "Find out the time")], then={"text": "Nobody knows."})
    model.script(match="When is it", calls=[delegate("researcher", "Research")], then={"text": "It is late."})

    def find_card(person: Person) -> Locator:
        reader = get_stream(person, "Scribe › Researcher › Reader").last
        return reader.get_by_role("region", name="Approval: current_time")

    # Refused after a reload: the tree goes on.
    alice.post("When is it?")
    for person in people:
        expect(find_card(person)).to_be_visible()
        expect(person.log.get_by_text("1 working · 1 waits for a person")).to_be_visible()
    alice.page.reload()
    find_card(alice).get_by_role("button", name="Refuse…").click()
    find_card(alice).get_by_role("button", name="Refuse", exact=True).click()
    for person in people:
        person.sees("It is late.")
        expect(person.log.get_by_text("2 done")).to_be_visible()

    # Stopped while it waits: nothing goes on, also after a reload.
    alice.post("When is it now?")
    for person in people:
        expect(find_card(person)).to_be_visible()
    alice.log.get_by_role("button", name="Stop all").press("Enter")
    for person in people:
        expect(person.log.get_by_text("2 stopped")).to_be_visible()
        expect(person.log.get_by_role("region", name="Approval: current_time")).to_have_count(0)
    bob.page.reload()
    expect(bob.log.get_by_text("2 stopped")).to_be_visible()
    expect(bob.log.get_by_role("region", name="Approval: current_time")).to_have_count(0)
    expect(bob.log.get_by_text("It is late.")).to_have_count(1)


def test_editors_choose_the_agents_that_get_tasks(people, model: ScriptedModel):
    alice, bob = people
    model.reset()
    start(alice, model)
    invite(alice, bob, "suggester")
    public_id = alice.page.evaluate(CREATE_TEAM, True)

    alice.open_workshop()
    tools = alice.workshop
    tools.get_by_role("tab", name=re.compile("^Tools")).click()
    expect(tools.get_by_role("button", name=re.compile("Open Reader.*public, by Lighthouse"))).to_be_visible()
    tools.get_by_role("button", name="Edit", exact=True).click()
    tools.get_by_role("tab", name=re.compile("^Tools")).click()
    tools.get_by_role("button", name=re.compile("^delegate")).click()
    agents = tools.get_by_role("group", name="Agents that get tasks")
    expect(agents.get_by_role("checkbox", name="Researcher")).to_be_checked()
    expect(agents.get_by_role("checkbox", name="Browser")).not_to_be_checked()
    expect(agents.get_by_text("ready-made")).to_be_visible()
    # An agent cannot give a task to itself.
    expect(agents.get_by_role("checkbox", name="Scribe")).to_have_count(0)
    agents.get_by_role("checkbox", name="Browser").click()
    agents.get_by_role("checkbox", name="Researcher").click()
    tools.get_by_role("tab", name="Prompt").click()
    tools.get_by_text(re.compile("Diff to")).first.click()
    expect(tools.get_by_text("tasks to @reader, @browser")).to_be_visible()

    # A public agent that is called as a tool has its name everywhere, also in a call and after it was taken down.
    name = f"agent_{public_id.replace('-', '')}"
    model.script(match="a page", text="It says 42.")
    call = {"name": name, "arguments": json.dumps({"task": "Read a page"})}
    model.script(match="Ask the reader", calls=[call], then={"text": "So it says."})
    alice.post("Ask the reader")
    for person in people:
        person.sees("So it says.")
        summary = get_stream(person, "Scribe › Open Reader").get_by_text("It says 42.").filter(visible=True)
        expect(summary).to_have_count(1)
        expect(person.page.get_by_text("agent_")).to_have_count(0)
    assert alice.page.evaluate(TAKE_DOWN, public_id) == 200
    alice.page.reload()
    tools.get_by_role("tab", name=re.compile("^Tools")).click()
    expect(tools.get_by_role("button", name=re.compile("Open Reader.*taken down"))).to_be_visible()


RESEARCHER = "Report Writer › Open Researcher"
BROWSER = f"{RESEARCHER} › Browser"
OPEN = [[f"{RESEARCHER}, depth 1", None, "true"], [f"{BROWSER}, depth 2", f"{RESEARCHER}, depth 1", "true"]]
"""The streams of a researcher and its browser that are open."""
FOLDED = [f"{RESEARCHER}, depth 1", None, "false"]
STOP_SECONDS = 10
"""The most seconds from the click on "Stop all" until the last run has ended."""


def test_a_tree_with_a_public_agent_of_another_workspace_is_stopped_by_a_person(
    browser, people, stack, model: ScriptedModel, tmp_path
):
    alice, bob = people
    model.reset()
    public = publish_researcher(stack)
    tool = f"agent_{public['id'].replace('-', '')}"
    file_id = str(new_id())
    start(alice, model)
    open_report_chat(alice, tool, file_id)
    join_by_link(alice, bob, "suggester")
    bob.sees("prices.csv")

    # Two tasks for the public agent, each of which asks Browser. The second one goes on.
    options = {"context": {"city": "Kyoto", "year": 2026}, "options": {"file_ids": [file_id]}}
    calls = [
        {"name": tool, "arguments": json.dumps({"task": "Find the prices of rooms", **options})},
        {"name": tool, "arguments": json.dumps({"task": "Find out about the crowds"})},
    ]
    model.script(match="autumn in Kyoto", calls=calls, text="Two work on it.", then={"text": "Never."})
    found = {"text": "A room costs 120 [1]."}
    model.script(match="prices of rooms", calls=[delegate("browser", "Look up a hotel")], then=found)
    model.script(match="about the crowds", calls=[delegate("browser", "Look up route 100")], then={"text": "Never."})
    model.script(match="Look up a hotel", text="120, at https://kyoto.example.")
    model.script(match="Look up route 100", mode="drip", count=5000, every=0.05)
    alice.post("@report-writer One page on autumn in Kyoto")
    for person in people:
        expect(person.log.get_by_text("2 working · 2 done")).to_be_visible()
        expect(get_stream(person, BROWSER).get_by_text("w1 w2")).to_be_visible()
    carol = Person(browser, stack, "Carol", viewport={"width": 1440, "height": 900})
    join_by_link(alice, carol, "suggester")
    bob.page.reload()
    # The stream of the finished browser is hidden in that of its researcher.
    for person in (alice, bob, carol):
        expect(person.log.get_by_text("2 working · 2 done")).to_be_visible()
        expect(get_stream(person, BROWSER).get_by_text("w1 w2")).to_be_visible()
        assert list_streams(person) == [FOLDED, *OPEN]
        person.page.screenshot(path=tmp_path / f"{person.name}-working.png")
    # On a phone, the mark of what the agent has read is beside the text.
    read_mark = bob.log.get_by_role("img", name="Report Writer has read up to here")
    mark = get_box(read_mark)
    line = get_box(bob.log.get_by_text("One page on autumn in Kyoto"))
    assert line["x"] + line["width"] <= mark["x"] <= 390 - mark["width"]

    # The task of the first researcher, with its facts and its file, for everybody who is in the chat.
    for person in (alice, bob, carol):
        researcher = get_stream(person, RESEARCHER).first
        researcher.get_by_role("button").first.click()
        expect(researcher.get_by_role("link", name="prices.csv")).to_be_visible()
        researcher.get_by_role("button", name="Context · city: Kyoto year: 2026").click()
        expect(researcher.get_by_text("year: 2026").last).to_be_visible()
        person.page.screenshot(path=tmp_path / f"{person.name}-task.png")
    carol.close()

    # Bob may stop nothing of it. Alice stops all: every run ends, and none begins.
    expect(bob.log.get_by_role("button", name="Stop all")).to_have_attribute("aria-disabled", "true")
    chat_id = alice.page.url.split("/c/")[1].split("/")[0]
    alice.log.get_by_role("button", name="Stop all").press("Enter")
    clicked = time.monotonic()
    while ask(alice, "GET", f"chats/{chat_id}/runs?state=active")["results"]:
        assert time.monotonic() - clicked < STOP_SECONDS
        time.sleep(0.02)
    seconds = time.monotonic() - clicked
    print(f"The last of three runs has ended {seconds:.2f} s after the click.")  # noqa: T201
    runs = ask(alice, "GET", f"chats/{chat_id}/runs?state=all")["results"]
    assert sorted(run["state"] for run in runs) == ["completed"] * 2 + ["stopped"] * 3
    for person in people:
        expect(person.log.get_by_text("2 done · 2 stopped")).to_be_visible()
        expect(person.log.get_by_text("Never.")).to_have_count(0)
    bob.page.reload()
    alice.page.reload()
    for person in people:
        expect(person.log.get_by_text("2 done · 2 stopped")).to_be_visible()
        expect(person.log.get_by_role("button", name="Retry")).to_be_visible()
        assert list_streams(person) == [FOLDED, FOLDED]
        person.page.screenshot(path=tmp_path / f"{person.name}-stopped.png")
