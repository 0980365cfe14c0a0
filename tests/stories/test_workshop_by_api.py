"""The workshop by the API: suggestions, a merge, a comparison, saving, restoring, and a draft that an agent writes."""

import json
from typing import Any

import pytest

from common.ids import new_id
from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack

PROMPT = "You are Scribe.\nAnswer in the language of the question.\nBe friendly.\nName your sources."
BOBS = PROMPT.replace("Be friendly.", "Be friendly.\nQuote prices in TWD.")
CAROLS = PROMPT.replace("Be friendly.", "Be brief and friendly.")
SEGMENTS = [
    {"text": "You are Scribe.\nAnswer in the language of the question.\n", "from": []},
    {"text": "Be brief and friendly.\n", "from": ["s2"]},
    {"text": "Quote prices in TWD.\n", "from": ["s1"]},
    {"text": "Name your sources.", "from": []},
]
CONFLICT = {
    "question": "How friendly?",
    "between": ["s1", "s2"],
    "chosen": 1,
    "choices": [{"from": "s1", "text": "Be friendly."}, {"from": "s2", "text": "Be brief and friendly."}],
}


class Environment:
    """Alice and Dave (editors), Bob and Carol (suggesters) in a chat with Scribe, whose model is scripted."""

    def __init__(self, stack, model) -> None:
        names = ("Alice", "Bob", "Carol", "Dave")
        self.alice, self.bob, self.carol, self.dave = self.people = [Integrator(stack, name) for name in names]
        self.model = model
        alice = self.alice
        self.workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})["id"]
        alice.ok(
            "PUT",
            f"workspaces/{self.workspace}/model",
            {
                "provider": "openai_compatible",
                "api_base": model.api_base,
                "default_model": "scripted",
                "revision": 0,
                "key": "sk-story-0123456789",
            },
        )
        body = {"name": "Scribe", "prompt": PROMPT, "open_chat": True}
        agent = alice.ok("POST", f"workspaces/{self.workspace}/agents", body)
        self.chat, self.scribe = agent["chat_id"], agent["actor"]["id"]
        for person, role in ((self.bob, "suggester"), (self.carol, "suggester"), (self.dave, "editor")):
            link = alice.ok("POST", f"chats/{self.chat}/links", {"role": role})["url"]
            person.ok("POST", f"join/{link.rsplit('/', 1)[1]}")
        alice.ok("PATCH", f"chats/{self.chat}/participants/{self.scribe}", {"response": "always"})

    @property
    def draft_at(self) -> str:
        return f"chats/{self.chat}/agents/{self.scribe}/draft"

    def write(self, who: Integrator, prompt: str) -> Any:
        """Claim the draft, or continue one's own, and write this prompt."""
        draft = who.ok("PUT", self.draft_at, {"revision": None})
        content = {**draft["written"], "prompt": prompt}
        return who.ok("PUT", self.draft_at, {"content": content, "revision": draft["revision"]})

    def suggest(self, who: Integrator, prompt: str, note: str) -> Any:
        draft = self.write(who, prompt)
        return who.ok("POST", f"{self.draft_at}/suggest", {"revision": draft["revision"], "note": note})

    def close(self) -> None:
        for person in self.people:
            person.close()


@pytest.fixture
def environment(stack, model):
    model.reset()
    model.script(system="Summarizer", text="Prices are given in TWD.")
    environment = Environment(stack, model)
    yield environment
    environment.close()


def list_notifications(who: Integrator) -> list[str]:
    return [row["type"] for row in who.ok("GET", "notifications")["results"]]


