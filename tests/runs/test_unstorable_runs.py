"""Runs that PostgreSQL refuses to start or to store: their tries are limited, and they delay no other run."""

from contextlib import contextmanager
from typing import Any, cast

import pytest
from django.db import OperationalError, connection, transaction

from chats import services as chats
from runs.models import Run
from runs.services import claims
from runs.services.capacity import Capacity
from tests.runs.test_takeover import IdleEngine, claimed, expire
from usage.models import LLMCall
from worker import sweeper
from worker.isolation import IsolatedProcesses
from worker.sweeper import Sweeper

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def refused(table, when, *, event="INSERT", state="23000", at_commit=False, times=1_000_000):
    """Let PostgreSQL refuse such a row, so many times."""
    kind = "CONSTRAINT TRIGGER refuse AFTER" if at_commit else "TRIGGER refuse BEFORE"
    late = "DEFERRABLE INITIALLY DEFERRED" if at_commit else ""
    with connection.cursor() as cursor:
        cursor.execute(f"""
            CREATE SEQUENCE refusals;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF {when} AND nextval('refusals') <= {times} THEN
                    RAISE EXCEPTION 'not today' USING ERRCODE = '{state}';
                END IF;
                RETURN NEW;
            END $$;
            CREATE {kind} {event} ON {table} {late} FOR EACH ROW EXECUTE FUNCTION refuse()
        """)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION refuse CASCADE; DROP SEQUENCE refusals")


def other_chat(environment):
    team = environment.team
    with transaction.atomic():
        return chats.create_chat(team.alice, team.workspace.id, title="Other", actor_ids=[team.robin.id])


def is_over(run):
    run.refresh_from_db()
    return run.ended_at is not None


@pytest.mark.parametrize("at_commit", [False, True], ids=["at once", "at commit"])
def test_an_answer_that_can_never_be_stored_is_requested_a_limited_number_of_times(
    environment, request, monkeypatch, at_commit
):
    monkeypatch.setattr(sweeper, "MAX_FAILURES", 2)
    other = other_chat(environment)
    environment.post("hello")
    [run] = environment.runs()
    with refused("chats_message", f"NEW.chat_id = '{run.chat_id}'", at_commit=at_commit):
        request.getfixturevalue("engine")
        environment.wait(lambda: is_over(run), 30)
        environment.post("hello", chat=other)
        environment.wait(lambda: Run.objects.filter(chat=other, state="completed"))
    assert (run.state, run.error_code, run.lease_owner, run.crashes) == ("failed", "internal", "", 0)
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE"]
    assert len(environment.model.requests) == 2 + 1
    # The concurrency key is free again.
    environment.post("and now?")
    assert [one.state for one in environment.wait_until_idle()] == ["failed", "completed"]


@pytest.mark.parametrize("state", ["57014", "40P01", "55P03", "40001"])
def test_an_aborted_transaction_is_retried_without_a_request_to_the_model(environment, engine, state):
    with refused("runs_step", "true", state=state, times=2):
        environment.post("hello")
        [run] = environment.wait_until_idle()
    assert (run.state, run.attempt, len(environment.model.requests)) == ("completed", 1, 1)
    assert LLMCall.objects.count() == 1


def test_a_statement_that_always_takes_too_long_ends_the_run_at_its_first_attempt(environment, engine):
    with refused("runs_step", "true", state="57014"):
        environment.post("hello")
        [run] = environment.wait_until_idle()
    assert (run.state, run.error_code, run.attempt) == ("failed", "internal", 1)
    assert [row.type for row in environment.log()][-1] == "RUN_FAILED"
    assert len(environment.model.requests) == 1


@pytest.mark.parametrize("state", ["23000", "57014"])
def test_a_run_that_can_never_be_started_fails_visibly(environment, engine, monkeypatch, state):
    monkeypatch.setattr(sweeper, "MAX_FAILURES", 2)
    with refused("runs_run", "NEW.state = 'running'", event="UPDATE", state=state):
        environment.post("hello")
        [run] = environment.wait_until_idle(20)
    assert (run.state, run.error_code, run.attempt) == ("failed", "internal", 0)
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "RUN_FAILED"]
    assert environment.model.requests == []


def test_a_run_that_cannot_be_reclaimed_delays_no_other(environment):
    stuck = claimed(environment, owner="elsewhere:1:a")
    other = other_chat(environment)
    environment.post("hello", chat=other)
    free = claimed_of(other)
    expire(stuck)
    expire(free)
    one = Sweeper(cast("Any", IdleEngine()), IsolatedProcesses(1))
    with refused("runs_run", f"NEW.id = '{stuck.id}' AND NEW.state = 'queued'", event="UPDATE"):
        reclaimed = [one._reclaim_runs() for _ in range(sweeper.MAX_FAILURES)]
    assert reclaimed == [[free.id], *([] for _ in range(sweeper.MAX_FAILURES - 1))]
    stuck.refresh_from_db()
    assert (stuck.state, stuck.error_code, stuck.crashes) == ("failed", "internal", 0)
    assert [row.type for row in environment.log()] == ["TEXT_MESSAGE", "RUN_FAILED"]


def claimed_of(chat):
    claimed = claims.claim_run(Run.objects.get(chat=chat).pk, "elsewhere:1:a")
    assert claimed is not None
    return claimed.row


def test_a_claim_whose_commit_fails_releases_its_slot(environment):
    environment.post("hello")
    [run] = environment.runs()
    slots = Capacity()
    with (
        refused("runs_run", "NEW.state = 'running'", event="UPDATE", state="57P01", at_commit=True, times=1),
        pytest.raises(OperationalError),
    ):
        claims.claim_run(run.id, "here:1:a", slots=slots)
    claimed = claims.claim_run(run.id, "here:1:a", slots=slots)
    assert claimed is not None
    assert claimed.row.pk == run.id
