"""What can be settled, but not committed: it is tried so often and no more."""

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
from tests.jobs import answer_job, begin_job, fail_job
from tests.people import make_team
from tests.suggestions.environment import BRIEFER, KINDER, SuggestionEnvironment, both, fresh

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def board(transactional_db):
    with transaction.atomic():
        return SuggestionEnvironment(make_team())


@contextmanager
def refused_at_commit(table):
    """No transaction that writes a new row there can be committed; the statement itself is fine."""
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


def test_a_merge_whose_draft_can_never_be_committed_fails_with_a_code(board):
    with transaction.atomic():
        merge = board.merge(board.suggest(KINDER, "bob"), board.suggest(BRIEFER, "carol"))
    tries = 0
    with refused_at_commit("agents_draft"):
        while fresh(merge).state not in ("failed", "done"):
            tries += 1
            assert tries <= 2 * listeners.MAX_ATTEMPTS, "it is tried for ever"
            run = begin_job(Run.objects.get(pk=merge.run_id))
            with pytest.raises(IntegrityError) if tries <= listeners.MAX_ATTEMPTS else transaction.atomic():
                answer_job(run, json.dumps(both())) if tries % 2 else fail_job(run)
            if tries <= listeners.MAX_ATTEMPTS:
                requeue_run(Run.objects.get(pk=run.pk))
    merge = fresh(merge)
    assert (merge.state, merge.error_code, tries) == ("failed", Code.INTERNAL, listeners.MAX_ATTEMPTS + 1)
    assert Run.objects.get(pk=merge.run_id).state in ("completed", "failed")
    assert not Draft.objects.exists()


@pytest.mark.parametrize("state", ["23000", "57014"], ids=["refused", "takes too long"])
def test_a_request_that_cannot_be_told_of_holds_up_nobody_and_ends(board, state):
    rooms = [board.chat, board.room("Other", board["bob"], board["carol"])]
    for room, who in zip(rooms, ("alice", "carol"), strict=True):
        with transaction.atomic():
            drafts.claim_draft(**board.where(who, room), content=board.content(BRIEFER))
            drafts.request_draft(**board.where("bob", room))
    Draft.objects.update(lock_expires_at=now() - timedelta(seconds=5))
    first = LockWaiter.objects.order_by("draft_id")[0]
    Notification.objects.all().delete()
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF NEW.chat_id = '{first.draft.chat_id}' THEN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END IF;"
            " RETURN NEW; END $$"
        )
        cursor.execute(
            "CREATE TRIGGER refuse BEFORE INSERT ON notifications_notification FOR EACH ROW EXECUTE FUNCTION refuse()"
        )
    try:
        drafts.notify_expired_locks()
        assert Notification.objects.filter(type="draft_unlocked").count() == 1, "the other one has been told"
        assert LockWaiter.objects.filter(pk=first.pk).exists(), "it is tried again"
        Draft.objects.filter(pk=first.draft_id).update(lock_expires_at=now() - timedelta(hours=2))
        drafts.notify_expired_locks()
        assert not LockWaiter.objects.exists(), "not for ever"
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER refuse ON notifications_notification")
            cursor.execute("DROP FUNCTION refuse()")
