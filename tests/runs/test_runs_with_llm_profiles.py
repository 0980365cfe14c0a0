"""Runs that use the own model of a person: whose key is sent, and what ends a run instead of another key."""

import json
from functools import partial
from itertools import product

import pytest
from django.db import transaction

from agents.services import drafts
from agents.specs.content import SpecContent
from chats import services as chats
from chats.models import Chat, ChatActor, Message
from chats.permissions import find_readers
from common.ids import new_id
from common.secrets import Secret
from llm import services as llm
from llm.endpoints import check_endpoint
from llm.models import LLMProfile
from llm.protocol import LLMError
from runs.kinds import get_kind
from runs.models import Run
from runs.services import comparisons, runs
from tests.factories.agents import add_tool_use
from tests.factories.llm import LLMPolicyFactory
from tests.factories.runs import JobFactory, RunFactory
from tests.people import make_agent
from tests.recorder import prepare_run
from tests.runs.job_environment import JobEnvironment
from usage.models import LLMCall
from workspaces import services as workspaces

pytestmark = pytest.mark.django_db(transaction=True)

ALICES, BOBS, WORKSPACES = (f"sk-{name}-0123456789abcdef" for name in ("alice", "bob", "workspace"))


def set_profile(environment, person, key, **fields):
    fields = {"revision": 0, "default_model": "own", **fields}
    return llm.set_llm_profile(
        person, provider="openai_compatible", api_base=environment.model.api_base, key=Secret(key), **fields
    )


@pytest.fixture
def paying(environment):
    """The workspace has a key, and Alice an own model that may be used there."""
    team = environment.team
    workspaces.set_model(
        team.alice,
        team.workspace.id,
        provider="openai_compatible",
        default_model="scripted",
        revision=1,
        api_base=environment.model.api_base,
        key=Secret(WORKSPACES),
    )
    workspaces.set_llm_profile_policy(team.alice, team.workspace.id, allows_llm_profiles=True)
    set_profile(environment, team.alice, ALICES)
    return environment


def list_sent_keys(environment):
    return [request.headers["Authorization"].removeprefix("Bearer ") for request in environment.model.requests]


def list_payers():
    return list(LLMCall.objects.order_by("pk").values_list("paid_by", "on_behalf_of__name", "model"))


def list_stamps(environment):
    stamps = [message.payload["stamp"] for message in environment.log("TEXT_MESSAGE") if "stamp" in message.payload]
    return [
        (stamp["paid_by"], stamp.get("payer_name"), stamp["payer_reason"], stamp["model"])
        for stamp in stamps
        if "paid_by" in stamp
    ]


@pytest.mark.usefixtures("engine")
def test_SEC24_the_key_of_a_person_pays_for_their_runs_and_that_of_the_workspace_for_those_of_others(paying):
    paying.post("hello")
    paying.wait_until_idle()
    paying.post("hello, too", by=paying.team.bob)
    paying.wait_until_idle()
    assert list_sent_keys(paying) == [ALICES, WORKSPACES]
    assert list_stamps(paying) == [
        ("person", "Alice", "llm_profile", "own"),
        ("workspace", None, "no_llm_profile", "scripted"),
    ]
    assert list_payers() == [("person", "Alice", "own"), ("workspace", "Bob", "scripted")]
    assert [request.body["model"] for request in paying.model.requests] == ["own", "scripted"]


@pytest.mark.usefixtures("engine")
def test_a_retry_is_paid_by_the_person_who_wants_it(paying):
    paying.model.script(mode="status", status=401, times=1)
    paying.post("hello")
    [failed] = paying.wait_until_idle()
    set_profile(paying, paying.team.bob, BOBS)
    with transaction.atomic():
        runs.retry_run(paying.team.bob, failed.id)
    paying.submit_queued_runs()
    paying.wait_until_idle()
    assert list_sent_keys(paying) == [ALICES, BOBS]


