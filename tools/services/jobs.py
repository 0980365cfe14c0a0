"""Read documents and test tools. A worker does it on its event loop; clients poll the result (FAIR2).

Jobs are stored in Redis. Only a worker decrypts a credential.
"""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal
from uuid import UUID

from django.db import Error, connections

from actors.models import Actor
from common.clock import now
from common.egress import check_url, list_hosts_without_path, read_capped
from common.errors import AppError, Invalid, LimitReached, NotFound, Unavailable
from common.fetching import open_url
from common.ids import new_id
from common.redis_client import redis_client
from common.shared_slots import limit_working_time
from common.tasks import send_task_now
from common.tenants import set_current_tenant
from events import audit
from events.publish import publish_workspace_list_changed
from events.rows import ServerState
from tools.http.form import Definition
from tools.interface import Tool, ToolContext, ToolError
from tools.models import ToolServer, WorkspaceTool
from tools.openapi.document import MAX_BYTES, TOO_LARGE, InvalidDocument
from tools.openapi.operations import Operation
from tools.openapi.process import read_document
from tools.permissions import get_workspace_tool_for
from tools.selectors import build_tool
from tools.stored_tool import call_slots
from workspaces.permissions import WorkspaceVerb, get_workspace_for

logger = logging.getLogger(__name__)

TASK = "worker.tasks.run_tool_job"
LIFETIME_SECONDS = 1800
"""Seconds after which a job and its document are deleted."""
MAX_WAIT_SECONDS = 10
"""Seconds within which a worker starts a job."""
MAX_RUN_SECONDS = 150
"""Seconds after which a running job counts as lost. It is more than `MAX_TIMEOUT_SECONDS` of a tool."""
MAX_WORK_SECONDS = 140
"""Seconds after which a worker ends a job, before it counts as lost: then the person may start it again."""
LOCK_SECONDS = MAX_WAIT_SECONDS + MAX_RUN_SECONDS
FETCH_SECONDS = 20.0

JobKind = Literal["document", "test"]


@dataclass(frozen=True)
class ToolJob:
    """A job and its result. `job_input`: what the worker needs; `text`: the result of a test; `document`: what the person sees of
    the document that was read; `import_data`: its URL, its hash, and the definitions of its operations, which the import needs."""

    id: str
    kind: JobKind
    person_id: str
    state: Literal["waiting", "running", "done"] = "waiting"
    started_at: float = 0.0
    job_input: dict[str, Any] = field(default_factory=dict)
    is_ok: bool = False
    message: str = ""
    seconds: float = 0.0
    text: str = ""
    document: dict[str, Any] | None = None
    import_data: dict[str, Any] | None = None


@dataclass(frozen=True)
class ParsedDocument:
    """An OpenAPI document that a worker has read: its operations, how many more it has, the URL it is from, and its hash."""

    operations: list[Operation]
    left_out: int
    url: str
    hash: str

    @property
    def is_cut(self) -> bool:
        """Whether there was no room for all operations or their definitions."""
        return self.left_out > 0 or any(one.problem == TOO_LARGE for one in self.operations)


def start_reading_document(actor: Actor, workspace_id: UUID, *, url: str = "", text: str = "") -> ToolJob:
    """Have a worker read an OpenAPI document from a URL, or from a text. Nothing is imported.

    Raises `NotFound`, `Forbidden`, `Invalid` (also `host_refused`), `LimitReached`, `Unavailable`.
    """
    get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_TOOLS)
    if bool(url) == bool(text):
        raise Invalid("Give the address of the document or its text.")
    if url:
        check_url(url, list_hosts_without_path())
    return _start(actor, workspace_id, "document", {"url": url, "text": text})


def start_tool_test(actor: Actor, tool_id: UUID, *, arguments: dict[str, Any]) -> ToolJob:
    """Have a worker call a tool once, with its credential. A tool that writes does so. A tool that is switched off can be tested,
    but not one with a definition that nobody has approved.

    Raises `NotFound`, `Forbidden`, `Invalid`, `LimitReached`, `Unavailable`.
    """
    row = get_workspace_tool_for(actor, tool_id)
    if row.pending is not None:
        raise Invalid("Its server has changed it.", hints=["Look at the new description and approve it."])
    try:
        build_tool(row).parse_arguments(json.dumps(arguments))
    except ToolError as error:
        raise Invalid(str(error)) from error
    audit.record(actor, "tool.tested", workspace_id=row.workspace_id, object_id=row.id, tool=row.name)
    return _start(actor, row.workspace_id, "test", {"tool_id": str(row.id), "arguments": arguments})


