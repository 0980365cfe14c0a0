"""Who gets a draft when many want it, for how long, and what nobody may do with one (EDIT1, EDIT3)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from actors.models import Actor
from agents import hooks, selectors
from agents.models import AgentGrant, AgentSpec, Draft, Origin
from agents.services import drafts, specs
from agents.specs.content import SpecContent, ToolUse
from chats import services as chats
from chats.models import Message
from common.errors import AppError, Code, Conflict, Forbidden
from events.models import AuditRecord
from runs.kinds import get_kind
from runs.models import Run
from runs.services import claims
from tests.chaos import IS_CHAOS
from tests.concurrency import ConcurrentTransaction
from tests.factories.workspaces import grant_right
from tests.hooks import record_calls
from tests.people import make_agent, make_operator, make_person
from tools.interface import Tool, ToolArgs, ToolConfig
from tools.registry import registry
from workspaces import services as workspaces
from workspaces.models import Membership, Role

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 100 if IS_CHAOS else 5
NEW = SpecContent(prompt="Answer like a pirate.")


def where(team, who="alice", **more):
    return {"actor": team[who], "chat_id": team.chat.id, "agent_id": team.robin.id, **more}


def take(team, who="alice", content=NEW):
    return drafts.claim_draft(**where(team, who), content=content)


def run_out():
    Draft.objects.filter(lock_holder__isnull=False).update(lock_expires_at=timezone.now() - timedelta(seconds=1))


def may_save(team):
    """Bob is granted to save Robin."""
    grant_right(team.bob, "save_agent_actor", team.robin)


@pytest.fixture
def lost(monkeypatch):
    """Who is told that they lost a hold, and to whom."""
    return record_calls(monkeypatch, hooks.lock_lost)


def at_once(works):
    """What comes of things done at the same moment, each on a connection of its own."""
    start = Barrier(len(works))

    def one(work):
        start.wait()
        try:
            return work()
        except AppError as error:
            return error
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(one, works))


# --- who gets it --------------------------------------------------------------------------------------------------


def test_EDIT1_of_twenty_racers_one_gets_the_draft_in_every_round(team):
    racers = [make_person(f"Racer{n}") for n in range(20)]
    with transaction.atomic():
        for racer in racers:
            workspaces.join_workspace(racer, team.workspace.id, role="editor", invited_by=team.alice)
            chats.add_participant(team.alice, team.chat.id, racer.id)
    for number in range(ROUNDS):
        # Every other round begins without a draft; in the others it is there, and free or its hold is over.
        came = at_once([
            lambda racer=racer: drafts.claim_draft(actor=racer, chat_id=team.chat.id, agent_id=team.robin.id)
            for racer in racers
        ])  # fmt: skip
        won = [one for one in came if isinstance(one, Draft)]
        assert len(won) == 1
        assert {one.code for one in came if one is not won[0]} == {Code.DRAFT_LOCKED}
        draft = Draft.objects.get(ended_at=None)
        assert draft.lock_holder == won[0].lock_holder
        if number % 2:
            drafts.discard_draft(**where(team), revision=draft.revision)
        else:
            run_out()
    assert Message.objects.filter(type="DRAFT_STARTED").count() == (ROUNDS + 1) // 2


def test_two_tabs_of_one_person_at_once_lock_one_draft(team):
    with transaction.atomic():
        wren = make_agent(team.workspace, team.alice, "Wren")
        other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[wren.id])
    for _ in range(ROUNDS):
        came = at_once([
            lambda: drafts.claim_draft(**where(team)),
            lambda: drafts.claim_draft(actor=team.alice, chat_id=other.id, agent_id=wren.id),
        ])  # fmt: skip
        assert sorted(type(one).__name__ for one in came) == ["Conflict", "Draft"]
        assert (
            Draft.objects.filter(lock_holder=team.alice, lock_expires_at__gt=timezone.now(), ended_at=None).count() == 1
        )
        run_out()


@pytest.mark.parametrize(("minutes", "seconds", "is_free"), [(29, 59, False), (30, 1, True)])
def test_EDIT3_trying_and_reading_do_not_renew_a_lock(team, minutes, seconds, is_free):
    start = timezone.now()
    with time_machine.travel(start, tick=False):
        draft = take(team)
    with time_machine.travel(start + timedelta(minutes=20), tick=False):
        drafts.apply_draft(**where(team), revision=draft.revision)
        assert selectors.get_draft(**where(team)).lock_expires_at == start + timedelta(minutes=30)
    with time_machine.travel(start + timedelta(minutes=minutes, seconds=seconds), tick=False):
        if is_free:
            assert take(team, "bob", None).lock_holder == team.bob
        else:
            with pytest.raises(Conflict):
                take(team, "bob", None)


def test_EDIT3_who_types_in_the_last_moment_keeps_the_draft(team):
    """The taker has found the hold over, and waits for the row; meanwhile the holder has renewed it."""
    draft = take(team)
    with transaction.atomic():
        drafts.write_draft(**where(team), content=SpecContent(prompt="Still here"), revision=draft.revision)
        Draft.objects.update(lock_expires_at=timezone.now() + timedelta(minutes=30))
        taker = ConcurrentTransaction(lambda: take(team, "bob", None))
    with pytest.raises(Conflict) as refusal:
        taker.result()
    assert refusal.value.code == Code.DRAFT_LOCKED


def test_EDIT3_an_operator_frees_a_lock_and_it_is_logged_and_told(team, lost):
    draft = take(team, "bob")
    operator = make_operator("Olga")
    drafts.release_draft(operator, draft.chat_id, draft.agent_id)
    draft.refresh_from_db()
    assert (draft.lock_holder, draft.written["prompt"]) == (None, NEW.prompt)
    assert [facts[1:] for facts in lost] == [(team.bob, operator)]
    line = Message.objects.get(type="LOCK_RELEASED")
    assert line.payload["actor_name"] == "Olga"
    assert AuditRecord.objects.filter(action="draft.freed", object_id=draft.id, actor_id=operator.id).exists()


def test_who_loses_a_lock_is_told_and_who_gives_it_up_is_not(team, lost):
    draft = take(team, "bob")
    run_out()
    take(team, "bob")
    assert [facts[1:] for facts in lost] == []
    run_out()
    taken = take(team, "alice")
    assert [facts[1:] for facts in lost] == [(team.bob, team.alice)]
    drafts.release_draft(**where(team), revision=taken.revision)
    bobs = take(team, "bob")
    assert [facts[1:] for facts in lost] == [(team.bob, team.alice)]
    drafts.discard_draft(**where(team), revision=bobs.revision)
    assert [facts[1:] for facts in lost] == [(team.bob, team.alice)] * 2
    assert Draft.objects.get(pk=draft.pk).outcome == "discarded"


def test_an_agent_that_leaves_takes_its_draft_along_and_it_is_told_who_did_it(team, monkeypatch):
    ended = record_calls(monkeypatch, hooks.draft_ended)
    draft = take(team, "bob")
    with transaction.atomic():
        chats.remove_participant(team.alice, team.chat.id, team.robin.id)
    draft.refresh_from_db()
    assert (draft.outcome, draft.lock_holder) == ("discarded", None)
    assert ended == [(draft, team.alice, None)]


def test_the_first_word_of_a_new_writer_does_not_hide_the_draft_from_who_waits_for_it(team):
    """Whoever waits for the row finds it, though it was last written by somebody else when they began to wait."""
    take(team, "alice")
    run_out()
    taken = take(team, "bob", None)
    with transaction.atomic():
        drafts.write_draft(**where(team, "bob"), content=SpecContent(prompt="Mine"), revision=taken.revision)
        discarding = ConcurrentTransaction(lambda: drafts.discard_draft(**where(team), revision=taken.revision + 1))
    assert discarding.result().outcome == "discarded"


# --- what a suggester's draft may do -----------------------------------------------------------------------


class Pays(Tool):
    """Pays."""

    name = "pays"
    effect = "write"

    class Args(ToolArgs):
        pass

    class Config(ToolConfig):
        most: int = 10

    def run(self, ctx, args):
        return "Paid."


@pytest.fixture
def pays(monkeypatch):
    monkeypatch.setitem(registry, "pays", Pays())


def in_production(team, *tools, number=2):
    with transaction.atomic():
        spec = specs.write_spec(team.robin, SpecContent(prompt="Answer.", tools=tools), author=team.alice,
                                origin=Origin.DRAFT, number=number)  # fmt: skip
        Actor.objects.filter(pk=team.robin.pk).update(current_spec=spec)


def applies(team, who, *tools):
    draft = take(team, who, SpecContent(prompt="Pay.", tools=tools))
    try:
        return drafts.apply_draft(**where(team, who), revision=draft.revision)
    finally:
        drafts.discard_draft(**where(team, "alice"), revision=draft.revision)


@pytest.mark.parametrize(
    ("has", "wants"),
    [
        ([], {}),
        ([{"is_enabled": False}], {}),
        ([{}], {"custom_config": {"most": 11}}),
        ([{"custom_config": {"most": 5}}], {}),
    ],
)
def test_a_suggester_gives_an_agent_no_writing_tool_and_widens_none(team, pays, has, wants):
    in_production(team, *(ToolUse(tool="pays", **use) for use in has))
    with pytest.raises(Forbidden):
        applies(team, "bob", ToolUse(tool="pays", **wants))
    assert not AgentSpec.objects.filter(origin="applied").exists()
    assert applies(team, "alice", ToolUse(tool="pays", **wants)).apply_count == 1


@pytest.mark.parametrize(
    "wants",
    [
        {"custom_config": {"most": 10}},
        {"usage_instructions": "Only on Mondays."},
        {"is_enabled": False, "custom_config": {"most": 99}},
    ],
)
def test_a_suggester_keeps_a_writing_tool_as_it_is_and_may_switch_it_off(team, pays, wants):
    in_production(team, ToolUse(tool="pays"))
    assert applies(team, "bob", ToolUse(tool="pays", **wants), ToolUse(tool="web_fetch")).apply_count == 1


def test_who_was_granted_to_save_the_agent_may_give_it_a_writing_tool(team, pays):
    may_save(team)
    assert applies(team, "bob", ToolUse(tool="pays")).apply_count == 1
    draft = take(team, "bob")
    assert drafts.save_draft(**where(team, "bob"), revision=draft.revision, base_version=1).number == 2


def answers_with(team):
    """The tools that a run of the applied text gets in Robin's chat now."""
    chats.post_message(team.alice, team.chat.id, text="@robin hello")
    Run.objects.exclude(state="queued").delete()
    run = claims.claim_run(Run.objects.get().pk, "there:1:a")
    assert run is not None
    tools = list(get_kind(run).prepare(run).tools)
    Run.objects.all().delete()
    return tools


