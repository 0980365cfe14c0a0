"""An agent with one memory over three chats: what it notes in one is used in another of the same people, and not where somebody may
not read it. People read, correct, forget and restore the note."""

import json

import pytest

from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack


@pytest.fixture
def people(stack, model):
    model.reset()
    people = [Integrator(stack, name) for name in ("Alice", "Bob", "Carol")]
    yield people
    for person in people:
        person.close()


def ask(person, model, chat, agent, text):
    """Ask the agent, and return its answer with all that its model was sent."""
    tab = person.watch(chat)
    before = len(tab.list_texts_of(agent))
    person.post(chat, text)
    answer = tab.wait_for_answer(agent, before + 1)
    return answer, json.dumps(model.requests[-1].body["messages"], ensure_ascii=False)


def test_a_note_is_used_where_all_present_may_read_its_chat_and_nowhere_else(people, model):
    alice, bob, carol = people
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})["id"]
    settings = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted"}
    alice.ok("PUT", f"workspaces/{workspace}/model", settings | {"revision": 0, "key": "sk-story"})
    body = {"name": "Keeper", "handle": "keeper", "template": "blank", "prompt": "You are Keeper.", "open_chat": True}
    made = alice.ok("POST", f"workspaces/{workspace}/agents", body | {"tools": ["remember"]})
    keeper, first = made["actor"]["id"], made["chat_id"]
    link = alice.ok("POST", f"chats/{first}/links", {"role": "suggester"})["url"].rsplit("/", 1)[1]
    for person in (bob, carol):
        person.ok("POST", f"join/{link}")
    alice.ok("DELETE", f"chats/{first}/participants/{carol.id}")
    draft_at = f"chats/{first}/agents/{keeper}/draft"
    draft = alice.ok("PUT", draft_at, {"revision": None})
    content = {**draft["written"], "memory": "agent"}
    draft = alice.ok("PUT", draft_at, {"content": content, "revision": draft["revision"]})
    alice.ok("POST", f"{draft_at}/save", {"revision": draft["revision"], "base_version": 1, "message": "One memory"})
    chats = f"workspaces/{workspace}/chats"
    same = alice.ok("POST", chats, {"title": "Same people", "actor_ids": [bob.id, keeper]})["chat"]["id"]
    other = alice.ok("POST", chats, {"title": "With Carol", "actor_ids": [carol.id, keeper]})["chat"]["id"]

    call = {"name": "remember", "arguments": json.dumps({"text": "The safe opens with blue-seven."})}
    model.script(match="remember", calls=[call], then={"text": "I keep that in mind."}, times=2)
    ask(bob, model, first, keeper, "@keeper remember: the safe opens with blue-seven.")

    answer, sent = ask(bob, model, same, keeper, "@keeper how does the safe open?")
    assert "The safe opens with blue-seven." in sent
    assert answer["payload"]["memory"]["notes"] == 1
    answer, sent = ask(carol, model, other, keeper, "@keeper how does the safe open?")
    assert "blue-seven" not in sent
    used = carol.ok("GET", f"runs/{answer['run_id']}/memory")
    assert "blue-seven" not in json.dumps(used)
    assert "Same people" not in json.dumps(used)

    # Who reads and who changes it.
    notes = f"agents/{keeper}/notes"
    [note] = bob.ok("GET", notes)["results"]
    assert carol.ok("GET", notes)["results"] == []
    assert carol.status("PATCH", f"notes/{note['id']}", {"revision": note["revision"], "text": "Mine"}) == 404
    assert bob.status("PATCH", f"notes/{note['id']}", {"revision": note["revision"], "text": "Mine"}) == 403
    changed = alice.ok(
        "PATCH", f"notes/{note['id']}", {"revision": note["revision"], "text": "It opens with green-two."}
    )
    _, sent = ask(bob, model, same, keeper, "@keeper and now?")
    assert "It opens with green-two." in sent
    alice.ok("POST", f"notes/{note['id']}/forget", {"revision": changed["revision"]})
    _, sent = ask(alice, model, same, keeper, "@keeper once more?")
    assert "It opens with green-two." not in sent
    alice.ok("POST", f"notes/{note['id']}/restore")
    assert [row["text"] for row in bob.ok("GET", notes)["results"]] == ["It opens with green-two."]
