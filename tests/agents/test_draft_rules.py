"""Concurrent claims of a draft, the end of its lock, and the limits of what its holder may do (EDIT1, EDIT3)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from actors.models import Actor
from agents import hooks, selectors
from agents.models import AgentGrant, AgentSpec, Draft
from agents.services import drafts, stored_specs
from agents.specs.content import SpecContent, ToolUse
from chats import services as chats
from chats.models import Message
from common.errors import AppError, Code, Conflict, Forbidden
from events.models import AuditRecord
from events.rows import Role, SpecOrigin
from runs.models import Run
from runs.services import claims
from tests.chaos import IS_CHAOS
from tests.concurrency import ConcurrentTransaction
from tests.factories.workspaces import grant_right
from tests.hooks import record_calls
from tests.people import make_agent, make_operator, make_person
from tests.recorder import prepare_run
from tools.interface import Tool, ToolArgs, ToolConfig
from tools.registry import registry
from workspaces import services as workspaces
from workspaces.models import Membership

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 100 if IS_CHAOS else 5
NEW = SpecContent(prompt="Answer like a pirate.")


def draft_args(team, who="alice", **more):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id, **more}


def claim(team, who="alice", content=NEW):
    return drafts.claim_draft(**draft_args(team, who), content=content)


def expire_locks():
    Draft.objects.filter(lock_holder__isnull=False).update(lock_expires_at=timezone.now() - timedelta(seconds=1))


def grant_save(team):
    """Grant Bob the right to save Robin."""
    grant_right(team.bob, "save_agent_actor", team.robin)


@pytest.fixture
def lock_lost_calls(monkeypatch):
    """The calls of the hook `lock_lost`."""
    return record_calls(monkeypatch, hooks.lock_lost)


def run_concurrently(calls):
    """Run the calls at the same time, each on its own connection, and return the result or the `AppError` of each."""
    start = Barrier(len(calls))

    def run_one(call):
        start.wait()
        try:
            return call()
        except AppError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run_one, calls))


# --- who gets the lock --------------------------------------------------------------------------------------------------


def test_EDIT1_of_twenty_concurrent_claims_one_gets_the_draft(team):
    racers = [make_person(f"Racer{n}") for n in range(20)]
    with transaction.atomic():
        for racer in racers:
            workspaces.join_workspace(racer, team.workspace.id, role="editor", invited_by=team.alice)
            chats.add_participant(team.alice, team.chat.id, racer.id)
    for number in range(ROUNDS):
        # Every other round starts without a draft, the others with one whose lock has expired.
        results = run_concurrently(
            [
                lambda racer=racer: drafts.claim_draft(actor=racer, chat_id=team.chat.id, agent_id=team.robin.id)
                for racer in racers
            ]
        )
        [winner] = [result for result in results if isinstance(result, Draft)]
        assert {result.code for result in results if result is not winner} == {Code.DRAFT_LOCKED}
        draft = Draft.objects.get(ended_at=None)
        assert draft.lock_holder == winner.lock_holder
        if number % 2:
            drafts.discard_draft(**draft_args(team), revision=draft.revision)
        else:
            expire_locks()
    assert Message.objects.filter(type="DRAFT_STARTED").count() == (ROUNDS + 1) // 2


def test_concurrent_claims_of_one_person_lock_one_draft(team):
    with transaction.atomic():
        wren = make_agent(team.workspace, team.alice, "Wren")
        other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[wren.id])
    for _ in range(ROUNDS):
        results = run_concurrently(
            [
                lambda: drafts.claim_draft(**draft_args(team)),
                lambda: drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=wren.id),
            ]
        )
        assert sorted(type(one).__name__ for one in results) == ["Conflict", "Draft"]
        assert (
            Draft.objects.filter(lock_holder=team.alice, lock_expires_at__gt=timezone.now(), ended_at=None).count() == 1
        )
        expire_locks()


@pytest.mark.parametrize(("minutes", "seconds", "is_free"), [(29, 59, False), (30, 1, True)])
def test_EDIT3_applying_and_reading_a_draft_do_not_renew_its_lock(team, minutes, seconds, is_free):
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        draft = claim(team)
    with time_machine.travel(start + timedelta(minutes=20), tick=False):
        drafts.apply_draft(**draft_args(team), revision=draft.revision)
        assert selectors.get_draft(**draft_args(team)).lock_expires_at == start + timedelta(minutes=30)
    with time_machine.travel(start + timedelta(minutes=minutes, seconds=seconds), tick=False):
        if is_free:
            assert claim(team, "bob", None).lock_holder == team.bob
        else:
            with pytest.raises(Conflict):
                claim(team, "bob", None)


def test_EDIT3_a_lock_that_is_renewed_during_a_claim_is_kept(team):
    """Bob's claim waits for the row of a draft whose lock seems to have expired, while Alice renews the lock."""
    draft = claim(team)
    with transaction.atomic():
        drafts.write_draft(**draft_args(team), content=SpecContent(prompt="Still here"), revision=draft.revision)
        Draft.objects.update(lock_expires_at=timezone.now() + timedelta(minutes=30))
        claiming = ConcurrentTransaction(lambda: claim(team, "bob", None))
    with pytest.raises(Conflict) as refusal:
        claiming.result()
    assert refusal.value.code == Code.DRAFT_LOCKED