@pytest.mark.usefixtures("engine")
def test_a_comparison_is_paid_by_the_person_who_starts_it(paying):
    team = paying.team
    set_profile(paying, team.bob, BOBS)
    ids = {"chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = drafts.claim_draft(actor=team.alice, **ids, content=SpecContent(prompt="Answer like a pirate."))
    drafts.apply_draft(actor=team.alice, **ids, revision=draft.revision)
    with transaction.atomic():
        comparisons.start_comparison(actor=team.bob, **ids, id=team.chat.id, text="Which?", revision=draft.revision)
    paying.submit_queued_runs()
    paying.wait_until_idle()
    assert list_sent_keys(paying) == [BOBS, BOBS]


@pytest.mark.usefixtures("engine")
def test_a_job_is_paid_by_the_person_it_works_for(paying, monkeypatch):
    jobs = JobEnvironment(paying)
    monkeypatch.setattr("runs.hooks.runs_ended._listeners", (jobs.on_runs_ended,))
    stamps = [jobs.wait_for(jobs.start(by=person)).stamp or {} for person in (paying.team.alice, paying.team.bob)]
    assert list_sent_keys(paying) == [ALICES, WORKSPACES]
    assert [(stamp["paid_by"], stamp["payer_name"]) for stamp in stamps] == [("person", "Alice"), ("workspace", None)]


WITHDRAWALS = {
    "the person deletes it": lambda team: llm.delete_llm_profile(team.alice),
    "the person sets another key": lambda team: llm.set_llm_profile(
        team.alice, provider="openai", default_model="own", revision=1, key=Secret("sk-another")
    ),
    "the workspace allows it no longer": lambda team: workspaces.set_llm_profile_policy(
        team.alice, team.workspace.id, allows_llm_profiles=False
    ),
    "the operator allows it no longer": lambda team: LLMPolicyFactory.create(allows_llm_profiles=False),
    "the operator allows other providers": lambda team: LLMPolicyFactory.create(allowed_providers=["anthropic"]),
    "the operator requires another model": lambda team: LLMPolicyFactory.create(requires_system_model=True),
}


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("name", WITHDRAWALS)
def test_SEC24_an_own_model_that_is_withdrawn_during_a_run_gets_no_further_request(paying, name):
    """The run ends. It is not continued at the expense of the workspace."""
    paying.model.script(first=0.7, calls=[{"name": "current_time", "arguments": "{}"}])
    paying.post("hello")
    paying.wait(lambda: paying.model.requests)
    WITHDRAWALS[name](paying.team)
    [run] = paying.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "llm_profile_withdrawn")
    assert "Alice" in run.error
    assert list_sent_keys(paying) == [ALICES]
    assert [
        (call.paid_by, call.error_code, call.tries, call.input_tokens > 0) for call in LLMCall.objects.order_by("pk")
    ] == [("person", "", 1, True), ("person", "llm_profile_withdrawn", 0, False)]


@pytest.mark.usefixtures("engine")
def test_an_own_model_that_is_withdrawn_between_two_tries_gets_no_further_try(paying):
    paying.model.script(mode="status", status=503, retry_after="1")
    paying.post("hello")
    paying.wait(lambda: paying.model.requests)
    llm.delete_llm_profile(paying.team.alice)
    [run] = paying.wait_until_idle()
    assert run.error_code == "llm_profile_withdrawn"
    assert list_sent_keys(paying) == [ALICES]


@pytest.mark.usefixtures("engine")
def test_a_run_that_has_begun_with_the_key_of_the_workspace_continues_with_it(paying):
    LLMProfile.objects.all().delete()
    paying.model.script(first=0.5, calls=[{"name": "current_time", "arguments": "{}"}], then={"text": "done"})
    paying.post("hello")
    paying.wait(lambda: paying.model.requests)
    set_profile(paying, paying.team.alice, ALICES)
    assert [run.state for run in paying.wait_until_idle()] == ["completed"]
    assert list_sent_keys(paying) == [WORKSPACES, WORKSPACES]


@pytest.mark.usefixtures("engine")
def test_SEC24_an_own_model_that_fails_ends_the_run_and_only_its_person_reads_the_details(paying):
    paying.model.script(mode="status", status=401, error="Organisation org-OF-ALICE has no quota")
    paying.post("hello")
    [run] = paying.wait_until_idle()
    assert (run.state, run.error_code, run.error) == (
        "failed",
        "llm_profile_failed",
        "The own model of Alice failed: refused.",
    )
    assert set(list_sent_keys(paying)) == {ALICES}
    assert paying.log("RUN_FAILED")[0].payload["payer_name"] == "Alice"
    assert "org-OF-ALICE" not in "".join(str(message.payload) for message in paying.log())
    profile = LLMProfile.objects.get()
    assert (profile.failure_code, profile.failed_at is not None) == ("refused", True)
    assert "org-OF-ALICE" in profile.failure_message
    assert [(call.paid_by, call.error_code) for call in LLMCall.objects.all()] == [("person", "refused")]
    saved = set_profile(paying, paying.team.alice, ALICES, revision=1)
    assert (saved.failed_at, saved.failure_code, saved.failure_message) == (None, "", "")


@pytest.mark.usefixtures("engine")
def test_a_run_whose_own_key_cannot_be_decrypted_asks_no_model(paying):
    LLMProfile.objects.update(encrypted_key="gAAAA-not-ours")
    paying.post("hello")
    [run] = paying.wait_until_idle()
    assert (run.state, run.error_code) == ("failed", "llm_profile_unusable")
    assert "Alice" in run.error
    assert paying.model.requests == []


CONFIDENTIAL = "CONFIDENTIAL: the merger is on Friday."


