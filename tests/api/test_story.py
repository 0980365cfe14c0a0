"""The main job by the API, from sign-up to v2, without answers of an agent."""

import pytest
from django.contrib.auth import authenticate
from django.test import Client

from actors.models import Actor
from tests.api.client import Api, message_body, sign_in, sign_up
from tests.factories.actors import PASSWORD

pytestmark = pytest.mark.django_db(transaction=True)


def create_agent_with_chat():
    """Sign Alice up, and create a workspace and an agent with its chat."""
    api = sign_up("Alice")
    workspace = api.ok("POST", "workspaces", {"name": "Lighthouse"})
    agent = api.ok(
        "POST", f"workspaces/{workspace['id']}/agents", {"name": "Scribe", "template": "scribe", "open_chat": True}
    )
    return api, workspace, agent


def test_a_new_agent_greets_in_its_chat():
    api, workspace, agent = create_agent_with_chat()
    me = api.ok("GET", "me")
    assert (me["actor"]["handle"], me["workspaces"][0]["role"]) == ("alice", "editor")
    assert (agent["spec"]["number"], agent["actor"]["handle"]) == (1, "scribe")
    [chat] = api.ok("GET", f"workspaces/{workspace['id']}/chats")["results"]
    assert chat["last_message"]["payload"]["text"].startswith("Hello, I am Scribe.")
    assert chat["last_message"]["payload"]["greeting"] is True
    assert api.ok("GET", f"chats/{chat['chat']['id']}/runs?state=all")["results"] == []


def test_a_link_admits_a_person_to_the_workspace_and_the_chat():
    alice, workspace, agent = create_agent_with_chat()
    link = alice.ok("POST", f"chats/{agent['chat_id']}/links", {"role": "suggester"})
    token = link["url"].rsplit("/", 1)[1]
    seen = Api().ok("GET", f"join/{token}")
    assert (seen["workspace_name"], seen["invited_by"], seen["role"]) == ("Lighthouse", "Alice", "suggester")
    Api().refused(401, "not_signed_in", "POST", f"join/{token}")
    bob = sign_up("Bob")
    joined = bob.ok("POST", f"join/{token}")
    assert (joined["chat_id"], joined["workspace"]["role"]) == (agent["chat_id"], "suggester")
    bob.ok("POST", f"join/{token}")
    members = alice.ok("GET", f"workspaces/{workspace['id']}/members")["results"]
    assert [(m["actor"]["name"], m["role"]) for m in members] == [("Alice", "editor"), ("Bob", "suggester")]
    [listed] = alice.ok("GET", f"chats/{agent['chat_id']}/links")["results"]
    assert (listed["uses"], listed["url"]) == (1, None)
    alice.ok("DELETE", f"links/{link['id']}")
    sign_up("Charlie").refused(404, "link_dead", "POST", f"join/{token}")


def test_unread_messages_and_mentions_are_counted_until_they_are_read():
    alice, workspace, agent = create_agent_with_chat()
    chat = agent["chat_id"]
    token = alice.ok("POST", f"chats/{chat}/links", {"role": "editor"})["url"].rsplit("/", 1)[1]
    bob = sign_up("Bob")
    bob.ok("POST", f"join/{token}")
    body = message_body("hello @bob")
    posted = alice("POST", f"chats/{chat}/messages", body)
    again = alice("POST", f"chats/{chat}/messages", body)
    assert (posted.status_code, again.status_code) == (201, 200)
    assert posted.json() == again.json()
    [row] = bob.ok("GET", f"workspaces/{workspace['id']}/chats")["results"]
    assert (row["unread"], row["mentioned"]) == (2, True)
    bob.ok("PUT", f"chats/{chat}/read", {"seq": posted.json()["seq"]})
    [row] = bob.ok("GET", f"workspaces/{workspace['id']}/chats")["results"]
    assert (row["unread"], row["mentioned"]) == (0, False)


def test_older_messages_are_read_by_pages():
    alice, _, agent = create_agent_with_chat()
    chat = agent["chat_id"]
    texts = [f"m{n}" for n in range(7)]
    for text in texts:
        alice.ok("POST", f"chats/{chat}/messages", message_body(text, wake="nobody"))
    newest = alice.ok("GET", f"chats/{chat}/messages?limit=4")
    older = alice.ok("GET", f"chats/{chat}/messages?limit=4&before={newest['before']}")
    assert [m["payload"]["text"] for m in newest["results"]] == texts[3:]
    assert [m["payload"]["text"] for m in older["results"]][-3:] == texts[:3]


