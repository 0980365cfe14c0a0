"""An editor reads the chat of two agents from the page of one of them, and cannot write there."""

import re

import pytest
from playwright.sync_api import expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

OPEN = """async () => {
  const token = document.cookie.match(/csrftoken=([^;]+)/)[1]
  const request = async (path, body) => {
    const headers = { 'Content-Type': 'application/json', 'X-CSRFToken': token }
    const answer = await fetch(`/api/v1${path}`, body ? { method: 'POST', headers, body: JSON.stringify(body) } : {})
    if (!answer.ok) throw new Error(await answer.text())
    return answer.json()
  }
  const { workspaces: [{ id, handle }] } = await request('/me')
  const { results: [scribe] } = await request(`/workspaces/${id}/agents`)
  const writer = await request(`/workspaces/${id}/agents`, { name: 'Writer' })
  await request(`/workspaces/${id}/direct-chats`, { actor_id: writer.actor.id, agent_id: scribe.actor.id })
  return `/w/${handle}/agents/${writer.actor.id}`
}"""


def test_an_editor_reads_the_chat_of_two_agents(people, model: ScriptedModel):
    alice, _ = people
    model.reset()
    start(alice, model)
    page = alice.page
    alice.open(page.evaluate(OPEN))
    page.get_by_role("link", name="Scribe · Writer").click()
    expect(page.get_by_role("heading", name="Scribe · Writer")).to_be_visible()
    expect(page.get_by_text("Only these two agents write here.")).to_be_visible()
    expect(page.get_by_placeholder(re.compile("^Message "))).to_have_count(0)
    page.get_by_role("button", name="People and agents").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("has read everything")).to_have_count(2)
    expect(dialog.get_by_role("button", name="Hide until the next message")).to_have_count(0)
    expect(dialog.get_by_role("button", name="Create link")).to_have_count(0)