@pytest.fixture
def between_agents(paying):
    """Writer, and a chat between it and Robin with a text that only editors read. Everybody has an own model."""
    team = paying.team
    set_profile(paying, team.bob, BOBS)
    add_tool_use(team.robin.current_spec, "send_message")
    paying.writer = make_agent(team.workspace, team.alice, "Writer", handle="writer", prompt="You are Writer")
    chat, _ = chats.open_direct_chat(team.robin, team.workspace.id, paying.writer.id)
    paying.post(CONFIDENTIAL, by=team.robin, chat=chat, wake="nobody")
    return chat


@pytest.mark.usefixtures("receiving_engine")
def test_SEC24_the_own_model_of_a_member_is_not_sent_a_chat_between_agents(paying, between_agents):
    """Bob has Robin write to Writer, so Writer works for Bob, who may not read what the two have written to each other."""
    team = paying.team
    order = {"name": "send_message", "arguments": json.dumps({"to": "@writer", "text": "Go on, please."})}
    paying.model.script(calls=[order], then={"text": "I did."}, match="Write to Writer", times=1)
    paying.model.script(text="Gladly.", system="You are Writer")
    paying.post("@robin Write to Writer", by=team.bob)
    [approval] = paying.wait_until_waiting()
    paying.decide(approval, by=team.bob)
    paying.wait(lambda: Run.objects.filter(chat=between_agents, state="completed").exists())
    paying.wait_until_idle()
    by_key: dict[str, list[bool]] = {key: [] for key in (ALICES, BOBS, WORKSPACES)}
    for request in paying.model.requests:
        key = request.headers["Authorization"].removeprefix("Bearer ")
        by_key[key].append(CONFIDENTIAL in json.dumps(request.body))
    assert len(by_key[BOBS]) == 2  # Robin's, in the chat that Bob is in
    assert not any(by_key[BOBS])
    assert not by_key[ALICES]
    assert by_key[WORKSPACES]
    assert all(by_key[WORKSPACES])
    answer = Message.objects.filter(chat=between_agents, author=paying.writer).earliest("seq")
    assert (answer.payload["stamp"]["paid_by"], answer.payload["stamp"]["payer_reason"]) == (
        "workspace",
        "not_a_reader",
    )
    assert Run.objects.get(chat=between_agents, pk=str(answer.run_id)).on_behalf_of == team.bob


def build_run(kind, chat, agent, person):
    """Return a claimed run of this kind, which works for this person."""
    spec = agent.current_spec
    claimed = {"agent": agent, "on_behalf_of": person, "spec": spec, "running": True, "message_id": new_id()}
    if kind == "summary of the chat":
        job_input = {"text": CONFIDENTIAL, "input": {}, "expected": 10}
        return JobFactory.create(
            workspace=chat.workspace, kind="chat_summary", trigger_id=chat.id, **claimed | {"input": job_input}
        )
    claimed["chat"] = chat
    if kind == "comparison":
        return RunFactory.create(
            kind="comparison", stamp={"spec_id": str(spec.id), "compared": str(new_id())}, **claimed
        )
    if kind == "sub-agent":
        caller = RunFactory.create(**claimed)
        task = {"text": "task", "author_id": str(agent.id), "author_name": agent.name}
        path = [agent.id, agent.id]
        limits = {"max_steps": 5}
        return RunFactory.create(
            parent=caller, root=caller, call_id="c", path=path, input=task, limits=limits, **claimed
        )
    return RunFactory.create(**claimed)


@pytest.mark.parametrize("kind", ["chat", "sub-agent", "comparison", "summary of the chat"])
def test_SEC24_whoever_pays_with_an_own_model_reads_the_chat_of_the_run(paying, between_agents, kind):
    """A run that works for somebody who is in none of these chats does not start; its model would not be theirs either."""
    team = paying.team
    direct, _ = chats.open_direct_chat(team.alice, team.workspace.id, team.robin.id)
    own = chats.create_chat(team.bob, team.workspace.id, title="Bob's", actor_ids=[team.robin.id])
    seen = set()
    for chat, person in product((team.chat, direct, own, between_agents), (team.alice, team.bob)):
        chat = Chat.objects.select_related("workspace").get(pk=chat.pk)
        run = build_run(kind, chat, team.robin, person)
        prepared = prepare_run(run)
        endpoint, model = prepared.model.endpoint, prepared.model.name
        reads = person.pk in find_readers([chat])[chat.pk]
        seen.add(reads)
        assert (endpoint.person_id == person.pk) is reads, (kind, chat, person)
        assert endpoint.reason == ("llm_profile" if reads else "not_a_reader")
        check = partial(
            check_endpoint,
            endpoint,
            model,
            workspace_id=chat.workspace_id,
            spec_model="",
            is_reader=partial(get_kind(run).is_reader, run),
        )
        check()
        if reads and not chat.is_between_agents:
            ChatActor.objects.filter(chat=chat, actor=person).delete()
            with pytest.raises(LLMError) as error:
                check()
            assert error.value.code == "llm_profile_withdrawn"
    assert seen == {True, False}
