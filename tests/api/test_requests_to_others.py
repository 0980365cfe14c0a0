"""Every operation by which a person makes us send requests to others takes from a bucket that limits just that (SEC21)."""

from collections.abc import Iterable
from typing import Any

import pytest
from celery import Celery
from django.db import transaction
from django.utils.module_loading import import_string

from actors import rates
from runs.runtime import dispatch
from tests.api.operations import OPERATIONS
from tests.api.test_rights import client_for, send_operation

BUCKETS = {
    "start_email_change": {"passwords"},
    "test_model": {"jobs"},
    "test_llm_profile": {"jobs"},
    "add_mcp_server": {"jobs"},
    "refresh_mcp_server": {"jobs"},
    "test_workspace_tool": {"jobs"},
    "read_openapi_document": {"jobs"},
    "post_message": {"posts"},
    "wake_agent": {"posts"},
    "run_schedule_now": {"jobs"},
    "create_board": {"jobs"},
    "start_board": {"jobs"},
    "retry_board_task": {"jobs"},
    "fork_board": {"jobs"},
    "decide_equal_calls": {"jobs"},
    "start_comparison": {"jobs", "posts"},
    "send_webhook_test": {"jobs"},
    "send_delivery_again": {"jobs"},
    "propose_agent": {"jobs"},
    "retry_run": {"jobs"},
    "request_other_answer": {"jobs"},
    "suggest_draft": {"jobs"},
    "suggest_spec": {"jobs"},
    "summarize_suggestion": {"jobs"},
}
"""The operations that have a worker send requests to models, tools, webhooks or mailboxes, and the buckets of each."""

OWN_WORK = {
    "worker.tasks.read_file_contents": "reads a file in a process of its own",
    "files.tasks.delete_orphaned_content": "deletes files",
    "publishing.tasks.continue_update": "writes rows",
    "workspaces.tasks.purge_workspace": "deletes rows and files",
}
"""Tasks that send no requests to others than our own storage."""


class Recorder:
    """Records the tasks that are sent and the buckets that are taken from."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.tasks: set[str] = set()
        self.buckets: set[str] = set()
        take = rates.throttle

        def throttle(*buckets: rates.Bucket, local_only: bool = False) -> None:
            self.buckets |= {name for name, _ in buckets}
            take(*buckets, local_only=local_only)

        patch.setattr(rates, "throttle", throttle)
        patch.setattr(Celery, "send_task", lambda app, name, *args, **options: self.tasks.add(name))
        patch.setattr(dispatch, "_send", self.record_runs)

    def record_runs(self, dispatched: Iterable[object]) -> bool:
        """Record that runs are sent to the workers."""
        self.tasks |= {"runs"} if list(dispatched) else set()
        return True


def test_SEC21_every_operation_that_makes_us_send_requests_has_its_bucket(
    team_with_things: Any, monkeypatch: Any, django_capture_on_commit_callbacks: Any
) -> None:
    team, things = team_with_things
    found: dict[str, set[str]] = {}
    for name, operation in OPERATIONS.items():
        with transaction.atomic():
            prepared = dict(things)
            operation.prepare(team, prepared, "alice")
            with monkeypatch.context() as patch, django_capture_on_commit_callbacks(execute=True):
                recorder = Recorder(patch)
                answer = send_operation(client_for(team, "alice"), operation, prepared)
            transaction.set_rollback(True)
        assert operation.answers["alice"] in (answer.status_code, answer.status_code // 100), (name, answer.content)
        if recorder.tasks - OWN_WORK.keys():
            found[name] = recorder.buckets - {"requests", "workspace_posts"}
    assert [name for name in OWN_WORK if import_string(name).name != name] == []
    assert found == BUCKETS