def test_EDIT3_an_operator_releases_a_lock_with_an_audit_record_and_a_message(team, lock_lost_calls):
    draft = claim(team, "bob")
    operator = make_operator("Olga")
    drafts.release_draft(operator, draft.chat_id, draft.agent_id)
    draft.refresh_from_db()
    assert (draft.lock_holder, draft.written["prompt"]) == (None, NEW.prompt)
    assert [call[1:] for call in lock_lost_calls] == [(team.bob, operator)]
    message = Message.objects.get(type="LOCK_RELEASED")
    assert message.payload["actor_name"] == "Olga"
    record = AuditRecord.objects.get(action="draft.released", object_id=draft.id, actor_id=operator.id)
    assert record.workspace_id == team.workspace.id


def test_lock_lost_is_called_if_another_person_ends_a_lock_and_not_if_the_holder_does(team, lock_lost_calls):
    draft = claim(team, "bob")
    expire_locks()
    claim(team, "bob")
    assert [call[1:] for call in lock_lost_calls] == []
    expire_locks()
    draft_of_alice = claim(team, "alice")
    assert [call[1:] for call in lock_lost_calls] == [(team.bob, team.alice)]
    drafts.release_draft(**draft_args(team), revision=draft_of_alice.revision)
    draft_of_bob = claim(team, "bob")
    assert [call[1:] for call in lock_lost_calls] == [(team.bob, team.alice)]
    drafts.discard_draft(**draft_args(team), revision=draft_of_bob.revision)
    assert [call[1:] for call in lock_lost_calls] == [(team.bob, team.alice)] * 2
    assert Draft.objects.get(pk=draft.pk).outcome == "discarded"


def test_the_draft_of_an_agent_that_leaves_the_chat_is_discarded(team, monkeypatch):
    draft_ended_calls = record_calls(monkeypatch, hooks.draft_ended)
    draft = claim(team, "bob")
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.robin.id)
    draft.refresh_from_db()
    assert (draft.outcome, draft.lock_holder) == ("discarded", None)
    assert draft_ended_calls == [(draft, team.alice, None)]


def test_a_transaction_that_waits_for_a_draft_finds_it_after_another_person_wrote_it(team):
    """The row is found although its `updated_by` changed while the transaction waited for it."""
    claim(team, "alice")
    expire_locks()
    draft_of_bob = claim(team, "bob", None)
    with transaction.atomic():
        drafts.write_draft(
            **draft_args(team, "bob"), content=SpecContent(prompt="Mine"), revision=draft_of_bob.revision
        )
        discarding = ConcurrentTransaction(
            lambda: drafts.discard_draft(**draft_args(team), revision=draft_of_bob.revision + 1)
        )
    assert discarding.result().outcome == "discarded"


# --- tools that an applied draft may use -----------------------------------------------------------------------


class Pay(Tool):
    """Pay."""

    name = "pay"
    effect = "write"

    class Args(ToolArgs):
        pass

    class Config(ToolConfig):
        most: int = 10

    def run(self, ctx, args):
        return "Paid."


@pytest.fixture
def pay(monkeypatch):
    monkeypatch.setitem(registry, "pay", Pay())


def set_production_tools(team, *tools, number=2):
    with transaction.atomic():
        spec = stored_specs.write_spec(
            team.robin,
            SpecContent(prompt="Answer.", tools=tools),
            author=team.alice,
            origin=SpecOrigin.DRAFT,
            number=number,
        )
        Actor.objects.filter(pk=team.robin.pk).update(current_spec=spec)


def apply_with_tools(team, who, *tools):
    draft = claim(team, who, SpecContent(prompt="Pay.", tools=tools))
    try:
        return drafts.apply_draft(**draft_args(team, who), revision=draft.revision)
    finally:
        drafts.discard_draft(**draft_args(team, "alice"), revision=draft.revision)


@pytest.mark.parametrize(
    ("in_production", "requested"),
    [
        ([], {}),
        ([{"is_enabled": False}], {}),
        ([{}], {"custom_config": {"most": 11}}),
        ([{"custom_config": {"most": 5}}], {}),
    ],
)
def test_a_suggester_can_neither_add_a_writing_tool_nor_change_its_settings(team, pay, in_production, requested):
    set_production_tools(team, *(ToolUse(tool="pay", **use) for use in in_production))
    with pytest.raises(Forbidden):
        apply_with_tools(team, "bob", ToolUse(tool="pay", **requested))
    assert not AgentSpec.objects.filter(origin="applied").exists()
    assert apply_with_tools(team, "alice", ToolUse(tool="pay", **requested)).apply_count == 1


