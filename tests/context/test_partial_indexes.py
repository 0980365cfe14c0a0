"""Rare messages of a long chat are found by partial indexes, also by a plan that PostgreSQL makes without the parameters."""

import re
from typing import Any

import pytest
from django.db import connection

from chats.services.text_sources import find_foreign_texts
from common.sql_constant import SqlConstant
from context.seeding import create_messages
from context.selectors import list_important_events
from tests.queries import record_statements

pytestmark = pytest.mark.django_db


def explain_without_parameters(sql: str) -> str:
    numbers = iter(range(1, 100))
    with connection.cursor() as cursor:
        cursor.execute(re.sub(r"%s", lambda _: f"${next(numbers)}", f"EXPLAIN (GENERIC_PLAN) {sql}"))
        return "\n".join(row[0] for row in cursor.fetchall())


@pytest.fixture
def explain(team):
    """Return the plans, without parameters, of the statements of a function that read messages."""
    create_messages(team.chat.id, 3000, seed=1)

    def explain_(function: Any) -> list[str]:
        with record_statements() as recorded:
            function()
        return [explain_without_parameters(sql) for sql, _ in recorded.statements if 'FROM "chats_message"' in sql]

    return explain_


def test_important_events_are_found_by_their_index(team, explain):
    [plan] = explain(lambda: list_important_events(team.chat.id, 3000))
    assert "important_messages" in plan


def test_results_of_tools_are_found_by_their_index(team, explain):
    [plan] = explain(
        lambda: find_foreign_texts(
            team.chat.id, agent_id=team.robin.id, workspace_id=team.workspace.id, person_id=team.alice.id
        )
    )
    assert "tool_responses_of_chat" in plan


def test_only_words_are_constants():
    with pytest.raises(ValueError, match="is no word"):
        SqlConstant("a' OR '1'='1")
