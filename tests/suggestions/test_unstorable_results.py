"""Results that can be written and not committed: the number of attempts is limited."""

import json
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from agents.models import Draft, LockWaiter
from agents.services import drafts
from common.clock import now
from common.errors import Code
from notifications.models import Notification
from runs.models import Run
from runs.services.leases import requeue_run
from suggestions.services import listeners
from tests.jobs import answer_job, claim_job, fail_job
from tests.people import make_team
from tests.suggestions.environment import BRIEFER, KINDER, SuggestionEnvironment, build_answer, reload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def environment(transactional_db):
    with transaction.atomic():
        return SuggestionEnvironment(make_team())


@contextmanager
def refuse_at_commit(table):
    """Let every transaction that inserts a row into the table fail at its commit. The statement itself succeeds."""
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " RAISE EXCEPTION 'not today' USING ERRCODE = 'integrity_constraint_violation'; END $$"
        )
        cursor.execute(
            f"CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED"
            " FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TRIGGER refuse ON {table}")
            cursor.execute("DROP FUNCTION refuse()")


def test_a_merge_whose_draft_cannot_be_committed_fails_after_a_number_of_attempts(environment):
    with transaction.atomic():
        merge = environment.merge(environment.suggest(KINDER, "bob"), environment.suggest(BRIEFER, "carol"))
    attempts = 0
    with refuse_at_commit("agents_draft"):
        while reload(merge).state not in ("failed", "done"):
            attempts += 1
            assert attempts <= 2 * listeners.MAX_ATTEMPTS, "the attempts are not limited"
            run = claim_job(Run.objects.get(pk=merge.run_id))
            with pytest.raises(IntegrityError) if attempts <= listeners.MAX_ATTEMPTS else transaction.atomic():
                answer_job(run, json.dumps(build_answer())) if attempts % 2 else fail_job(run)
            if attempts <= listeners.MAX_ATTEMPTS:
                requeue_run(Run.objects.get(pk=run.pk))
    merge = reload(merge)
    assert (merge.state, merge.error_code, attempts) == ("failed", Code.INTERNAL, listeners.MAX_ATTEMPTS + 1)
    assert Run.objects.get(pk=merge.run_id).state in ("completed", "failed")
    assert not Draft.objects.exists()


@pytest.mark.parametrize("state", ["23000", "57014"], ids=["refused", "takes too long"])
def test_a_waiter_who_cannot_be_notified_is_retried_for_a_time_and_does_not_block_others(environment, state):
    chats = [environment.chat, environment.create_chat("Other", environment["bob"], environment["carol"])]
    for chat, name in zip(chats, ("alice", "carol"), strict=True):
        with transaction.atomic():
            drafts.claim_draft(**environment.draft_args(name, chat), content=environment.build_content(BRIEFER))
            drafts.request_draft(**environment.draft_args("bob", chat))
    Draft.objects.update(lock_expires_at=now() - timedelta(seconds=5))
    waiter = LockWaiter.objects.order_by("draft_id")[0]
    Notification.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF NEW.chat_id = '{waiter.draft.chat_id}' THEN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END IF;"
            " RETURN NEW; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON notifications_notification FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    try:
        drafts.notify_expired_locks()
        assert Notification.objects.filter(type="draft_unlocked").count() == 1, "the other waiter is notified"
        assert LockWaiter.objects.filter(pk=waiter.pk).exists(), "the notification will be retried"
        Draft.objects.filter(pk=waiter.draft_id).update(lock_expires_at=now() - timedelta(hours=2))
        drafts.notify_expired_locks()
        assert not LockWaiter.objects.exists(), "the retries are limited"
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER refuse ON notifications_notification")
            cursor.execute("DROP FUNCTION refuse()")