@pytest.mark.parametrize(
    "requested",
    [
        {"custom_config": {"most": 10}},
        {"usage_instructions": "Only on Mondays."},
        {"is_enabled": False, "custom_config": {"most": 99}},
    ],
)
def test_a_suggester_can_keep_a_writing_tool_unchanged_or_disable_it(team, pay, requested):
    set_production_tools(team, ToolUse(tool="pay"))
    assert apply_with_tools(team, "bob", ToolUse(tool="pay", **requested), ToolUse(tool="web_fetch")).apply_count == 1


def test_a_suggester_with_a_grant_to_save_can_add_a_writing_tool(team, pay):
    grant_save(team)
    assert apply_with_tools(team, "bob", ToolUse(tool="pay")).apply_count == 1
    draft = claim(team, "bob")
    assert drafts.save_draft(**draft_args(team, "bob"), revision=draft.revision, base_version=1).number == 2


def list_tools_of_run(team):
    """Return the names of the tools of a run with the applied text in the chat."""
    chats.post_message(team.alice, team.chat.id, text="@robin hello")
    Run.objects.exclude(state="queued").delete()
    run = claims.claim_run(Run.objects.get().pk, "there:1:a")
    assert run is not None
    tools = list(prepare_run(run).tools)
    Run.objects.all().delete()
    return tools


def test_an_applied_text_of_a_suggester_loses_a_writing_tool_with_production(team, pay):
    set_production_tools(team, ToolUse(tool="pay"), ToolUse(tool="current_time"))
    draft = claim(team, "bob", SpecContent(prompt="Pay.", tools=(ToolUse(tool="pay"), ToolUse(tool="current_time"))))
    drafts.apply_draft(**draft_args(team, "bob"), revision=draft.revision)
    assert list_tools_of_run(team) == ["pay", "current_time"]
    set_production_tools(team, ToolUse(tool="pay", custom_config={"most": 5}), number=3)
    assert list_tools_of_run(team) == ["current_time"]
    set_production_tools(team, number=4)
    assert list_tools_of_run(team) == ["current_time"]


def test_an_applied_text_loses_a_writing_tool_whose_settings_a_release_no_longer_allows(team, pay, monkeypatch):
    uses = (ToolUse(tool="pay", custom_config={"most": 5}), ToolUse(tool="current_time"))
    set_production_tools(team, *uses)
    draft = claim(team, "bob", SpecContent(prompt="Pay.", tools=uses))
    drafts.apply_draft(**draft_args(team, "bob"), revision=draft.revision)
    assert list_tools_of_run(team) == ["pay", "current_time"]
    monkeypatch.setattr(Pay, "Config", ToolConfig)
    assert list_tools_of_run(team) == ["current_time"]


def test_an_applied_text_loses_an_added_writing_tool_when_its_author_may_no_longer_save(team, pay):
    draft = claim(team, "alice", SpecContent(prompt="Pay.", tools=(ToolUse(tool="pay"),)))
    drafts.apply_draft(**draft_args(team, "alice"), revision=draft.revision)
    assert list_tools_of_run(team) == ["pay"]
    Membership.objects.filter(actor=team.alice).update(role=Role.SUGGESTER)
    assert list_tools_of_run(team) == []


# --- saving ------------------------------------------------------------------------------------------------


def test_of_two_concurrent_saves_one_wins_and_the_other_gets_production(team):
    with transaction.atomic():
        other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.bob.id, team.robin.id])
    grant_save(team)
    chat_ids = {"alice": team.chat.id, "bob": other.id}
    for number in range(1, ROUNDS + 1):
        calls = []
        for who, chat_id in chat_ids.items():
            args = {"actor": team[who], "chat_id": chat_id, "agent_id": team.robin.id}
            draft = drafts.claim_draft(**args, content=SpecContent(prompt=f"{who} {number}"))
            calls.append(
                lambda args=args, draft=draft, base=number: drafts.save_draft(
                    **args, revision=draft.revision, base_version=base
                )
            )
        results = run_concurrently(calls)
        winner = next(result for result in results if isinstance(result, AgentSpec))
        loser = next(result for result in results if result is not winner)
        assert (loser.code, loser.data["production"]["content"]) == (Code.STALE_BASE, winner.content)
        team.robin.refresh_from_db()
        assert (team.robin.current_spec, winner.number) == (winner, number + 1)
        unsaved_draft = Draft.objects.get(ended_at=None)
        drafts.discard_draft(
            actor=team.alice, chat_id=unsaved_draft.chat_id, agent_id=team.robin.id, revision=unsaved_draft.revision
        )


def test_a_save_after_the_loss_of_the_right_changes_nothing(team):
    grant_save(team)
    draft = claim(team, "bob")
    AgentGrant.objects.all().delete()
    with pytest.raises(Forbidden):
        drafts.save_draft(**draft_args(team, "bob"), revision=draft.revision, base_version=1)
    assert AgentSpec.objects.filter(agent=team.robin).count() == 1
    assert Draft.objects.get().ended_at is None