def test_two_suggestions_are_merged_compared_saved_and_a_version_restored(environment, model):
    alice, bob, carol = environment.alice, environment.bob, environment.carol
    tab = alice.watch(environment.chat)

    # Bob writes, Alice reads along; he applies and tries, but may not save.
    draft = environment.write(bob, BOBS)
    tab.wait_until(lambda t: [f for f in t.frames if f["type"] == "draft" and f["written"]["prompt"] == BOBS])
    assert bob.status("POST", f"{environment.draft_at}/save", {"revision": draft["revision"], "base_version": 1}) == 403
    bob.ok("POST", f"{environment.draft_at}/apply", {"revision": draft["revision"]})
    for count, text in enumerate(("one", "two", "three"), 1):
        bob.post(environment.chat, text)
        assert tab.wait_for_answer(environment.scribe, count)["payload"]["stamp"]["draft_by"] == "Bob"

    # He suggests: the draft ends, its lock is released, and a message with a summary appears.
    first = bob.ok("POST", f"{environment.draft_at}/suggest", {"revision": draft["revision"], "note": "Local money"})
    [line] = tab.wait_until(lambda t: [m for m in t.messages("SUGGESTION_CREATED") if m["payload"].get("summary")])
    assert line["payload"]["suggestion_id"] == first["id"]
    assert (line["payload"]["summary"], line["payload"]["note"]) == ("Prices are given in TWD.", "Local money")
    assert bob.status("GET", environment.draft_at) == 404
    second = environment.suggest(carol, CAROLS, "Less talk")

    # Meanwhile a v2 is saved, so that both were made on an older version.
    draft = environment.write(alice, PROMPT + "\nAlways say the date.")
    alice.ok(
        "POST", f"{environment.draft_at}/save", {"revision": draft["revision"], "base_version": 1, "message": "Date"}
    )
    pending = alice.ok("GET", f"workspaces/{environment.workspace}/suggestions?state=pending")["results"]
    assert {(row["author"]["name"], row["base_version"], row["production"]) for row in pending} == {
        ("Bob", 1, 2),
        ("Carol", 1, 2),
    }
    detail = alice.ok("GET", f"suggestions/{first['id']}")
    assert "+Quote prices in TWD." in detail["against_base"]["prompt"]
    assert "-Always say the date." in detail["against_production"]["prompt"]
    assert bob.status("POST", f"suggestions/{first['id']}/reject", {"reason": "no"}) == 403

    # Merged: a draft that shows the contributors and the conflicts.
    segments = [*SEGMENTS[:-1], {"text": "Name your sources.\nAlways say the date.", "from": []}]
    model.script(system="Merge agent", text=json.dumps({"segments": segments, "conflicts": [CONFLICT]}))
    body = {"id": str(new_id()), "suggestion_ids": [first["id"], second["id"]], "chat_id": environment.chat}
    merge = alice.ok("POST", f"agents/{environment.scribe}/merges", body)
    tab.wait_until(lambda t: t.messages("DRAFT_MERGED"))
    merge = alice.ok("GET", f"merges/{merge['id']}")
    assert (merge["state"], merge["method"]) == ("done", "agent")
    draft = alice.ok("GET", environment.draft_at)
    assert draft["lock_holder_id"] == alice.id
    assert draft["base_version"] == 2
    names = {contributor["id"]: contributor["name"] for contributor in draft["provenance"]["contributors"]}
    contributors_by_text = {
        segment["text"].strip(): [names[v] for v in segment["contributors"]]
        for segment in draft["provenance"]["segments"]
    }
    assert contributors_by_text["Quote prices in TWD."] == ["Bob"]
    assert contributors_by_text["Be brief and friendly."] == ["Carol"]
    assert draft["provenance"]["conflicts"][0]["question"] == "How friendly?"
    assert draft["written"]["prompt"] == "".join(segment["text"] for segment in draft["provenance"]["segments"])

    # Edited, applied, compared on one message, voted on, saved as v3.
    draft = environment.write(alice, draft["written"]["prompt"] + "\nNever shout.")
    alice.ok("POST", f"{environment.draft_at}/apply", {"revision": draft["revision"]})
    comparison = {"id": str(new_id()), "text": "What does it cost?", "revision": draft["revision"]}
    alice.ok("POST", f"chats/{environment.chat}/agents/{environment.scribe}/comparisons", comparison)
    tab.wait_until(lambda t: len(get_compared_answers(t, comparison["id"])) == 2)
    stamps = {side: m["payload"]["stamp"] for side, m in get_compared_answers(tab, comparison["id"]).items()}
    assert (stamps["production"]["version"], stamps["draft"]["draft_apply"]) == (2, 1)
    asked = [r.body["messages"] for r in model.requests if "What does it cost?" in str(r.body["messages"][-1])]
    assert sorted("Never shout." in str(messages[0]) for messages in asked) == [False, True]
    bob.ok("POST", f"chats/{environment.chat}/comparisons/{comparison['id']}/vote", {"choice": "draft"})
    carol.ok("POST", f"chats/{environment.chat}/comparisons/{comparison['id']}/vote", {"choice": "equal"})
    draft = alice.ok("GET", environment.draft_at)
    assert draft["votes"] == [{"draft_apply": 1, "production": 0, "equal": 1, "draft": 1}]
    saved = {"revision": draft["revision"], "base_version": 2, "message": "Two suggestions"}
    assert alice.ok("POST", f"{environment.draft_at}/save", saved)["number"] == 3

    # Both are notified; the list shows the version with their text.
    for person in (bob, carol):
        assert "suggestion_accepted" in list_notifications(person)
    accepted = alice.ok("GET", f"workspaces/{environment.workspace}/suggestions?state=accepted")["results"]
    assert [(row["saved_as"], row["merge_id"]) for row in accepted] == [(3, merge["id"])] * 2

    # v1 against v3, and restored as v4.
    assert "+Never shout." in alice.ok("GET", f"agents/{environment.scribe}/diff?a=1&b=3")["prompt"]
    restored = alice.ok(
        "POST",
        f"agents/{environment.scribe}/versions/1/restore",
        {"base_version": 3, "message": "Back to the start", "chat_id": environment.chat},
    )
    assert (restored["number"], restored["origin"], restored["content"]["prompt"]) == (4, "restored", PROMPT)
    replies = bob.ok("GET", f"agents/{environment.scribe}/versions/2/replies")["results"]
    assert [reply["chat_id"] for reply in replies] == [environment.chat]