def get_tool_job(actor: Actor, workspace_id: UUID, job_id: UUID | str) -> ToolJob:
    """Return the state of a job that the actor started. Raises `NotFound`, `Forbidden`, and `Unavailable` if no worker runs it."""
    get_workspace_for(actor, workspace_id, WorkspaceVerb.SET_TOOLS)
    job = find_tool_job(workspace_id, job_id)
    if job is None or job.person_id != str(actor.id):
        raise NotFound("There is no such job, or it was long ago.")
    limit = {"waiting": MAX_WAIT_SECONDS, "running": MAX_RUN_SECONDS}.get(job.state)
    if limit is not None and time.time() - job.started_at > limit:
        redis_client.release_locks([_build_lock_key(job.kind, job.person_id)], job.id)
        raise Unavailable("No worker has answered. Try again in a moment.")
    return job


def get_parsed_document(workspace_id: UUID, job_id: UUID | str) -> ParsedDocument:
    """Return a document that was read in this workspace, without a check of rights. Raises `NotFound`, `Unavailable`."""
    job = find_tool_job(workspace_id, job_id)
    if job is None or job.document is None or job.import_data is None:
        raise NotFound("The document was read long ago, or not at all.", hints=["Read it again."])
    operations = [
        Operation(**operation, definition=Definition(**definition) if definition else None)
        for operation, definition in zip(job.document["operations"], job.import_data["definitions"], strict=True)
    ]
    return ParsedDocument(operations, job.document["left_out"], job.import_data["url"], job.import_data["hash"])


def find_tool_job(workspace_id: UUID, job_id: UUID | str) -> ToolJob | None:
    """Return a job without a check of rights, or null. Raises `Unavailable` without Redis."""
    stored = redis_client.call_or_raise(lambda client: client.get(_build_job_key(workspace_id, job_id)))
    return ToolJob(**json.loads(stored)) if stored else None


def prepare_tool_job(workspace_id: UUID, job_id: str) -> Callable[[], Coroutine[Any, Any, None]] | None:
    """Return the coroutine function that runs a job on the worker's event loop when it is its turn, or null if it is not to be
    run any more."""
    job = _find_waiting_job(workspace_id, job_id)
    return partial(_run_job, workspace_id, job) if job else None


def _find_waiting_job(workspace_id: UUID, job_id: str) -> ToolJob | None:
    """Return a job that waits. Return null if `get_tool_job` has given it up: a tool that writes may have been tested again."""
    job = find_tool_job(workspace_id, job_id)
    if job is None or job.state != "waiting" or time.time() - job.started_at > MAX_WAIT_SECONDS:
        return None
    return job


async def _run_job(workspace_id: UUID, waiting: ToolJob) -> None:
    """Run a job when there is a slot for it, unless it has been given up meanwhile."""
    try:
        with set_current_tenant(workspace_id, UUID(waiting.person_id)):
            async with call_slots.reserve(waiting.started_at + MAX_WAIT_SECONDS - time.time()):
                if found := await asyncio.to_thread(_start_job, workspace_id, waiting.id):
                    await _run_in_slot(workspace_id, *found)
    except TimeoutError:
        logger.info("A tool job was given up: there was no slot for it in time.")
    except Unavailable:
        logger.warning("The state of a tool job could not be stored: Redis does not answer.")


def _start_job(workspace_id: UUID, job_id: str) -> tuple[ToolJob, Tool | None] | None:
    """Mark a waiting job as running. Return it with its tool, or null if it is not to be run any more. A test of a tool that was
    deleted meanwhile is ended here."""
    job = _find_waiting_job(workspace_id, job_id)
    if job is None:
        return None
    tool = None
    if job.kind == "test":
        try:
            row = WorkspaceTool.objects.select_related("server").filter(pk=job.job_input["tool_id"]).first()
        finally:
            connections.close_all()
        if row is None:
            _store_result(workspace_id, replace(job, state="done", message="The tool was deleted."))
            return None
        tool = build_tool(row)
    job = replace(job, state="running", started_at=time.time())
    store_tool_job(workspace_id, job)
    return job, tool


async def _run_in_slot(workspace_id: UUID, job: ToolJob, tool: Tool | None) -> None:
    """Test the tool, or read the document of a job without a tool, and store the result."""
    started = time.monotonic()
    try:
        async with asyncio.timeout(MAX_WORK_SECONDS):
            done = await (_test_tool(job, tool) if tool else _read_document(job))
    except TimeoutError:
        done = replace(job, message=f"It was not done within {MAX_WORK_SECONDS} s.")
    except Exception:  # also an error of the tool's code: the person must not wait for a result
        logger.exception("A tool job has failed.")
        done = replace(job, message="It failed because of an error in Atelier.")
    done = replace(done, state="done", seconds=round(time.monotonic() - started, 3))
    if tool is None:
        done = replace(done, job_input={})  # the text of the document, which may be large, is not needed any more
    await asyncio.to_thread(_store_result, workspace_id, done)


