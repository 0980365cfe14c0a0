"""The main job, by the API, with a real worker and a scripted model."""

import time

import pytest

from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack


@pytest.fixture
def team(stack, model):
    """Alice (editor) and Bob (by a link, suggester) in a chat with Scribe, whose model is scripted."""
    model.reset()
    alice, bob = Integrator(stack, "Alice"), Integrator(stack, "Bob")
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})["id"]
    alice.ok(
        "PUT",
        f"workspaces/{workspace}/model",
        {
            "provider": "openai_compatible",
            "api_base": model.api_base,
            "default_model": "scripted",
            "revision": 0,
            "key": "sk-CANARY-story-0123456789",
        },
    )
    body = {"name": "Scribe", "template": "scribe", "prompt": "You are Scribe. MARK-ONE", "open_chat": True}
    agent = alice.ok("POST", f"workspaces/{workspace}/agents", body)
    link = alice.ok("POST", f"chats/{agent['chat_id']}/links", {"role": "suggester"})["url"]
    bob.ok("POST", f"join/{link.rsplit('/', 1)[1]}")
    # With two people in the chat it would answer only when mentioned.
    alice.ok("PATCH", f"chats/{agent['chat_id']}/participants/{agent['actor']['id']}", {"response": "always"})
    for person in (alice, bob):
        person.chat, person.scribe, person.workspace = agent["chat_id"], agent["actor"]["id"], workspace
    yield alice, bob
    alice.close()
    bob.close()


def test_both_people_see_the_answer_stream_with_the_stamp_v1(team, model):
    alice, bob = team
    tabs = alice.watch(alice.chat), bob.watch(bob.chat)
    model.script(text="Good morning to both of you, how can I help today?", every=0.15)
    alice.post(alice.chat, "hello")
    for tab in tabs:
        answer = tab.wait_for_answer(alice.scribe, 1)
        assert answer["payload"]["text"] == "Good morning to both of you, how can I help today?"
        assert answer["payload"]["stamp"]["version"] == 1
        deltas = [f for f in tab.frames if f["type"] == "delta" and f["message_id"] == answer["id"]]
        assert len(deltas) >= 5
        assert tab.get_streamed_text(answer["id"]) == answer["payload"]["text"]


def test_a_draft_answers_in_this_chat_only_until_it_is_saved(team, model):
    alice, bob = team
    model.script(mode="echo")
    tab = bob.watch(bob.chat)
    draft_at = f"chats/{alice.chat}/agents/{alice.scribe}/draft"
    draft = alice.ok("PUT", draft_at, {"revision": None})
    content = {**draft["written"], "prompt": "You are Scribe. MARK-TWO"}
    draft = alice.ok("PUT", draft_at, {"content": content, "revision": draft["revision"], "caret": 5})
    tab.wait_until(
        lambda t: [f for f in t.frames if f["type"] == "draft" and f["written"]["prompt"].endswith("MARK-TWO")]
    )
    assert bob.status("PUT", draft_at, {"content": content, "revision": None}) == 409
    alice.post(alice.chat, "before")
    before = tab.wait_for_answer(alice.scribe, 1)
    assert "MARK-ONE" in before["payload"]["text"]
    assert before["payload"]["stamp"]["version"] == 1

    alice.ok("POST", f"{draft_at}/apply", {"revision": draft["revision"]})
    alice.post(alice.chat, "applied")
    applied = tab.wait_for_answer(alice.scribe, 2)["payload"]
    assert "MARK-TWO" in applied["text"]
    assert (applied["stamp"].get("version"), applied["stamp"]["draft_apply"], applied["stamp"]["draft_by"]) == (
        None,
        1,
        "Alice",
    )
    assert "MARK-TWO" in str(model.requests[-1].body["messages"][0])

    body = {"title": "Other", "actor_ids": [alice.scribe]}
    other = alice.ok("POST", f"workspaces/{alice.workspace}/chats", body)["chat"]["id"]
    elsewhere = alice.watch(other)
    alice.post(other, "elsewhere")
    assert "MARK-ONE" in elsewhere.wait_for_answer(alice.scribe, 1)["payload"]["text"]

    assert bob.status("POST", f"{draft_at}/save", {"revision": draft["revision"], "base_version": 1}) == 403
    alice.ok("POST", f"{draft_at}/save", {"revision": draft["revision"], "base_version": 1, "message": "two"})
    tab.wait_until(lambda t: t.messages("SPEC_SAVED"))
    assert all(row["status"] == "ended" for row in tab.rows("draft"))
    alice.post(other, "saved")
    saved = elsewhere.wait_for_answer(alice.scribe, 2)["payload"]
    assert "MARK-TWO" in saved["text"]
    assert saved["stamp"]["version"] == 2