def test_a_draft_is_edited_applied_and_saved():
    alice, _, agent = create_agent_with_chat()
    at = f"chats/{agent['chat_id']}/agents/{agent['actor']['id']}/draft"
    alice.refused(404, "no_draft", "GET", at)
    content = {"prompt": "Answer in capitals.", "tools": [{"tool": "current_time"}]}
    draft = alice.ok("PUT", at, {"content": content, "revision": None})
    draft = alice.ok("PUT", at, {"content": {**content, "prompt": "Shout."}, "revision": draft["revision"], "caret": 3})
    applied = alice.ok("POST", f"{at}/apply", {"revision": draft["revision"]})
    assert (applied["status"], applied["applied"]["prompt"], applied["apply_count"]) == ("applied", "Shout.", 1)
    body = {"revision": draft["revision"], "base_version": 1, "message": "Louder"}
    assert alice.ok("POST", f"{at}/save", body)["number"] == 2
    alice.refused(404, "no_draft", "POST", f"{at}/save", body)
    versions = alice.ok("GET", f"agents/{agent['actor']['id']}/versions")["results"]
    assert [(v["number"], v["message"]) for v in versions] == [(2, "Louder"), (1, "")]


def test_a_person_can_sign_in_and_out():
    sign_up("Alice")
    alice = sign_in("alice@example.org", PASSWORD)
    assert alice.ok("GET", "me")["actor"]["name"] == "Alice"
    alice("DELETE", "/_allauth/app/v1/auth/session")
    alice.refused(401, "not_signed_in", "GET", "me")


def test_a_browser_session_needs_its_csrf_token():
    sign_up("Alice")
    client = Client(enforce_csrf_checks=True)
    client.get("/_allauth/browser/v1/auth/session")
    headers = {"X-CSRFToken": client.cookies["csrftoken"].value}
    body = {"email": "alice@example.org", "password": PASSWORD}
    assert client.post("/_allauth/browser/v1/auth/login", body, "application/json", headers=headers).status_code == 200
    assert client.post("/api/v1/workspaces", {"name": "X"}, "application/json").status_code == 403
    headers = {"X-CSRFToken": client.cookies["csrftoken"].value}
    assert client.post("/api/v1/workspaces", {"name": "X"}, "application/json", headers=headers).status_code == 201


def test_an_agent_cannot_sign_in():
    _, _, agent = create_agent_with_chat()
    scribe = Actor.objects.get(pk=agent["actor"]["id"])
    scribe.set_password(PASSWORD)
    scribe.save()
    for name in (None, "", scribe.handle, f"{scribe.handle}@example.org"):
        assert authenticate(None, email=name, username=name, password=PASSWORD) is None
    answer = Api()("POST", "/_allauth/app/v1/auth/login", {"email": "scribe@example.org", "password": PASSWORD})
    assert answer.status_code == 400


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid"),
        ({"name": ""}, "invalid"),
        ({"name": "x" * 81}, "invalid"),
        ({"name": "X", "nmae": "typo"}, "invalid"),
        ({"name": ["X"]}, "invalid"),
    ],
)
def test_invalid_input_is_refused_and_nothing_is_created(body, code):
    alice = sign_up("Alice")
    error = alice.refused(400, code, "POST", "workspaces", body)
    assert error["message"]
    assert alice.ok("GET", "workspaces")["results"] == []


def test_MSG1_posting_again_a_text_that_was_cleaned_returns_the_first_message():
    alice, _, agent = create_agent_with_chat()
    body = message_body("nul \x00 and half a \ud83d", wake="nobody")
    answers = [alice("POST", f"chats/{agent['chat_id']}/messages", body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    assert answers[0].json() == answers[1].json()


def test_SEC20_invalid_or_deeply_nested_json_is_a_bad_request():
    alice = sign_up("Alice")
    headers = {"X-Session-Token": str(alice.token)}
    for raw in (b"{", b"\xff\xfe", b"[" * 100_000, b'{"name": 1e999}', b'"\\ud800"'):
        answer = alice.client.generic("POST", "/api/v1/workspaces", raw, "application/json", headers=headers)
        assert answer.status_code == 400, raw[:20]
        assert answer.json()["error"]["code"] == "invalid"


def test_the_last_editor_cannot_leave_or_step_down():
    alice, workspace, _ = create_agent_with_chat()
    me = alice.ok("GET", "me")["actor"]["id"]
    at = f"workspaces/{workspace['id']}"
    alice.refused(409, "last_editor", "POST", f"{at}/leave")
    alice.refused(409, "last_editor", "PATCH", f"{at}/members/{me}", {"role": "suggester"})
    assert alice.ok("GET", "me")["workspaces"][0]["role"] == "editor"