async def _read_document(job: ToolJob) -> ToolJob:
    url, text = job.job_input["url"], job.job_input["text"]
    try:
        if url:
            text = await _fetch_document(url)
        document = await read_document(text, url)
    except InvalidDocument as problem:
        return replace(job, message=str(problem))
    except AppError as error:
        return replace(job, message=error.message)
    # With `pop`, because `document` is what the person sees, and the definitions are stored in `import_data` only.
    import_data = {
        "url": url,
        "hash": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
        "definitions": [operation.pop("definition") for operation in document["operations"]],
    }
    return replace(job, is_ok=True, document=document, import_data=import_data)


async def _fetch_document(url: str) -> str:
    async with open_url(
        url,
        allow_private=list_hosts_without_path(),
        headers={"Accept": "application/json, */*;q=0.5"},
        seconds=FETCH_SECONDS,
    ) as response:
        if response.status != 200:
            raise InvalidDocument(f"The server did not give the document (HTTP {response.status}).")
        body = await read_capped(response, MAX_BYTES + 1)
    if len(body) > MAX_BYTES:
        raise InvalidDocument(f"The document has more than {MAX_BYTES // 1024 // 1024} MB.")
    return body.decode("utf-8", "replace")


async def _test_tool(job: ToolJob, tool: Tool) -> ToolJob:
    config = tool.parse_config({})
    context = ToolContext(
        actor=Actor(pk=UUID(job.person_id)),
        on_behalf_of=None,
        chat_id=None,
        run_id=UUID(job.id),
        call_id=job.id,
        config=config,
    )
    try:
        async with limit_working_time(config.timeout_s):
            output = await tool.run(context, job.job_input["arguments"])
    except TimeoutError:
        return replace(job, message=f"It did not answer within {config.timeout_s:g} s.")
    except ToolError as error:
        return replace(job, message=str(error))
    except AppError as error:
        return replace(job, message=error.message)
    return replace(job, is_ok=True, text=output if isinstance(output, str) else output.text)


def _store_result(workspace_id: UUID, job: ToolJob) -> None:
    """Release the lock, and store the result of the job. The result of a test is also stored as the state of its server. Errors of
    the database are only logged, so that the person gets the result."""
    # The lock is released first: a client that reads that the job is done can start the next one.
    redis_client.release_locks([_build_lock_key(job.kind, job.person_id)], job.id)
    if job.kind == "test":
        try:
            ToolServer.objects.filter(tools=job.job_input["tool_id"]).update(
                state=ServerState.OK if job.is_ok else ServerState.FAILED,
                tested_at=now(),
                error_code="",
                last_error=job.message.split("\n")[0][:500],
            )
            publish_workspace_list_changed(workspace_id, "tools")
        except Error:
            logger.exception("The state of a tool server could not be stored.")
        finally:
            connections.close_all()
    store_tool_job(workspace_id, job)


def _start(actor: Actor, workspace_id: UUID, kind: JobKind, job_input: dict[str, Any]) -> ToolJob:
    """Store a job and send its task. A person has one of each kind at a time."""
    job = ToolJob(str(new_id()), kind, str(actor.id), started_at=time.time(), job_input=job_input)
    lock = _build_lock_key(kind, job.person_id)
    if not redis_client.call_or_raise(lambda client: client.set(lock, job.id, nx=True, ex=LOCK_SECONDS)):
        data = {"limit": "tool_jobs", "seconds": 5}
        raise LimitReached("One is running already.", hints=["Wait for its result."], data=data)
    store_tool_job(workspace_id, job)
    try:
        send_task_now(TASK, [job.id, str(workspace_id)])
    except Unavailable:
        redis_client.release_locks([lock], job.id)
        raise
    return job


def _build_job_key(workspace_id: UUID, job_id: UUID | str) -> str:
    return f"tool-job:{workspace_id}:{job_id}"


def _build_lock_key(kind: JobKind, person_id: str) -> str:
    return f"tool-job:{kind}:by:{person_id}"


def store_tool_job(workspace_id: UUID, job: ToolJob) -> None:
    """Store the state of a job. Raises `Unavailable` without Redis."""
    stored = json.dumps(asdict(job))
    redis_client.call_or_raise(
        lambda client: client.set(_build_job_key(workspace_id, job.id), stored, ex=LIFETIME_SECONDS)
    )