def test_both_people_see_the_tool_call_its_result_and_the_answer(team):
    alice, bob = team
    tabs = alice.watch(alice.chat), bob.watch(bob.chat)
    bob.post(bob.chat, "What is the time in Tokyo?")
    for tab in tabs:
        tab.wait_for_answer(alice.scribe, 1)
        [call] = tab.messages("TOOL_CALL")
        [result] = tab.messages("TOOL_RESPONSE")
        assert call["payload"]["name"] == "current_time"
        assert "Tokyo" in call["payload"]["arguments"]
        assert (result["payload"]["status"], result["payload"]["tool_call_id"]) == ("ok", call["payload"]["call_id"])
        arguments = "".join(f["text"] for f in tab.frames if f["type"] == "delta" and f["part"] == "arguments")
        assert arguments in ("", call["payload"]["arguments"])  # none if the model sent them at once
        runs = {m["run_id"] for m in tab.messages("TOOL_CALL", "TOOL_RESPONSE")}
        assert len(runs) == 1


def test_a_socket_that_subscribes_during_an_answer_gets_all_of_it(team, model):
    alice, bob = team
    model.script(count=40, every=0.1)
    alice.post(alice.chat, "a long one")
    first = alice.watch(alice.chat)
    first.wait_until(lambda t: len([f for f in t.frames if f["type"] == "delta"]) >= 3)
    late = bob.watch(bob.chat)
    [subscribed] = [f for f in late.frames if f["type"] == "subscribed"]
    [partial] = subscribed["partials"]
    assert partial["text"].startswith("w0 w1 ")
    answer = late.wait_for_answer(alice.scribe, 1)
    rest = [f for f in late.frames if f["type"] == "delta" and f["offset"] >= len(partial["text"])]
    assert partial["text"] + "".join(f["text"] for f in rest) == answer["payload"]["text"]


def test_stop_ends_a_run_within_a_second_and_keeps_its_text(team, model):
    alice, _ = team
    model.script(count=600, every=0.1)
    tab = alice.watch(alice.chat)
    alice.post(alice.chat, "a very long one")
    run = tab.wait_until(lambda t: [r for r in t.rows("run") if r["state"] == "running"])[0]
    tab.wait_until(lambda t: len([f for f in t.frames if f["type"] == "delta"]) >= 3)
    started = time.monotonic()
    alice.ok("POST", f"runs/{run['id']}/stop")
    answer = tab.wait_for_answer(alice.scribe, 1)
    tab.wait_until(lambda t: [r for r in t.rows("run") if r["state"] == "stopped"])
    assert time.monotonic() - started < 2
    assert answer["payload"]["incomplete"] is True
    assert answer["payload"]["text"].startswith("w0 w1 ")
    assert tab.messages("RUN_STOPPED")
    model.wait_until_left()


def test_RUN1_after_a_worker_is_killed_the_answer_is_posted_once(team, model, stack):
    alice, bob = team
    model.script(count=30, every=0.1)
    tab = bob.watch(bob.chat)
    alice.post(alice.chat, "hold on")
    tab.wait_until(lambda t: len([f for f in t.frames if f["type"] == "delta"]) >= 5)
    stack.kill("worker")
    tab.wait_until(lambda t: t.list_texts_of(alice.scribe), seconds=30)
    tab.wait_until(lambda t: [r for r in t.rows("run") if r["state"] == "completed"])
    answers = tab.list_texts_of(alice.scribe)
    assert [a["payload"]["text"].split()[-1] for a in answers] == ["w29"]
    assert not answers[0]["payload"].get("incomplete")


def test_SEC17_the_key_is_not_in_answers_frames_or_logs(team, stack, model):
    alice, _ = team
    model.script(mode="status", status=401, echo_key=True, error="Incorrect API key provided")
    tab = alice.watch(alice.chat)
    alice.post(alice.chat, "hello")
    failed = tab.wait_until(lambda t: t.messages("RUN_FAILED"))
    assert "CANARY" not in str(failed)
    assert "CANARY" not in str(tab.frames)
    assert "CANARY" not in stack.log
    assert "CANARY" not in alice.http.get(f"/api/v1/workspaces/{alice.workspace}/model").text
    assert "Bearer sk-CANARY" in str(model.requests[-1].headers)
