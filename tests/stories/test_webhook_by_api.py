"""An outside program is woken by webhook: signed posts over HTTP, tried again by the worker until the program takes them."""

import base64
import hashlib
import hmac
import json
import time

import pytest

from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack


def wait_for(wanted, seconds=30):
    deadline = time.monotonic() + seconds
    while not (found := wanted()):
        if time.monotonic() > deadline:
            raise TimeoutError("It did not come.")
        time.sleep(0.05)
    return found


def verify(secret, headers, body):
    """Verify a post as a library for Standard Webhooks does, and return the event."""
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body}".encode()
    key = base64.b64decode(secret.removeprefix("whsec_"))
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    return json.loads(body)


@pytest.fixture
def alice(stack, receiver):
    receiver.posts.clear()
    receiver.status = 200
    alice = Integrator(stack, "Alice")
    yield alice
    alice.close()


def test_each_wake_is_posted_signed_and_again_until_the_program_takes_it(stack, receiver, alice):
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})["id"]
    body = {"name": "Echo", "template": "scribe", "open_chat": True}
    agent = alice.ok("POST", f"workspaces/{workspace}/agents", body)
    chat, echo = agent["chat_id"], agent["actor"]["id"]
    alice.ok("PATCH", f"agents/{echo}/access", {"runs_outside": True})
    made = alice.ok("POST", f"agents/{echo}/webhooks", {"url": receiver.url("/wake")})
    deliveries = f"agents/{echo}/webhooks/{made['webhook']['id']}/deliveries"

    message = alice.post(chat, "a secret of the chat")
    [(path, headers, posted)] = wait_for(lambda: receiver.posts[:])
    event = verify(made["secret"], headers, posted)
    assert (path, event["type"], event["data"]["agent_id"]) == ("/wake", "agent.woken", echo)
    assert (event["data"]["message_ids"], event["data"]["why"]) == ([message["id"]], "always")
    assert "secret of" not in posted
    wait_for(lambda: [row["state"] for row in alice.ok("GET", deliveries)["results"]] == ["delivered"])

    # The program fails: the delivery waits for its next try, and then has the same id and body.
    receiver.status = 503
    alice.post(chat, "and again")
    wait_for(lambda: len(receiver.posts) == 2)
    waiting = wait_for(
        lambda: [row for row in alice.ok("GET", deliveries)["results"] if row["tries"] and row["next_at"]]
    )
    assert [(row["state"], row["status"], row["error"]) for row in waiting] == [("waiting", 503, "HTTP 503")]
    receiver.status = 200
    stack.execute("UPDATE webhooks_delivery SET next_at = now() WHERE id = %s", waiting[0]["id"])
    alice.post(chat, "now both")
    wait_for(lambda: len(receiver.posts) == 4)
    _, failed, retried, _ = sorted(receiver.posts, key=lambda post: json.loads(post[2])["timestamp"])
    assert (failed[1]["webhook-id"], failed[2]) == (retried[1]["webhook-id"], retried[2])
    verify(made["secret"], retried[1], retried[2])
    states = wait_for(
        lambda: [r for r in alice.ok("GET", deliveries)["results"] if r["state"] == "delivered"][2:] and "all"
    )
    assert states == "all"

    # A rotated secret ends the old one at once.
    rotated = alice.ok("POST", f"agents/{echo}/webhooks/{made['webhook']['id']}/secret")
    receiver.posts.clear()
    alice.post(chat, "signed anew")
    [(_, headers, posted)] = wait_for(lambda: receiver.posts[:])
    verify(rotated["secret"], headers, posted)
    with pytest.raises(AssertionError):
        verify(made["secret"], headers, posted)
