"""Budgets that change while they are used: limits, time zones, people and agents, the end of a period, and what is shown before."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from actors.models import Actor
from agents.services import agents
from common.errors import Conflict, Invalid
from events.payloads import BudgetPeriod, BudgetScope
from llm.messages import Answer, Usage
from notifications.models import Notification
from tests.factories.agents import change_spec
from tests.factories.usage import BudgetFactory, ModelPriceFactory
from tests.publishing.publications import add_to_chat, publish
from tests.usage.test_budgets import ENDPOINT, ONE, REQUEST, ask, build_usage_owner, read_balances, resolve
from usage import services as usage
from usage.errors import BudgetUsedUp
from usage.models import Balance, Budget, LLMCall, Reservation
from usage.selectors import list_budgets
from waking.services.wake import preview_wakes
from workspaces import services as workspaces
from workspaces.models import Workspace


@pytest.fixture
def set_clock(monkeypatch):
    """Return a function that sets the time of budgets, in May 2030."""

    def set_time(day, hour, minute=0, second=0):
        at = datetime(2030, 5, day, hour, minute, second, tzinfo=UTC)
        for module in ("services.reservations", "services.budgets", "selectors"):
            monkeypatch.setattr(f"usage.{module}.now", lambda: at)

    return set_time


def spend(team, day, hour, cost, **fields):
    """Make a call that costs so much at this time of May 2030."""
    ask(team, cost=cost, **fields)
    last = LLMCall.objects.order_by("-pk").values("pk")[:1]
    LLMCall.objects.filter(pk__in=last).update(created_at=datetime(2030, 5, day, hour, tzinfo=UTC))


def move(team, time_zone):
    """Change the time zone, a day after its last change."""
    Workspace.objects.update(time_zone_changed_at=None)
    team.workspace.refresh_from_db()
    team.workspace = workspaces.rename_workspace(
        team.alice,
        team.workspace.id,
        name=team.workspace.name,
        time_zone=time_zone,
        revision=team.workspace.revision,
    )


# --- limits -------------------------------------------------------------------------------------------------------


def test_a_budget_that_is_lowered_below_what_is_spent_stops_the_next_call_and_one_that_is_raised_lets_it_pass(team):
    budget = BudgetFactory.create(workspace=team.workspace, limit_micro=10 * ONE)
    under_way = ask(team)
    ask(team, cost=5 * ONE)
    usage.change_budget(team.alice, budget.id, limit_micro=3 * ONE, revision=1)
    with pytest.raises(BudgetUsedUp) as error:
        ask(team)
    assert (error.value.refusal.limit_micro, error.value.refusal.spent_micro) == (3 * ONE, 5 * ONE)
    assert read_balances() == [("workspace", 5 * ONE, ONE)]
    with transaction.atomic():  # the call that was under way is settled
        usage.record_call(under_way, resolve(team, under_way), Answer("x", "", (), Usage(1, 1, 7), "stop", "m"))
    assert read_balances() == [("workspace", 5 * ONE + 7, 0)]
    usage.change_budget(team.alice, budget.id, limit_micro=7 * ONE, revision=2)
    ask(team)


def test_the_editors_are_warned_again_after_a_budget_was_raised(team):
    budget = BudgetFactory.create(workspace=team.workspace, limit_micro=10 * ONE)
    for _ in range(2):
        ask(team, cost=4 * ONE)
    assert Notification.objects.filter(type="budget_warning", person=team.alice).count() == 1
    usage.change_budget(team.alice, budget.id, limit_micro=20 * ONE, revision=1)
    for count in (1, 2, 2):
        ask(team, cost=4 * ONE)
        assert Notification.objects.filter(type="budget_warning", person=team.alice).count() == count
    assert not Notification.objects.filter(type="budget_warning").exclude(person=team.alice).exists()


def test_the_editors_are_not_warned_again_if_a_raised_budget_is_nearly_used_up_as_well(team):
    budget = BudgetFactory.create(workspace=team.workspace, limit_micro=10 * ONE)
    for _ in range(2):
        ask(team, cost=4 * ONE + ONE // 2)
    usage.change_budget(team.alice, budget.id, limit_micro=11 * ONE, revision=1)
    ask(team, cost=1)
    assert Notification.objects.filter(type="budget_warning").count() == 1


# --- periods ------------------------------------------------------------------------------------------------------


def test_a_call_that_crosses_midnight_is_settled_in_the_day_in_which_it_was_reserved(team, set_clock):
    BudgetFactory.create(workspace=team.workspace, limit_micro=ONE)
    set_clock(5, 23, 59, 59)
    owner = ask(team)
    set_clock(6, 0, 0, 1)
    with transaction.atomic():
        usage.record_call(owner, resolve(team, owner), Answer("x", "", (), Usage(1, 1, 77), "stop", "m"))
    ask(team)
    balances = Balance.objects.order_by("starts_on").values_list("starts_on", "spent_micro", "reserved_micro")
    assert [(str(day), *amounts) for day, *amounts in balances] == [("2030-05-05", 77, 0), ("2030-05-06", 0, ONE)]


@pytest.mark.parametrize("time_zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_another_time_zone_begins_other_periods_with_what_was_spent_in_them(team, set_clock, time_zone):
    """The day of the other zone has begun at 10:00 or at 11:00 UTC."""
    move(team, "UTC")
    BudgetFactory.create(workspace=team.workspace, limit_micro=5 * ONE)
    Budget.objects.update(created_at=datetime(2030, 5, 1, tzinfo=UTC))
    set_clock(5, 12)
    spend(team, 5, 9, 2 * ONE)
    spend(team, 5, 12, ONE)
    move(team, time_zone)
    spend(team, 5, 12, ONE)
    [row] = list_budgets(team.alice, team.workspace.id)
    assert row.spent_micro == 2 * ONE
    set_clock(5, 12, 1)
    # Changing the zone back does not return to the balance of before, which does not have the last call.
    move(team, "UTC")
    ask(team)
    [row] = list_budgets(team.alice, team.workspace.id)
    assert (row.spent_micro, row.reserved_micro, row.ends_at) == (4 * ONE, ONE, datetime(2030, 5, 6, tzinfo=UTC))
    with pytest.raises(BudgetUsedUp) as error:
        ask(team)
    assert error.value.refusal.ends_at == datetime(2030, 5, 6, tzinfo=UTC)


def test_the_time_zone_can_be_changed_once_a_day(team, monkeypatch):
    at = datetime(2030, 5, 5, 12, tzinfo=UTC)
    monkeypatch.setattr("workspaces.services.now", lambda: at)

    def rename(**fields):
        team.workspace.refresh_from_db()
        return workspaces.rename_workspace(team.alice, team.workspace.id, revision=team.workspace.revision, **fields)

    rename(name="Tours", time_zone="Asia/Tokyo")
    at += timedelta(hours=23, minutes=59)
    with pytest.raises(Conflict) as error:
        rename(name="Trips", time_zone="Asia/Taipei")
    assert (error.value.code, error.value.hints) == ("time_zone_changed", ["Change it after 2030-05-06T12:00+00:00."])
    team.workspace.refresh_from_db()
    assert (team.workspace.name, team.workspace.time_zone) == ("Tours", "Asia/Tokyo")
    rename(name="Trips", time_zone="Asia/Tokyo")
    at += timedelta(minutes=1)
    assert rename(name="Trips", time_zone="Asia/Taipei").time_zone == "Asia/Taipei"


@pytest.mark.parametrize("period", ["day", "month"])
def test_what_is_reserved_counts_in_the_period_of_another_time_zone(team, set_clock, period):
    move(team, "UTC")
    BudgetFactory.create(workspace=team.workspace, period=period, limit_micro=3 * ONE)
    set_clock(5, 12)
    early = build_usage_owner(team)
    claimed_early = resolve(team, early)
    under_way = ask(team)
    ask(team)
    move(team, "Pacific/Auckland")
    [row] = list_budgets(team.alice, team.workspace.id)
    assert (row.spent_micro, row.reserved_micro) == (0, 2 * ONE)
    ask(team)
    with pytest.raises(BudgetUsedUp):
        ask(team)
    with transaction.atomic():
        usage.record_call(under_way, resolve(team, under_way), Answer("x", "", (), Usage(1, 1, 7), "stop", "m"))
    [row] = list_budgets(team.alice, team.workspace.id)
    assert (row.spent_micro, row.reserved_micro) == (7, 2 * ONE)
    # A run that was claimed before has a balance of the earlier zone, which no change of the zone confuses with the present one.
    usage.reserve(claimed_early, REQUEST, holder_id=early.run_id, attempt=1)
    for time_zone in ("UTC", "Asia/Tokyo"):
        move(team, time_zone)
        [row] = list_budgets(team.alice, team.workspace.id)
        assert (
            row.reserved_micro,
            Balance.objects.filter(ends_at__gt=datetime(2030, 5, 5, 12, tzinfo=UTC)).count(),
        ) == (
            2 * ONE,
            1,
        )


def test_the_time_zone_of_the_workspace_does_not_begin_another_period_of_a_budget_of_the_operator(team, set_clock):
    """It is midnight in the other zone when the zone is changed."""
    move(team, "UTC")
    BudgetFactory.create(workspace=team.workspace, by_operator=True, limit_micro=5 * ONE)
    BudgetFactory.create(workspace=team.workspace, by_operator=True, period="month", limit_micro=20 * ONE)
    set_clock(5, 12)
    by_operator = replace(ENDPOINT, paid_by="system")

    def call(cost=0):
        owner = build_usage_owner(team)
        model = resolve(team, owner, by_operator)
        usage.reserve(model, REQUEST, holder_id=owner.run_id, attempt=1)
        if cost:
            with transaction.atomic():
                usage.record_call(owner, model, Answer("x", "", (), Usage(1, 1, cost), "stop", "m"))

    call(3 * ONE)
    call()
    move(team, "Pacific/Auckland")
    rows = list_budgets(team.alice, team.workspace.id)
    assert [(row.spent_micro, row.reserved_micro) for row in rows] == [(3 * ONE, ONE)] * 2
    ends = [datetime(2030, 5, 6, tzinfo=UTC), datetime(2030, 6, 1, tzinfo=UTC)]
    assert [row.ends_at for row in rows] == ends
    call()
    with pytest.raises(BudgetUsedUp) as error:
        call()
    assert (error.value.refusal.ends_at, error.value.refusal.time_zone) == (ends[0], "UTC")
    assert sorted(Balance.objects.values_list("ends_at", "reserved_micro")) == [(end, 2 * ONE) for end in ends]
    set_clock(6, 0)
    call()


# --- people and agents --------------------------------------------------------------------------------------------


def test_a_person_who_leaves_during_a_call_leaves_no_reservation_and_is_not_notified(team):
    budget = BudgetFactory.create(workspace=team.workspace, scope="person", subject=team.bob, limit_micro=ONE)
    owner = replace(build_usage_owner(team), on_behalf_of_id=team.bob.id)
    model = resolve(team, owner)
    usage.reserve(model, REQUEST, holder_id=owner.run_id, attempt=1)
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)
    with transaction.atomic():
        usage.record_call(owner, model, Answer("x", "", (), Usage(1, 1, ONE), "stop", "m"))
    assert (read_balances(), Reservation.objects.count()) == ([("person", ONE, 0)], 0)
    assert [row.person for row in Notification.objects.filter(type="budget_warning")] == [team.alice]
    [row] = list_budgets(team.alice, team.workspace.id)
    assert (row.id, row.subject_name, row.spent_micro) == (budget.id, "Bob", ONE)


def test_the_budget_of_a_deleted_agent_is_settled_and_no_new_one_can_be_set(team):
    BudgetFactory.create(workspace=team.workspace, scope="agent", subject=team.robin, limit_micro=2 * ONE)
    owner = ask(team)
    agents.delete_agent(team.alice, team.robin.id)
    with transaction.atomic():
        usage.record_call(owner, resolve(team, owner), Answer("x", "", (), Usage(1, 1, 5), "stop", "m"))
    assert (read_balances(), Reservation.objects.count()) == ([("agent", 5, 0)], 0)
    assert LLMCall.objects.get().agent == team.robin
    Budget.objects.all().delete()
    fields = {"scope": BudgetScope.AGENT, "period": BudgetPeriod.DAY, "limit_micro": 1, "subject_id": team.robin.id}
    with pytest.raises(Invalid, match="needs a member"):
        usage.create_budget(team.alice, team.workspace.id, **fields)
    assert not Budget.objects.exists()


def test_a_budget_that_is_deleted_during_a_call_does_not_prevent_its_entry(team):
    budget = BudgetFactory.create(workspace=team.workspace, scope="person", subject=team.bob, limit_micro=ONE)
    owner = replace(build_usage_owner(team), on_behalf_of_id=team.bob.id)
    model = resolve(team, owner)
    usage.reserve(model, REQUEST, holder_id=owner.run_id, attempt=1)
    usage.delete_budget(team.alice, budget.id)
    with transaction.atomic():
        usage.record_call(owner, model, Answer("x", "", (), Usage(1, 1, 5), "stop", "m"))
    assert LLMCall.objects.get().cost_micro == 5
    assert not Reservation.objects.exists()
    usage.reserve(model, REQUEST, holder_id=owner.run_id, attempt=1)  # its claim has read the deleted budget
    assert not Balance.objects.exists()


# --- what a person sees before sending ------------------------------------------------------------------------------


@pytest.fixture
def priced(environment):
    """The team, whose model costs a dollar a million tokens of the question, and two of the answer."""
    ModelPriceFactory.create(workspace=environment.team.workspace)
    spec = environment.team.robin.current_spec
    change_spec(spec, parameters={"max_tokens": 100})
    return environment


NEEDED = 2 * 100


def preview(environment, by=None):
    [effect] = preview_wakes(by or environment.team.alice, environment.team.chat.id, text="@robin hello")
    return effect.effect, effect.reason


@pytest.mark.parametrize("scope", ["workspace", "person", "agent"])
@pytest.mark.parametrize("by_operator", [False, True])
def test_the_preview_says_that_a_budget_is_used_up(priced, scope, by_operator):
    team = priced.team
    budget = BudgetFactory.create(
        workspace=team.workspace, scope=scope, period="month", by_operator=by_operator, limit_micro=1_000
    )
    assert preview(priced) == ("wakes", None)
    subject = {"workspace": team.workspace, "person": team.alice, "agent": team.robin}[scope]
    ask(team)
    if not by_operator:
        balance = Balance.objects.get(budget=budget, subject_id=subject.id)
        for spent, reason in ((1_000 - NEEDED, None), (1_001 - NEEDED, "budget_used_up"), (5_000, "budget_used_up")):
            Balance.objects.filter(pk=balance.pk).update(spent_micro=spent, reserved_micro=0)
            assert preview(priced) == ("wakes", reason)
            assert preview(priced, team.bob) == ("wakes", None if scope == "person" else reason)
    else:  # it counts what the key of the operator pays
        assert not Balance.objects.exists()
    Budget.objects.update(limit_micro=0)
    assert preview(priced) == ("wakes", None if by_operator else "budget_used_up")


def test_the_preview_considers_the_budget_of_the_operator_if_the_key_of_the_operator_pays(team, settings):
    settings.SYSTEM_MODEL = settings.SYSTEM_MODEL | {"provider": "openai", "models": ("gpt-4o",), "api_base": ""}
    BudgetFactory.create(workspace=team.workspace, by_operator=True, limit_micro=0)
    [effect] = preview_wakes(team.alice, team.chat.id, text="@robin hello")
    assert effect.reason == "budget_used_up"


def test_the_preview_of_a_public_agent_is_by_the_model_that_answers_instead_of_one_that_is_not_there(team, settings):
    settings.SYSTEM_MODEL = settings.SYSTEM_MODEL | {"provider": "openai", "models": ("gpt-4o",), "api_base": ""}
    copy = publish(team)
    chat = add_to_chat(team, copy)
    change_spec(copy.current_spec, model="only-of-the-publisher")
    BudgetFactory.create(workspace=team.elsewhere, by_operator=True, limit_micro=0)
    [effect] = preview_wakes(team.charlie, chat.id, text="@interpreter hello")
    assert (effect.effect, effect.reason) == ("wakes", "budget_used_up")


def test_the_preview_does_not_say_so_if_the_model_costs_nothing_or_the_agent_is_running(priced):
    BudgetFactory.create(workspace=priced.team.workspace, limit_micro=0)
    priced.post("@robin hello")
    assert preview(priced) == ("joins", None)
    priced.runs()[0].delete()
    usage.set_price(
        priced.team.alice,
        priced.team.workspace.id,
        provider="openai_compatible",
        model="",
        input_micro=0,
        output_micro=0,
    )
    assert preview(priced) == ("wakes", None)


def test_the_preview_of_many_agents_with_a_budget_reads_them_together(priced, django_assert_max_num_queries):
    BudgetFactory.create(workspace=priced.team.workspace, limit_micro=0)
    names = [f"agent{number}" for number in range(6)]
    for name in names:
        priced.add_agent(name.title(), handle=name)
    with django_assert_max_num_queries(13):
        effects = preview_wakes(priced.team.alice, priced.team.chat.id, text=" ".join(f"@{name}" for name in names))
    assert [effect.reason for effect in effects] == ["budget_used_up"] * len(names)
    assert Actor.objects.filter(pk__in=[effect.agent_id for effect in effects]).count() == len(names)
