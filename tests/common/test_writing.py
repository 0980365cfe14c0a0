"""Rows written without a query set are stored as a query set stores them."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from psycopg import _queries

from chats.models import Message
from common.clock import now
from common.ids import new_id
from common.writing import RowUpdate, StaleRow, WriteBatch, insert, update
from runs.models import Run

pytestmark = pytest.mark.django_db


def build_run(team, **more):
    return Run(
        workspace=team.workspace,
        chat=team.chat,
        agent=team.robin,
        concurrency_key="here",
        payer=team.workspace,
        origin="test",
        path=[new_id()],
        limits={"max_steps": 3},
        **more,
    )


def build_message(team, seq):
    return Message(
        chat=team.chat,
        author=team.alice,
        seq=seq,
        version=seq,
        type="TEXT_MESSAGE",
        payload={"text": "好"},
        created_at=now(),
    )


def get_fields(row):
    return {name: value for name, value in vars(row).items() if not name.startswith("_")}


def test_an_inserted_row_is_read_back_unchanged(team):
    run = build_run(team)
    assert insert([run]) == 1
    assert not run._state.adding
    assert get_fields(Run.objects.get(pk=run.pk)) == get_fields(run)


def test_many_rows_are_inserted_in_one_statement(team):
    rows = [build_message(team, seq) for seq in (1001, 1002, 1003)]
    with CaptureQueriesContext(connection) as queries:
        assert insert(rows) == 3
    assert len(queries) == 1
    assert [row.payload for row in Message.objects.filter(seq__gt=1000)] == [{"text": "好"}] * 3


def test_an_existing_row_is_an_error_or_is_ignored(team):
    run = build_run(team)
    insert([run])
    rows = [build_run(team, id=run.id), build_run(team)]
    assert insert(rows, ignore_conflicts=True) == 1
    assert [row._state.adding for row in rows] == [True, False]
    with pytest.raises(IntegrityError), transaction.atomic():
        insert([build_run(team, id=run.id)])


def test_an_update_writes_only_the_named_fields(team):
    run = build_run(team)
    insert([run])
    run.state, run.stopped_by, run.stamp, run.error = "failed", team.alice, {"model": "m"}, "not written"
    assert update(run, ["state", "stopped_by", "stamp"], only_if={"state": "queued"})
    stored = Run.objects.get(pk=run.pk)
    assert (stored.state, stored.stopped_by, stored.stamp, stored.error) == ("failed", team.alice, {"model": "m"}, "")


def test_an_update_accepts_expressions_with_the_clock_of_the_database(team):
    run = build_run(team)
    insert([run])
    for minutes in (1, 5):
        run.lease_until = Now() + timedelta(minutes=minutes)
        assert update(run, ["lease_until"], only_if={})
        until = Run.objects.get(pk=run.pk).lease_until
        assert until is not None
        left = until - now()
        assert timedelta(minutes=minutes - 1) < left <= timedelta(minutes=minutes)


def test_an_update_whose_condition_is_false_changes_nothing(team):
    run = build_run(team)
    insert([run])
    run.state = "failed"
    assert not update(run, ["state"], only_if={"attempt": 7})
    assert Run.objects.get(pk=run.pk).state == "queued"


def build_batch(team, run, seq, **only_if):
    """Return a batch of a new run, two messages, and an update of `run`."""
    batch = WriteBatch()
    rows = [build_run(team), build_message(team, seq), build_message(team, seq + 1)]
    batch.insert(rows[:2])
    batch.insert(rows[2:])
    batch.update(RowUpdate(run, only_if=only_if).set(state="failed", lease_until=Now()))
    return batch, rows


def test_a_batch_writes_rows_of_several_models_in_one_statement(team):
    run = build_run(team)
    insert([run])
    batch, rows = build_batch(team, run, 1001, state="queued", attempt=0)
    with CaptureQueriesContext(connection) as queries:
        batch.execute()
    assert len(queries) == 1
    assert [row._state.adding for row in rows] == [False] * 3
    assert get_fields(Run.objects.get(pk=rows[0].pk)) == get_fields(rows[0])
    assert list(Message.objects.filter(seq__gt=1000).order_by("seq")) == rows[1:]
    stored = Run.objects.get(pk=run.pk)
    assert (stored.state, stored.lease_until is None) == ("failed", False)
    with CaptureQueriesContext(connection) as queries:
        batch.execute()
    assert len(queries) == 0


def test_a_batch_with_an_update_whose_condition_is_false_is_an_error(team):
    run = build_run(team)
    insert([run])
    batch, rows = build_batch(team, run, 1001, attempt=7)
    with pytest.raises(StaleRow), transaction.atomic():
        batch.execute()
    assert [row._state.adding for row in rows] == [True] * 3
    assert not Message.objects.filter(seq__gt=1000).exists()
    assert list(Run.objects.values_list("pk", "state")) == [(run.pk, "queued")]


def test_a_batch_leaves_out_a_row_that_conflicts_with_a_stored_one(team):
    stored, new = build_run(team), build_run(team)
    insert([stored])
    conflicting = build_run(team)
    conflicting.pk = stored.pk
    batch = WriteBatch()
    batch.insert([message := build_message(team, 1001)])
    batch.insert([conflicting, new], ignore_conflicts=True)
    with CaptureQueriesContext(connection) as queries:
        batch.execute()
    assert len(queries) == 1
    assert [row._state.adding for row in (message, conflicting, new)] == [False, True, False]
    assert set(Run.objects.values_list("pk", flat=True)) == {stored.pk, new.pk}


def test_a_row_that_is_updated_twice_in_a_batch_has_both_changes(team):
    run = build_run(team)
    insert([run])
    batch = WriteBatch()
    batch.update(RowUpdate(run).set(state="failed"))
    batch.update(RowUpdate(run, only_if={"state": "failed"}).set(error="broken"))
    batch.execute()
    stored = Run.objects.get(pk=run.pk)
    assert (stored.state, stored.error) == ("failed", "broken")


def test_a_statement_with_many_parameters_is_converted_once(team):
    """psycopg keeps the converted statements in a private cache, whose limit `common.writing` raises."""
    for seq in (1001, 1003):
        run = build_run(team)
        insert([run])
        batch, _ = build_batch(team, run, seq)
        hits = _queries._query2pg.cache_info().hits
        batch.execute()
    assert _queries._query2pg.cache_info().hits == hits + 1
