"""Budgets by the API: two editors and a suggester, from the first price to the export."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest

from tests.stories.integrator import Integrator

pytestmark = pytest.mark.stack


@pytest.fixture
def people(stack, model):
    """Alice and Carol (editors) and Bob (suggester) in a chat with Scribe, whose answers cost $100 a million tokens."""
    model.reset()
    alice, bob, carol = (Integrator(stack, name) for name in ("Alice", "Bob", "Carol"))
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})["id"]
    settings = {"provider": "openai_compatible", "api_base": model.api_base, "default_model": "scripted", "revision": 0}
    alice.ok("PUT", f"workspaces/{workspace}/model", settings)
    body = {"name": "Scribe", "template": "scribe", "prompt": "You are Scribe.", "open_chat": True}
    agent = alice.ok("POST", f"workspaces/{workspace}/agents", body)
    for person, role in ((bob, "suggester"), (carol, "editor")):
        link = alice.ok("POST", f"chats/{agent['chat_id']}/links", {"role": role})["url"]
        person.ok("POST", f"join/{link.rsplit('/', 1)[1]}")
    alice.ok("PATCH", f"chats/{agent['chat_id']}/participants/{agent['actor']['id']}", {"response": "always"})
    for person in (alice, bob, carol):
        person.chat, person.scribe, person.workspace = agent["chat_id"], agent["actor"]["id"], workspace
    price = {"provider": "openai_compatible", "input_micro": 1_000_000, "output_micro": 100_000_000}
    alice.ok("PUT", f"workspaces/{workspace}/prices", price)
    yield alice, bob, carol
    for person in (alice, bob, carol):
        person.close()


def list_warnings(person):
    return [row for row in person.ok("GET", "notifications")["results"] if row["type"] == "budget_warning"]


def test_a_budget_of_a_month_is_warned_of_used_up_and_raised(people, model):
    alice, bob, carol = people
    budgets = f"workspaces/{alice.workspace}/budgets"
    body = {"scope": "workspace", "period": "month", "limit_micro": 5_000_000}
    assert bob.status("POST", budgets, body) == 403
    budget = alice.ok("POST", budgets, body)
    assert carol.status("POST", budgets, body) == 409
    tab = bob.watch(bob.chat)

    # The first answer costs $4.10, which is 82 %: the editors are notified once, and Bob is not.
    model.script(text="first answer", usage={"prompt_tokens": 1_000, "completion_tokens": 40_990})
    bob.post(bob.chat, "first")
    tab.wait_for_answer(bob.scribe, 1)
    model.script(text="second answer", usage={"prompt_tokens": 1_000, "completion_tokens": 9_490})
    bob.post(bob.chat, "second")
    tab.wait_for_answer(bob.scribe, 2)
    assert [len(list_warnings(person)) for person in (alice, carol, bob)] == [1, 1, 0]

    # The budget is used up: the preview says so, the run fails without a request, and the message says what to do.
    [wake] = bob.ok("POST", f"chats/{bob.chat}/wakes", {"text": "third"})["results"]
    assert (wake["effect"], wake["reason"]) == ("wakes", "budget_used_up")
    requests = len(model.requests)
    bob.post(bob.chat, "third")
    [failed] = tab.wait_until(lambda each: each.messages("RUN_FAILED"))
    refusal = failed["payload"]["budget"]
    assert (refusal["budget_id"], refusal["spent_micro"], refusal["limit_micro"]) == (
        budget["id"],
        5_050_000,
        5_000_000,
    )
    assert (refusal["left_micro"], refusal["needed_micro"] >= 25_600) == (0, True)  # of the shortest answer
    assert len(model.requests) == requests

    # Bob may not raise it; Carol does, with the revision that she has read. Bob's retry is answered.
    change = {"limit_micro": 20_000_000, "revision": 1}
    assert bob.status("PATCH", f"budgets/{budget['id']}", change) == 403
    assert carol.status("PATCH", f"budgets/{budget['id']}", change | {"revision": 7}) == 409
    assert carol.ok("PATCH", f"budgets/{budget['id']}", change)["spent_micro"] == 5_050_000
    assert bob.ok("POST", f"chats/{bob.chat}/wakes", {"text": "third"})["results"][0]["reason"] is None
    model.script(text="third answer", usage={"prompt_tokens": 1_000, "completion_tokens": 90})
    bob.ok("POST", f"runs/{failed['payload']['run_id']}/retry")
    assert tab.wait_for_answer(bob.scribe, 3)["payload"]["text"] == "third answer"

    # The report and the export have the same sum in every group, and each call has its entry.
    today = datetime.now(UTC).date()
    period = f"starts_on={today - timedelta(days=3)}&ends_on={today + timedelta(days=1)}"
    for group in ("agent", "version", "person", "model", "tree"):
        query = f"{period}&group={group}"
        report = alice.ok("GET", f"workspaces/{alice.workspace}/usage?{query}")
        answer = alice.http.get(f"/api/v1/workspaces/{alice.workspace}/usage.csv?{query}").raise_for_status()
        rows = list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
        assert report["totals"]["cost_micro"] == sum(row["cost_micro"] for row in report["rows"]) == 5_060_000
        assert round(sum(float(row["cost in USD"]) for row in rows), 6) == 5.06
        assert sum(int(row["calls"]) for row in rows) == report["totals"]["calls"]
    assert bob.status("DELETE", f"budgets/{budget['id']}") == 403
    alice.ok("DELETE", f"budgets/{budget['id']}")
    assert alice.ok("GET", budgets)["results"] == []