def test_an_applied_text_loses_the_writing_tool_that_production_has_lost(team, pays):
    in_production(team, ToolUse(tool="pays"), ToolUse(tool="current_time"))
    draft = take(team, "bob", SpecContent(prompt="Pay.", tools=(ToolUse(tool="pays"), ToolUse(tool="current_time"))))
    drafts.apply_draft(**where(team, "bob"), revision=draft.revision)
    assert answers_with(team) == ["pays", "current_time"]
    in_production(team, ToolUse(tool="pays", custom_config={"most": 5}), number=3)
    assert answers_with(team) == ["current_time"]
    in_production(team, number=4)
    assert answers_with(team) == ["current_time"]


def test_what_an_editor_gave_an_applied_text_goes_with_the_right_to_save(team, pays):
    draft = take(team, "alice", SpecContent(prompt="Pay.", tools=(ToolUse(tool="pays"),)))
    drafts.apply_draft(**where(team, "alice"), revision=draft.revision)
    assert answers_with(team) == ["pays"]
    Membership.objects.filter(actor=team.alice).update(role=Role.SUGGESTER)
    assert answers_with(team) == []


# --- saving ------------------------------------------------------------------------------------------------


def test_of_two_saves_in_two_chats_one_wins_and_the_other_sees_todays_production(team):
    with transaction.atomic():
        other = chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.bob.id, team.robin.id])
    may_save(team)
    rooms = {"alice": team.chat.id, "bob": other.id}
    for number in range(1, ROUNDS + 1):
        works = []
        for who, room in rooms.items():
            at = {"actor": team[who], "chat_id": room, "agent_id": team.robin.id}
            draft = drafts.claim_draft(**at, content=SpecContent(prompt=f"{who} {number}"))
            works.append(
                lambda at=at, draft=draft, base=number: drafts.save_draft(
                    **at, revision=draft.revision, base_version=base
                )
            )
        came = at_once(works)
        won = next(one for one in came if isinstance(one, AgentSpec))
        lost = next(one for one in came if one is not won)
        assert (lost.code, lost.data["production"]["prompt"]) == (Code.STALE_BASE, won.prompt)
        team.robin.refresh_from_db()
        assert (team.robin.current_spec, won.number) == (won, number + 1)
        left = Draft.objects.get(ended_at=None)
        drafts.discard_draft(actor=team.alice, chat_id=left.chat_id, agent_id=team.robin.id, revision=left.revision)


def test_a_save_by_who_may_not_any_more_changes_nothing(team):
    may_save(team)
    draft = take(team, "bob")
    AgentGrant.objects.all().delete()
    with pytest.raises(Forbidden):
        drafts.save_draft(**where(team, "bob"), revision=draft.revision, base_version=1)
    assert AgentSpec.objects.filter(agent=team.robin).count() == 1
    assert Draft.objects.get().ended_at is None