def get_compared_answers(tab, comparison: str) -> dict[str, dict]:
    """Return the answers of a comparison so far, by side."""
    messages = [
        m for m in tab.messages("TEXT_MESSAGE") if (m["payload"].get("stamp") or {}).get("compared") == comparison
    ]
    return {m["payload"]["stamp"]["side"]: m for m in messages}


def test_an_agent_writes_a_draft_of_itself_after_the_click_of_an_editor(environment, model):
    shorter = PROMPT + "\nAnswer shorter."
    call = {"name": "revise_prompt", "arguments": json.dumps({"prompt": shorter, "reason": "Dave wants it shorter"})}
    model.script(match="from now on", calls=[call], then={"text": "A draft waits for you."})
    tab = environment.alice.watch(environment.chat)
    environment.bob.post(environment.chat, "from now on answer shorter")
    tab.wait_for_answer(environment.scribe, 1)
    [refused] = tab.messages("TOOL_RESPONSE")
    assert refused["payload"]["status"] == "error"
    assert environment.bob.status("GET", environment.draft_at) == 404

    environment.dave.post(environment.chat, "from now on answer shorter")
    # Bob wrote in this chat, so Dave decides. Bob may not.
    tab.wait_until(lambda tab: tab.messages("APPROVAL_ASKED"))
    [asked] = environment.dave.ok("GET", "me/approvals")["results"]
    assert (asked["tool"], asked["reason"]) == ("revise_prompt", "others")
    decision = {"decision": "refused", "note": "Not in this chat."}
    assert environment.bob.status("POST", f"approvals/{asked['id']}/decide", decision) == 403
    environment.dave.ok("POST", f"approvals/{asked['id']}/decide", decision)
    tab.wait_for_answer(environment.scribe, 2)
    assert [row["payload"]["status"] for row in tab.messages("TOOL_RESPONSE")] == ["error", "rejected"]
    assert environment.bob.status("GET", environment.draft_at) == 404

    # Alice is in the other chat, so Dave is asked there, too.
    body = {"title": "Editors", "actor_ids": [environment.scribe, environment.alice.id]}
    chat = environment.dave.ok("POST", f"workspaces/{environment.workspace}/chats", body)["chat"]["id"]
    tab = environment.alice.watch(chat)
    environment.dave.post(chat, "from now on answer shorter")
    tab.wait_until(lambda tab: tab.messages("APPROVAL_ASKED"))
    [asked] = environment.dave.ok("GET", "me/approvals")["results"]
    environment.dave.ok("POST", f"approvals/{asked['id']}/decide", {"decision": "approved"})
    tab.wait_for_answer(environment.scribe, 1)
    draft = environment.alice.ok("GET", f"chats/{chat}/agents/{environment.scribe}/draft")
    assert (draft["written"]["prompt"], draft["status"], draft["lock_holder_id"]) == (shorter, "drafting", None)
    assert draft["provenance"]["origin"] == "revise"
    [contributor] = draft["provenance"]["contributors"]
    assert (contributor["actor_id"], contributor["in_run_of"]) == (environment.scribe, "Dave")
    assert draft["applied"] is None
