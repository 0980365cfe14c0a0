"""What stands between a message and the request to its model (P1), as counts of statements and of changes of threads."""

import pytest

from common.db_executor import DatabaseExecutor
from common.ids import new_id
from runs.models import Run
from runs.services import claims
from tests.api.test_rights import client_for
from tests.recorder import prepare_run

pytestmark = pytest.mark.django_db(transaction=True)


def test_P1_the_statements_of_a_post(environment, django_assert_num_queries):
    api, path = client_for(environment.team, "alice"), f"chats/{environment.team.chat.id}/messages"
    api.ok("POST", path, {"id": str(new_id()), "text": "warm"})
    environment.team.chat.runs.update(state="completed")
    # The session with its person, BEGIN, the rights, the agents of the chat, its version, the message and its run, COMMIT.
    with django_assert_num_queries(7):
        api.ok("POST", path, {"id": str(new_id()), "text": "hello"})


def test_P1_the_statements_of_a_claim(environment, django_assert_num_queries):
    def claim():
        return claims.claim_posted_run(run.pk, "here:1:a", chat_id=run.chat_id)

    environment.post("warm")
    [run] = environment.runs()
    prepare_run(claim())
    environment.post("hello", chat=environment.open_chat("Second"))
    run = Run.objects.order_by("pk")[1]
    # BEGIN, the lock of the chat, the run with its settings and rights, everything that is written, COMMIT.
    with django_assert_num_queries(5):
        claimed = claim()
    # The log.
    with django_assert_num_queries(1):
        prepare_run(claimed)


def test_P1_a_run_changes_to_a_thread_once_before_its_model_is_asked(environment, receiving_engine, monkeypatch):
    submit, calls = DatabaseExecutor._run, []

    def record(executor, work, *args, **kwargs):
        if executor is receiving_engine._db:
            calls.append((work.__name__, len(environment.model.requests)))
        return submit(executor, work, *args, **kwargs)

    monkeypatch.setattr(DatabaseExecutor, "_run", record)
    environment.engine = None
    environment.model.script(text="Hello.")
    environment.post("hello")
    environment.wait_until_idle()
    assert [name for name, requests in calls if not requests] == ["_claim_and_prepare"]
