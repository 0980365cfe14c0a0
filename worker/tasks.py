"""Celery tasks. Each starts work on the engine of this process, and does not wait for it."""

from dataclasses import replace
from functools import partial
from uuid import UUID

from celery import shared_task

from common.db_executor import SharedDatabaseExecutor
from common.errors import AppError
from common.processes import exit_on_memory_error
from common.tenants import set_current_tenant
from embeddings.services import embed_due_chats, mark_chat_due
from files.models import File
from files.services import read_contents
from llm.endpoints import build_test_endpoint
from llm.model_tests import find_model_test, run_model_test, save_model_test
from llm.protocol import ModelTestResult
from llm.services import record_llm_profile_test
from tools.mcp.connecting import finish_sign_in, refresh_server
from tools.services.jobs import prepare_tool_job
from usage.owners import UsageOwner
from usage.rules import NO_RULES, read_rules, resolve_model
from usage.services import record_model_test, reserve
from worker.engine import get_engine

FILES_AT_ONCE, FILES_OF_TENANT = 4, 2
"""Files that a process reads at the same time, each in a process of its own, and how many of them may be of one workspace or
person."""
_file_db = SharedDatabaseExecutor(FILES_AT_ONCE, "files", share=FILES_OF_TENANT, on_memory_error=exit_on_memory_error)
_queued_files: set[str] = set()
"""The ids of the files that this process reads or is going to read: their tasks are sent again while they wait."""


@shared_task
def test_model(
    test_id: str,
    owner_id: str,
    provider: str,
    api_base: str,
    options: dict[str, str],
    default_model: str,
    encrypted_key: str | None,
    person_id: str,
) -> None:
    """Start a model test on the engine of this process. Do not wait for it. The owner of the key is a workspace or the person."""
    owner, person = UUID(owner_id), UUID(person_id)
    test = find_model_test(owner, test_id)
    engine = get_engine()
    if engine is None or test is None or test.state != "waiting":
        return
    try:
        endpoint = build_test_endpoint(owner, provider, api_base, options, encrypted_key, person_id=person)
    except AppError as error:
        save_model_test(owner, replace(test, state="done", code=error.code.value, message=error.message))
        return
    is_own, holder_id = owner == person, UUID(test_id)
    usage_owner = UsageOwner(None if is_own else owner, person)
    tested = resolve_model(endpoint, default_model, usage_owner, NO_RULES if is_own else read_rules(owner))

    def record_result(result: ModelTestResult) -> None:
        record_model_test(usage_owner, tested, holder_id, result)
        if is_own:
            record_llm_profile_test(endpoint, default_model, result)

    run = partial(
        run_model_test,
        owner,
        person,
        test,
        tested.endpoint,
        default_model,
        reserve=partial(reserve, tested, holder_id=holder_id, attempt=0),
        record_usage=record_result,
    )
    engine.run_soon(run, name=f"model test {test_id}")


@shared_task
def embed_messages(chat_id: str = "", person_id: str | None = None) -> None:
    """Start to embed the messages of long chats on the engine of this process. Do not wait for it. `chat_id`: that of a chat that
    was not embedded before, with the person for whom that is done."""
    if chat_id:
        mark_chat_due(UUID(chat_id), UUID(person_id) if person_id else None)
    if engine := get_engine():
        engine.run_soon(embed_due_chats, name="embedding of messages")


@shared_task
def list_mcp_tools(server_id: str, person_id: str | None = None) -> None:
    """Start to list the tools of a server for a person on the engine of this process. Do not wait for it."""
    if engine := get_engine():
        person = UUID(person_id) if person_id else None  # the web process of an older release names none
        engine.run_soon(partial(refresh_server, UUID(server_id), person), name=f"tools of server {server_id}")


@shared_task
def read_file_contents(file_id: str) -> None:
    """Start to read the text of a file, and to make its thumbnail, beside the runs. Do not wait for it."""
    if file_id in _queued_files:
        return
    file = File.objects.filter(pk=file_id).only("workspace_id", "uploaded_by_id").first()
    if file is not None and (engine := get_engine()):
        _queued_files.add(file_id)
        engine.run_soon(partial(_read_file, file), name=f"reading of file {file_id}")


async def _read_file(file: File) -> None:
    try:
        with set_current_tenant(file.workspace_id, file.uploaded_by_id):
            await _file_db(read_contents, file.id)
    finally:
        _queued_files.discard(str(file.id))


@shared_task
def finish_mcp_sign_in(server_id: str, person_id: str, sealed: str) -> None:
    """Start to exchange the code of a sign-in on the engine of this process. Do not wait for it."""
    if engine := get_engine():
        run = partial(finish_sign_in, UUID(server_id), UUID(person_id), sealed)
        engine.run_soon(run, name=f"sign-in at server {server_id}")


@shared_task
def run_tool_job(job_id: str, workspace_id: str) -> None:
    """Start the reading of a document or the test of a tool on the engine of this process. Do not wait for it."""
    engine = get_engine()
    if engine is not None and (work := prepare_tool_job(UUID(workspace_id), job_id)):
        engine.run_soon(work, name=f"tool job {job_id}")
