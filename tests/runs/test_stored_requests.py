"""What is sent to a model is stored with the ledger entry of the request, and removed after a time."""

from datetime import timedelta

import pytest
from django.db import transaction

from common.clock import now
from common.ids import get_lowest_id_at
from llm.sent_requests import RequestKey, SentRequest, decode_requests
from runs.models import Run
from usage import services as usage
from usage.models import LLMCall

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("engine")]


def read_requests(run: Run) -> dict[RequestKey, SentRequest | None]:
    calls = LLMCall.objects.filter(run_id=run.id).only("step_number", "attempt", "request")
    return decode_requests(
        {RequestKey(call.step_number, call.attempt): bytes(call.request) for call in calls if call.request}
    )


def test_each_request_of_a_run_is_stored_as_it_was_sent(environment):
    call = {"index": 0, "id": "a", "function": {"name": "current_time", "arguments": "{}"}}
    thinking = {"delta": {"reasoning_content": "I need the time.", "tool_calls": [call]}}
    environment.model.script(mode="events", events=[thinking], then={"text": "It is noon."})
    environment.post("what time is it?")
    [run] = environment.wait_until_idle()
    stored = read_requests(run)
    sent = environment.model.requests
    assert len(stored) == len(sent) == 2
    for request, recorded in zip(stored.values(), sent, strict=True):
        assert request is not None
        assert [(turn["role"], turn["text"]) for turn in request.turns] == [
            (message["role"], message["content"] or "") for message in recorded.body["messages"]
        ]
        assert [turn.get("provider_fields", "") for turn in request.turns] == [
            f'{{"reasoning_content":"{message["reasoning_content"]}"}}' if "reasoning_content" in message else ""
            for message in recorded.body["messages"]
        ]
        assert [tool["name"] for tool in request.tools] == [tool["function"]["name"] for tool in recorded.body["tools"]]
    assert "reasoning_content" in str(sent[1].body["messages"])
    first = stored[RequestKey(1, 1)]
    assert first is not None
    prompt = first.sections[0]
    assert (prompt.kind, first.turns[0]["text"][prompt.start : prompt.end]) == (
        "prompt",
        run.get_spec().content["prompt"],
    )


def test_the_request_of_a_failed_run_is_stored_too(environment):
    environment.model.script(mode="status", status=400)
    environment.post("hello")
    [run] = environment.wait_until_idle()
    [request] = read_requests(run).values()
    assert run.state == "failed"
    assert request is not None
    assert "hello" in request.turns[-1]["text"]


def test_old_requests_are_removed_and_their_figures_stay(environment, settings):
    environment.post("hello")
    [run] = environment.wait_until_idle()
    call = LLMCall.objects.get()
    old = get_lowest_id_at(now() - timedelta(days=settings.SENT_REQUEST_DAYS, minutes=1))
    with transaction.atomic():
        LLMCall.objects.filter(pk=call.pk).update(id=old)
    environment.post("again")
    environment.wait_until_idle()
    usage.remove_old_sent_requests()
    assert [bool(call.request) for call in LLMCall.objects.order_by("pk").only("request")] == [False, True]
    assert LLMCall.objects.get(pk=old).input_tokens == call.input_tokens
