"""Agents that give tasks to others: the streams of sub-agents in two browsers, and of a newcomer in the middle."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.scripted_model import ScriptedModel
from tests.stack import Stack
from tests.stories.screens import Person, invite, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

CREATE_TEAM = """async () => {
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
    return actor.handle
  }
  const setTools = async (chat, agent, uses) => {
    const { spec } = await ask('GET', `agents/${agent}`)
    const tools = uses.map(use => ({ is_enabled: true, usage_instructions: '', custom_config: {}, ...use }))
    const content = { prompt: spec.prompt, tools }
    const draft = await ask('PUT', `chats/${chat}/agents/${agent}/draft`, { content })
    const version = { revision: draft.revision, base_version: spec.number }
    await ask('POST', `chats/${chat}/agents/${agent}/draft/save`, version)
  }
  const delegateTo = (...handles) => ({ tool: 'delegate', custom_config: { allowed_sub_agents: handles } })
  const reader = await create('Reader', [{ tool: 'current_time' }])
  const researcher = await create('Researcher', [delegateTo(reader)])
  await setTools(chat, scribe.id, [delegateTo(researcher, reader)])
}"""
"""Creates the agents Researcher and Reader, whom Scribe may give tasks to. Researcher may give tasks to Reader."""


@pytest.fixture
def people(browser: Browser, stack: Stack) -> Iterator[tuple[Person, Person]]:
    alice = Person(browser, stack, "Alice", viewport={"width": 1440, "height": 900})
    bob = Person(browser, stack, "Bob", viewport={"width": 390, "height": 844}, color_scheme="dark", has_touch=True)
    yield alice, bob
    alice.close()
    bob.close()


def delegate(name: str, task: str) -> dict[str, str]:
    return {"name": "delegate", "arguments": json.dumps({"name": name, "task": task}, ensure_ascii=False)}


def get_stream(person: Person, name: str) -> Locator:
    return person.log.get_by_role("region", name=re.compile(f"{name}, depth"))


def test_sub_agents_work_in_the_reply_of_the_agent_that_gave_them_tasks(people, model: ScriptedModel):
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
    for person in people:
        expect(person.log.get_by_text("3 sub-agents")).to_be_visible()
        expect(person.log.get_by_text("2 working · 1 done")).to_be_visible()
        reader = get_stream(person, "Scribe › Researcher › Reader")
        expect(reader.get_by_text("w1 w2")).to_be_visible()
        # The one that has ended is folded to its summary.
        expect(get_stream(person, "Scribe › Researcher").first.get_by_role("button").first).to_have_attribute(
            "aria-expanded", "false"
        )
