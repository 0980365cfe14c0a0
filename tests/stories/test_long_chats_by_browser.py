"""A chat gets too long for its model: it is summarised by a job, people read and correct the summary, and replies cite messages."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.scripted_model import ScriptedModel
from tests.stories.screens import Person, start

pytestmark = [pytest.mark.stack, pytest.mark.browser]

POST = """async ([chat, count]) => {
  const token = document.cookie.match(/csrftoken=([^;]+)/)[1]
  for (let n = 0; n < count; n++) {
    const special = { 3: 'The garage code is 4711.', 4: '鑰匙在車庫的後面。' }
    const text = special[n] ?? `Note ${n}: ` + 'the river and the garden '.repeat(12)
    const answer = await fetch(`/api/v1/chats/${chat}/messages`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-CSRFToken': token },
      body: JSON.stringify({ id: crypto.randomUUID(), text, wake: 'nobody' }),
    })
    if (!answer.ok) throw new Error(await answer.text())
  }
  const log = await (await fetch(`/api/v1/chats/${chat}/messages?limit=200`)).json()
  return log.results.find(row => row.payload.text === 'The garage code is 4711.').seq
}"""


def set_limit(alice: Person, strategy: str) -> None:
    page = alice.page
    chat = page.url
    page.goto(re.sub(r"/c/.*", "/settings?section=context", chat))
    page.get_by_label("When a chat gets long").select_option(strategy)
    page.get_by_label("Max tokens of a chat").fill("3000")
    save = page.get_by_role("button", name="Save changes")
    save.click()
    # Of a form that is saved nothing is to be saved.
    expect(save).to_have_attribute("aria-disabled", "true")
    page.goto(chat)
    alice.sees("Hello, I am Scribe.")


def test_a_long_chat_is_summarised_and_its_summary_is_corrected(people, model: ScriptedModel):
    alice, _ = people
    model.reset()
    start(alice, model)
    set_limit(alice, "summarise")
    page = alice.page
    [chat_id] = re.findall(r"/c/([0-9a-f-]{36})", page.url)
    seq = page.evaluate(POST, [chat_id, 50])

    # The first answer leaves older messages out; the job writes the summary after it.
    sentences = [{"section": "Decided", "text": "The garage code is 4712.", "from": [seq]}]
    model.script(system="Chat summarizer", text=json.dumps({"sentences": sentences}))
    model.script(match="First question", text="I do not know.")
    alice.post("First question")
    alice.sees("I do not know.")
    alice.sees("Scribe reads a summary of the older messages here from now on")

    # The next one reads it.
    def has_summary():
        return page.evaluate(
            "async chat => (await (await fetch(`/api/v1/chats/${chat}/summary`)).json()).state === 'ready'", chat_id
        )

    for _ in range(100):
        if has_summary():
            break
        page.wait_for_timeout(200)
    assert has_summary()
    model.script(match="Second question", text=f"It is 4712 [#{seq}].")
    alice.post("Second question")
    alice.sees("It is 4712")
    assert "The garage code is 4712." in str(model.requests[-1])

    # The composer says what the next answer reads, and why.
    page.get_by_placeholder(re.compile("^Message ")).focus()
    page.get_by_role("button", name=re.compile(r"^\d+ summarised · \d+ in full")).click()
    details = page.get_by_role("dialog", name="What the next answer reads")
    expect(details.get_by_text("3,000 tokens")).to_be_visible()
    expect(details.get_by_role("button", name="open summary")).to_be_visible()
    page.keyboard.press("Escape")
    expect(details).to_be_hidden()
    page.get_by_role("button", name=re.compile(r"^summary \+ \d+ turns")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("The garage code is 4712.")).to_be_visible()

    # A person corrects a sentence; old and new are shown.
    dialog.get_by_role("button", name="Correct").click()
    dialog.get_by_label("Correction").fill("The garage code is 4711.")
    dialog.get_by_role("button", name="Save correction").click()
    expect(dialog.get_by_text("corrected by Alice")).to_be_visible()
    expect(dialog.locator("del")).to_have_text("The garage code is 4712.")
    expect(dialog.locator("ins")).to_have_text("The garage code is 4711.")

    # It is corrected once more; the correction before stays to be seen.
    dialog.get_by_role("button", name="Correct").click()
    dialog.get_by_label("Correction").fill("The garage code is 4711 until May.")
    dialog.get_by_role("button", name="Save correction").click()
    dialog.get_by_text("1 earlier correction").click()
    expect(dialog.get_by_text(re.compile("^Alice, .*: The garage code is 4711.$"))).to_be_visible()

    # The message that the sentence is from opens in its place.
    dialog.get_by_role("button", name=f"Open message {seq}").click()
    alice.sees("The garage code is 4711.")


def test_a_reply_cites_the_messages_that_were_found(people, model: ScriptedModel):
    alice, _ = people
    model.reset()
    start(alice, model)
    set_limit(alice, "retrieve")
    page = alice.page
    [chat_id] = re.findall(r"/c/([0-9a-f-]{36})", page.url)
    seq = page.evaluate(POST, [chat_id, 50])
    model.script(match="What is the garage code", text=f"It is 4711 [#{seq}].")
    alice.post("What is the garage code?")
    alice.sees("It is 4711")
    alice.sees(re.compile(r"\d+ found \+ \d+ turns"))
    page.get_by_role("button", name=f"Open message {seq}").click()
    alice.sees("The garage code is 4711.")

    # Everybody finds it in the palette, and opens it in its place.
    for words in ("garage code is 4711", "鑰匙在車庫"):
        page.keyboard.press("Control+k")
        page.get_by_role("combobox", name="Command palette").fill(words)
        found = page.get_by_role("group", name="Messages").get_by_role("option")
        expect(found.first).to_be_visible()
        found.first.click()
        expect(page.get_by_role("dialog")).to_have_count(0)
        # The mark stays until another message is reached.
        expect(alice.log.locator("[data-message][aria-current]")).to_contain_text(words)
        expect(alice.log.locator("[data-message][aria-current]")).to_have_count(1)
