"""Rare rows are found by partial indexes, also by a plan that PostgreSQL makes without the parameters."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.db import connection, transaction

from agents.selectors import build_listed_agent_rows, list_agents
from chats.models import Chat
from chats.selectors import search_messages
from chats.services.text_sources import classify_texts_of_others
from common.clock import now
from common.sql_constant import SqlConstant
from context.seeding import create_messages
from context.selectors import list_important_events
from events.rows import DeliveryState
from realtime.catchup import catch_up
from runs.models import Run
from runs.services import agent_states, claims, leases, waiting
from tests.factories.runs import RunFactory
from tests.factories.webhooks import make_delivery, make_webhook
from tests.people import Team
from tests.queries import record_statements
from webhooks.models import Delivery, Webhook
from webhooks.services import deliveries

pytestmark = pytest.mark.django_db


@dataclass(frozen=True)
class Query:
    """A call whose statements on a table use a partial index, without those indexes that would do as well."""

    call: Callable[[Team], object]
    table: str
    index: str
    without: str = ""


QUERIES = {
    "search_messages": Query(
        lambda team: list(search_messages(Chat.objects.all(), "boat").order_by("-created_at", "-pk")[:1]),
        table="chats_message",
        index="spoken_by_time",
        without="messages_by_words",
    ),
    "list_important_events": Query(
        lambda team: list_important_events(team.chat.id, 3000), table="chats_message", index="important_messages"
    ),
    "classify_texts_of_others": Query(
        lambda team: classify_texts_of_others(
            team.chat.id, agent_id=team.robin.id, workspace_id=team.workspace.id, person_id=team.alice.id
        ),
        table="chats_message",
        index="tool_responses_of_chat",
    ),
    "list_due_webhooks": Query(
        lambda team: deliveries._list_due_webhooks([]), table="webhooks_delivery", index="waiting_deliveries"
    ),
    "claim_next_delivery": Query(
        lambda team: deliveries._claim_next(Webhook.objects.get().pk),
        table="webhooks_delivery",
        index="waiting_deliveries",
        without="deliveries_of_webhook",
    ),
    "list_waiting": Query(lambda team: claims.list_waiting(200), table="runs_run", index="runs_alive"),
    "reserve_isolated_runs": Query(lambda team: claims.reserve_isolated_runs(5), table="runs_run", index="runs_alive"),
    "list_expired_runs": Query(lambda team: leases.list_expired_runs(), table="runs_run", index="runs_alive"),
    "list_orphaned_runs": Query(
        lambda team: leases.list_orphaned_runs("here:1:a", []), table="runs_run", index="runs_alive"
    ),
    "list_runs_of_host": Query(lambda team: leases.list_runs_of_host("here"), table="runs_run", index="runs_alive"),
    "queue_callers_of_ended_sub_agents": Query(
        lambda team: waiting.queue_callers_of_ended_sub_agents(), table="runs_run", index="runs_alive"
    ),
    "find_agent_states": Query(
        lambda team: agent_states.find_agent_states([(team.workspace.id, team.robin.id)]),
        table="runs_run",
        index="runs_alive",
    ),
    "build_listed_agent_rows": Query(
        lambda team: list(build_listed_agent_rows(list(list_agents(team.alice, team.workspace.id)))),
        table="runs_run",
        index="runs_alive",
    ),
    "catch_up": Query(lambda team: catch_up(team.chat.id, None), table="runs_run", index="runs_alive"),
}

FOR_UNIQUENESS = {
    "agent_handle_unique_in_workspace",
    "one_active_run_per_concurrency_key",
    "one_open_report_per_person_and_agent",
    "one_queued_run_per_key_and_chat",
    "one_run_per_key_of_task",
    "one_run_per_concurrency_key_and_trigger",
    "one_summary_written_per_chat",
}
"""Indexes that no query needs."""


@pytest.fixture
def team(team):
    """A team with a long chat, many runs that have ended and one that is queued, and many deliveries of which one is waiting."""
    create_messages(team.chat.id, 3000, seed=1)
    run = {"chat": team.chat, "workspace": team.workspace, "agent": team.robin, "on_behalf_of": team.alice}
    Run.objects.bulk_create([RunFactory.build(**run), *RunFactory.build_batch(3000, ended=True, **run)], batch_size=500)
    make_delivery(webhook := make_webhook(team.robin))
    done = {
        "webhook": webhook,
        "event": "agent.woken",
        "body": "{}",
        "ended_at": now(),
        "state": DeliveryState.DELIVERED,
    }
    Delivery.objects.bulk_create(Delivery(**done) for _ in range(3000))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE runs_run, webhooks_delivery, webhooks_webhook")
    return team


def explain_generic_plan(sql: str) -> str:
    """Return the plan that PostgreSQL makes without the parameters of a statement that was executed as a prepared one."""
    numbers = iter(range(1, 100))
    statement = re.sub(r"%s", lambda _: f"${next(numbers)}", sql).replace("%%", "%")
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, cardinality(parameter_types) FROM pg_prepared_statements WHERE statement = %s", [statement]
        )
        [(name, count)] = cursor.fetchall()
        cursor.execute(f"EXPLAIN EXECUTE {name}({', '.join(['NULL'] * count)})" if count else f"EXPLAIN EXECUTE {name}")
        return "\n".join(row[0] for row in cursor.fetchall())


def test_rare_rows_are_found_by_their_partial_index(team, monkeypatch):
    plans = {}
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    monkeypatch.setattr(connection.connection, "prepare_threshold", 0)
    for name, query in QUERIES.items():
        with transaction.atomic(), connection.cursor() as cursor:
            if query.without:
                cursor.execute(f"DROP INDEX {query.without}")
            with record_statements() as recorded:
                query.call(team)
            [statement, *_] = [sql for sql, _ in recorded.statements if f'"{query.table}"' in sql]
            plans[name] = explain_generic_plan(statement)
            transaction.set_rollback(True)
    monkeypatch.undo()
    assert {name: plan for name, plan in plans.items() if QUERIES[name].index not in plan} == {}


def test_each_partial_index_whose_condition_has_a_value_is_listed():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::regclass::text FROM pg_index WHERE pg_get_expr(indpred, indrelid) LIKE '%''%'"
        )
        found = {name for (name,) in cursor.fetchall()}
    assert found == FOR_UNIQUENESS | {query.index for query in QUERIES.values()}


def test_only_words_are_constants():
    with pytest.raises(ValueError, match="is no word"):
        SqlConstant("a' OR '1'='1")
