"""A table of all operations of the API: an example of each request, and who may send it. For tests of rights, tenancy and fuzzing.

A test compares the table with the schema, so that a new operation cannot be forgotten.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import redis
from django.conf import settings
from django.core.files.base import ContentFile

from actors import services as actors
from agents.models import Draft
from agents.services import drafts
from agents.specs.content import SpecContent
from approvals.models import Approval
from boards.models import Board, BoardTask
from chats import services as chats
from chats.models import Message
from common.clock import now
from common.ids import new_id
from events.rows import ListingCategory
from files.models import File
from llm import model_tests
from publishing import services as publishing
from runs.kinds.agent_proposal import AGENT_PROPOSAL, build_proposal_input
from runs.models import Run
from runs.services import comparisons
from runs.services.runs import start_job
from suggestions.models import Merge, Suggestion
from tests.api.client import Upload
from tests.factories.actors import PASSWORD
from tests.factories.approvals import ApprovalFactory
from tests.factories.boards import BoardFactory, BoardTaskFactory, TaskResultFactory
from tests.factories.chats import make_answer
from tests.factories.context import HistorySummaryFactory, SummaryCorrectionFactory
from tests.factories.files import CONTENT, FileFactory
from tests.factories.memory import HistoryEntryFactory, MemoryClearingFactory, MemoryUseFactory, NoteFactory
from tests.factories.runs import RunFactory
from tests.factories.schedules import ScheduleFactory
from tests.factories.suggestions import MergeFactory, SuggestionFactory
from tests.factories.tools import ServerAuthorizationFactory, ToolServerFactory, WorkspaceToolFactory
from tests.factories.usage import BudgetFactory, LLMCallFactory, ModelPriceFactory
from tests.factories.webhooks import make_delivery, make_webhook
from tests.files.samples import make_image
from tests.people import Team
from tools.openapi.reader import describe_document
from tools.services import jobs
from workspaces import services as workspaces

WEBHOOK = "agents/{agent_id}/webhooks/{webhook_id}"
PEOPLE = ("alice", "bob", "charlie", "nobody")
EVERYBODY = {"alice": 2, "bob": 2, "charlie": 2, "nobody": 401}
MEMBERS = {"alice": 2, "bob": 2, "charlie": 404, "nobody": 401}
EDITORS = {"alice": 2, "bob": 403, "charlie": 404, "nobody": 401}
ANYONE = {"alice": 2, "bob": 2, "charlie": 2, "nobody": 2}

PUBLISHERS = {"alice": 2, "bob": 403, "charlie": 403, "nobody": 401}
"""Of a public agent, which everybody can see."""
ONLY_ALICE = {"alice": 2, "bob": 404, "charlie": 404, "nobody": 401}

Things = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    """`answers`: the status for each person, or 2 for any success. `prepare` creates the state that the operation needs.
    `by_token`: whether an API token may do what its person may; otherwise it gets 403."""

    method: str
    path: str
    answers: dict[str, int]
    body: Callable[[Things], Any] = lambda things: {}
    prepare: Callable[[Team, Things, str], None] = lambda team, things, who: None
    by_token: bool = field(default=True)


def make_things(team: Team) -> Things:
    """Create the objects that the paths and bodies of the table name, in Alice's workspace. Return their ids."""
    message = chats.post_message(team.alice, team.chat.id, text="hello", wake="nobody")[0]
    link, url = chats.create_link(team.alice, team.chat.id, role="suggester", hours=1)
    token, _ = actors.create_token(team.alice, name="Mine", days=None)
    run = RunFactory.create(
        chat=team.chat,
        agent=team.robin,
        on_behalf_of=team.bob,
        trigger_id=message.id,
        trigger_seq=message.seq,
        state="failed",
    )
    call = LLMCallFactory.create(workspace=team.workspace, run_id=run.id, tree_id=run.id, chat_id=team.chat.id)
    suggestion = make_suggestion(team, message)
    webhook = make_webhook(team.robin)
    return {
        "agent_token_id": actors.create_token(team.alice, name="Bot", days=None, agent=team.robin)[0].id,
        "webhook_id": webhook.id,
        "delivery_id": make_delivery(webhook).id,
        "workspace_id": team.workspace.id,
        "chat_id": team.chat.id,
        "agent_id": team.robin.id,
        "actor_id": team.bob.id,
        "link_id": link.id,
        "token_id": token.id,
        "token": url.rsplit("/", 1)[1],
        "run_id": run.id,
        "request_id": call.id,
        "spec_id": team.robin.current_spec_id,
        "message_id": message.id,
        "revision": 1,
        "comparison_id": new_id(),
        "model_test_id": new_id(),
        "proposal_id": new_id(),
        "file_id": FileFactory.create(chat=team.chat, uploaded_by=team.bob).id,
        **_make_mcp_server(team),
        **_make_http_server(team),
        "board_id": _make_board(team),
        "schedule_id": ScheduleFactory.create(chat=team.chat, agent=team.robin, owner=team.alice).id,
        "suggestion_id": suggestion.id,
        "merge_id": make_merge(team, suggestion).id,
        "budget_id": BudgetFactory.create(workspace=team.workspace).id,
        "price_id": ModelPriceFactory.create(workspace=team.workspace).id,
        **_make_summary(team, message.seq),
        "approval_id": ApprovalFactory.create(chat=team.chat, agent=team.robin, person=team.alice).id,
        **_make_memory(team, run.id),
    }


def _make_summary(team: Team, seq: int) -> Things:
    """Create a summary of the chat with a sentence, and a correction of another one."""
    sentence = {"id": str(new_id()), "section": "Decided", "text": "The deposit is 8.", "seqs": [seq]}
    HistorySummaryFactory.create(chat=team.chat, from_seq=seq, through_seq=seq, sentences=[sentence])
    correction = SummaryCorrectionFactory.create(chat=team.chat, person=team.alice, seqs=[seq])
    return {"sentence_id": sentence["id"], "correction_id": correction.id}


def _change_board(**columns: Any) -> Callable[[Team, Things, str], None]:
    """Return a preparation that sets the board to this state."""

    def change(team: Team, things: Things, who: str) -> None:
        Board.objects.filter(pk=things["board_id"]).update(**columns)

    return change


def _fail_task(team: Team, things: Things, who: str) -> None:
    """Let the task of the board fail while the board works on another."""
    _change_board(state="executing", max_at_once=1)(team, things, who)
    board = Board.objects.get(pk=things["board_id"])
    board.tasks.update(state="failed", attempt=1, ended_at=now())
    if board.tasks.count() == 1:
        BoardTaskFactory.create(board=board, agent=team.robin, number=2, state="ready")


def _ask_in_task(team: Team, things: Things, who: str) -> None:
    """Let the task of the board wait for the decision about the approval."""
    run_id = Approval.objects.get(pk=things["approval_id"]).run_id
    run = Run.objects.filter(pk=run_id).first() or RunFactory.create(
        id=run_id, chat=team.chat, agent=team.robin, kind="board_task", input={}, state="waiting_approval"
    )
    BoardTask.objects.filter(board=things["board_id"]).update(run=run)


def _make_board(team: Team) -> UUID:
    """Create a board of Alice with a task that has brought a result. Return its id."""
    board = BoardFactory.create(chat=team.chat, on_behalf_of=team.alice)
    TaskResultFactory.create(task=BoardTaskFactory.create(board=board, agent=team.robin))
    return board.pk


def _make_memory(team: Team, run_id: UUID) -> Things:
    """Create a note, a clearing of the history, and what the run has used."""
    note = NoteFactory.create(chat=team.chat, agent=team.robin)
    HistoryEntryFactory.create(chat=team.chat, agent=team.robin)
    MemoryUseFactory.create(chat=team.chat, agent=team.robin, run_id=run_id)
    clearing = MemoryClearingFactory.create(workspace=team.workspace, agent=team.robin, cleared_by=team.alice)
    return {"note_id": note.id, "clearing_id": clearing.id}


def _make_http_server(team: Team) -> Things:
    """Create an HTTP server with a tool, and an OpenAPI server with a tool whose definition changed."""
    fields: Things = {
        "description": "New.",
        "effect": "write",
        "input_schema": {},
        "output_schema": None,
        "request": {},
    }
    server = ToolServerFactory.create(workspace=team.workspace, name="Booking")
    tool = WorkspaceToolFactory.create(workspace=team.workspace, server=server)
    imported = ToolServerFactory.create(workspace=team.workspace, kind="openapi", name="Fares")
    changed = WorkspaceToolFactory.create(
        workspace=team.workspace,
        server=imported,
        is_enabled=False,
        off_reason="changed",
        remote_name="old",
        pending=fields | {"hash": "a" * 64, "title": ""},
    )
    return {
        "server_id": server.id,
        "tool_id": tool.id,
        "openapi_server_id": imported.id,
        "changed_tool_id": changed.id,
        "job_id": new_id(),
    }


def _store_tool_job(team: Team, things: Things, who: str) -> None:
    """Store a document that the person has read."""
    person = team[who] if who in ("alice", "bob", "charlie") else team.alice
    text = json.dumps({"openapi": "3.1.0", "paths": {"/fares": {"get": {"operationId": "list_fares"}}}})
    document = describe_document(text, "")
    read = {"url": "", "hash": "a" * 64, "definitions": [one.pop("definition") for one in document["operations"]]}
    job = jobs.ToolJob(
        str(things["job_id"]), "document", str(person.id), state="done", is_ok=True, document=document, import_data=read
    )
    jobs.store_tool_job(team.workspace.id, job)


def _make_agent_proposal(team: Team, things: Things, who: str) -> None:
    """Store a proposal that the person has asked for."""
    person = team[who] if who in ("alice", "bob", "charlie") else team.alice
    run = start_job(
        person,
        team.workspace.id,
        kind=AGENT_PROPOSAL,
        subject_id=person.id,
        job_input=build_proposal_input("Answer customers."),
    )
    Run.objects.filter(pk=things["proposal_id"]).delete()
    Run.objects.filter(pk=run.pk).update(id=things["proposal_id"])


def _clear_tool_jobs() -> Things:
    """Let a person start a job although another one has not ended."""
    client = redis.from_url(settings.REDIS_URL)
    for key in client.keys("tool-job:*:by:*"):
        client.delete(key)
    return {}


def _make_mcp_server(team: Team) -> Things:
    """Create an MCP server where nobody has signed in, and a tool of it that nobody has approved."""
    server = ToolServerFactory.create(
        workspace=team.workspace, kind="mcp", name="Mail room", auth="oauth", base_url="https://mcp.example.org/"
    )
    ServerAuthorizationFactory.create(
        server=server,
        authorization_server={
            "issuer": "https://login.example.org",
            "authorization_endpoint": "https://login.example.org/a",
            "token_endpoint": "https://login.example.org/t",
            "client_id": "c",
            "auth_method": "none",
            "scope": "",
            "resource": server.base_url,
            "server_url": server.base_url,
            "wants_issuer": False,
        },
    )
    definition = {
        "title": "",
        "description": "Send.",
        "input_schema": {"type": "object"},
        "output_schema": None,
        "effect": "write",
        "hash": "a" * 64,
    }
    tool = WorkspaceToolFactory.create(
        workspace=team.workspace, server=server, is_enabled=False, off_reason="editor", pending=definition
    )
    return {"mcp_server_id": server.id, "mcp_tool_id": tool.id}


def make_suggestion(team: Team, message: Message) -> Suggestion:
    """Create a suggestion of Bob's whose summary has failed."""
    return SuggestionFactory.create(
        chat=team.chat,
        agent=team.robin,
        author=team.bob,
        touches=["prompt"],
        message_id=message.id,
        summary_state="failed",
    )


def make_merge(team: Team, suggestion: Suggestion, **fields: Any) -> Merge:
    """Create a merge of Alice's that has failed."""
    ended = {"state": "failed", "ended_at": now(), **fields}
    return MergeFactory.create(chat=team.chat, agent=team.robin, by=team.alice, chosen=[suggestion.id], **ended)


def _claim_changed_draft(team: Team, things: Things, who: str) -> None:
    _claim_draft(team, things, who)
    Draft.objects.update(written=SpecContent(prompt="New").as_json())


def _set_merge_waiting(team: Team, things: Things, who: str) -> None:
    Merge.objects.filter(pk=things["merge_id"]).update(state="waiting", ended_at=None)


def _claim_draft(team: Team, things: Things, who: str) -> None:
    """Claim the draft for the person, or for Alice if the person may not have one."""
    holder = team[who] if who in ("alice", "bob") else team.alice
    drafts.claim_draft(actor=holder, chat_id=team.chat.id, agent_id=team.robin.id)


def _claim_draft_of_other_person(team: Team, things: Things, who: str) -> None:
    """Claim the draft for another person."""
    _claim_draft(team, things, "bob" if who == "alice" else "alice")


def _claim_requested_draft(team: Team, things: Things, who: str) -> None:
    """Claim the draft for the person, and let another person request it."""
    _claim_draft(team, things, who)
    requester = team.alice if who == "bob" else team.bob
    drafts.request_draft(actor=requester, chat_id=team.chat.id, agent_id=team.robin.id)
    things["requester_id"] = str(requester.id)


def _apply_draft(team: Team, things: Things, who: str) -> None:
    _claim_draft(team, things, who)
    draft = Draft.objects.select_related("lock_holder").get(chat=team.chat, agent=team.robin, ended_at=None)
    assert draft.lock_holder is not None
    drafts.apply_draft(actor=draft.lock_holder, chat_id=team.chat.id, agent_id=team.robin.id, revision=draft.revision)


def _apply_draft_and_find_message(team: Team, things: Things, who: str) -> None:
    _apply_draft(team, things, who)
    things["message_id"] = Message.objects.get(chat=team.chat, type="DRAFT_APPLIED").id


def _make_answer(team: Team, things: Things, who: str) -> None:
    things["message_id"] = make_answer(team.chat, team.robin).id


def _make_answered_run(team: Team, things: Things, who: str) -> None:
    """Store the answer of the run."""
    Run.objects.filter(pk=things["run_id"]).update(state="completed")
    Message.objects.filter(pk=make_answer(team.chat, team.robin).id).update(run_id=things["run_id"])


def _make_two_answers(team: Team, things: Things, who: str) -> None:
    """Store the answer of the run, and another one that is in use."""
    _make_answered_run(team, things, who)
    Message.objects.filter(run_id=things["run_id"]).update(is_unused=True)
    group_seq = Message.objects.values_list("seq", flat=True).get(run_id=things["run_id"])
    other = RunFactory.create(
        chat=team.chat,
        agent=team.robin,
        kind="other_answer",
        group_seq=group_seq,
        trigger_id=things["message_id"],
        ended=True,
    )
    answer = make_answer(team.chat, team.robin, "We are 14.")
    Message.objects.filter(pk=answer.id).update(run_id=other.id, group_seq=group_seq)


def _start_comparison(team: Team, things: Things, who: str) -> None:
    _apply_draft(team, things, who)
    comparisons.start_comparison(
        actor=team.alice,
        chat_id=team.chat.id,
        agent_id=team.robin.id,
        id=things["comparison_id"],
        text="hi",
        revision=1,
    )


def _queue_run(team: Team, things: Things, who: str) -> None:
    Run.objects.filter(pk=things["run_id"]).update(state="queued")


def _save_second_version(team: Team, things: Things, who: str) -> None:
    """Save a second version as Alice."""
    where: dict[str, Any] = {"actor": team.alice, "chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = drafts.claim_draft(**where, content=SpecContent(prompt="New"))
    drafts.save_draft(**where, revision=draft.revision, base_version=1)


def _delete_workspace(team: Team, things: Things, who: str) -> None:
    """Delete the workspace as Alice."""
    workspaces.delete_workspace(team.alice, team.workspace.id, name=team.workspace.name)


def _build_content(**more: Any) -> Callable[[Things], Any]:
    return lambda things: {"content": {"prompt": "New"}, **more}


def _build_revision(**more: Any) -> Callable[[Things], Any]:
    return lambda things: {"revision": things["revision"], **more}


def _an_unposted_file(team: Team, things: Things, who: str) -> None:
    """Bob's, which nobody else can see."""
    File.objects.filter(pk=things["file_id"]).update(posted_at=None)


def _store_file(team: Team, things: Things, who: str) -> None:
    """Store the content and the thumbnail of the file. A copy of the row has another name for them (`SavedRows`)."""
    file = File.objects.get(pk=things["file_id"])
    for stored in (file.content, file.thumbnail):
        stored.storage.save(stored.name, ContentFile(CONTENT))


def _publish(team: Team, things: Things, who: str) -> None:
    """Publish the agent as Alice."""
    publishing.publish_agent(
        team.alice,
        things["agent_id"],
        name="Interpreter",
        handle="interpreter",
        description="Interprets.",
        category=ListingCategory.LANGUAGE,
    )


def _change_and_publish(team: Team, things: Things, who: str) -> None:
    _publish(team, things, who)
    _save_second_version(team, things, who)


def _upload(things: Things) -> Any:
    return Upload(make_image(8, 8), "picture.png")


SUGGESTION = "suggestions/{suggestion_id}"
VERSION = "agents/{agent_id}/versions/1"
PUBLIC_AGENT = "directory/interpreter"
LISTING = {"name": "Interpreter", "description": "Interprets.", "category": "language"}
DRAFT = "chats/{chat_id}/agents/{agent_id}/draft"


def clear_model_tests() -> dict[str, Any]:
    """Delete running tests of models, because only one may run at a time. Return an empty body."""
    client = redis.from_url(settings.REDIS_URL)
    for key in client.keys("model-test:*"):
        client.delete(key)
    return {}


def _start_model_test(team: Team, things: Things, who: str) -> None:
    clear_model_tests()
    test = model_tests.start_model_test(
        team.alice, team.workspace.id, provider="demo", api_base="", default_model="demo", key=None
    )
    things["model_test_id"] = test.id


def _start_llm_profile_test(team: Team, things: Things, who: str) -> None:
    clear_model_tests()
    things["model_test_id"] = model_tests.start_llm_profile_test(team.alice, provider="demo", default_model="demo").id


MODEL = {"provider": "demo", "default_model": "demo", "revision": 0}
OWN_MODEL = {"provider": "openai", "default_model": "gpt", "revision": 0, "key": "sk-example-of-a-key"}
EMBEDDING_MODEL = OWN_MODEL | {"default_model": "text-embedding-3-small", "revision": 0}

OPERATIONS: dict[str, Operation] = {
    "read_me": Operation("GET", "me", EVERYBODY),
    "change_me": Operation("PATCH", "me", EVERYBODY, lambda t: {"name": "New"}),
    "start_email_change": Operation(
        "POST", "me/email", EVERYBODY, lambda t: {"email": "new@example.net", "password": PASSWORD}, by_token=False
    ),
    "cancel_email_change": Operation("DELETE", "me/email", EVERYBODY, by_token=False),
    "confirm_email": Operation("POST", "email-confirmations", dict.fromkeys(ANYONE, 404), lambda t: {"key": "c-none"}),
    "read_sign_up": Operation("GET", "sign-up", ANYONE),
    "report_client_error": Operation(
        "POST",
        "client-errors",
        EVERYBODY,
        lambda t: {"kind": "error", "name": "TypeError", "screen": "/", "frames": ["a.js:1:2"]},
        by_token=False,
    ),
    "list_viewings": Operation("GET", "me/viewings", EVERYBODY, by_token=False),
    "end_viewing": Operation(
        "DELETE", "me/viewing", {"alice": 404, "bob": 404, "charlie": 404, "nobody": 401}, by_token=False
    ),
    "list_tokens": Operation("GET", "me/tokens", EVERYBODY, by_token=False),
    "create_token": Operation(
        "POST", "me/tokens", EVERYBODY, lambda t: {"name": "New", "days": 30, "password": PASSWORD}, by_token=False
    ),
    "revoke_token": Operation("DELETE", "me/tokens/{token_id}", ONLY_ALICE, by_token=False),
    "end_sessions": Operation("DELETE", "me/sessions", EVERYBODY, by_token=False),
    "list_workspaces": Operation("GET", "workspaces", EVERYBODY),
    "create_workspace": Operation("POST", "workspaces", EVERYBODY, lambda t: {"name": "New"}),
    "read_workspace": Operation("GET", "workspaces/{workspace_id}", MEMBERS),
    "rename_workspace": Operation(
        "PATCH", "workspaces/{workspace_id}", EDITORS, lambda t: {"name": "New", "revision": 1}
    ),
    "list_members": Operation("GET", "workspaces/{workspace_id}/members", MEMBERS),
    "change_role": Operation(
        "PATCH", "workspaces/{workspace_id}/members/{actor_id}", EDITORS, lambda t: {"role": "editor"}
    ),
    "remove_member": Operation("DELETE", "workspaces/{workspace_id}/members/{actor_id}", EDITORS),
    "leave_workspace": Operation("POST", "workspaces/{workspace_id}/leave", {**MEMBERS, "alice": 409}),
    "delete_workspace": Operation(
        "POST",
        "workspaces/{workspace_id}/deletion",
        EDITORS,
        lambda t: {"name": "Lighthouse", "password": PASSWORD},
        by_token=False,
    ),
    "list_deleted_workspaces": Operation("GET", "deleted-workspaces", EVERYBODY, prepare=_delete_workspace),
    "restore_workspace": Operation(
        "POST", "workspaces/{workspace_id}/restoration", ONLY_ALICE, prepare=_delete_workspace
    ),
    "read_model": Operation("GET", "workspaces/{workspace_id}/model", MEMBERS),
    "set_model": Operation("PUT", "workspaces/{workspace_id}/model", EDITORS, lambda t: MODEL),
    "test_model": Operation(
        "POST",
        "workspaces/{workspace_id}/model/test",
        EDITORS,
        lambda t: clear_model_tests() | {"provider": "demo", "default_model": "demo"},
    ),
    "read_model_test": Operation(
        "GET", "workspaces/{workspace_id}/model/test/{model_test_id}", EDITORS, prepare=_start_model_test
    ),
    "read_model_policy": Operation("GET", "workspaces/{workspace_id}/model/policy", MEMBERS),
    "set_model_policy": Operation(
        "PUT", "workspaces/{workspace_id}/model/policy", EDITORS, lambda t: {"allows_llm_profiles": True}
    ),
    "read_llm_profile": Operation("GET", "me/llm-profile", EVERYBODY),
    "set_llm_profile": Operation("PUT", "me/llm-profile", EVERYBODY, lambda t: OWN_MODEL),
    "delete_llm_profile": Operation("DELETE", "me/llm-profile", EVERYBODY),
    "test_llm_profile": Operation(
        "POST",
        "me/llm-profile/test",
        EVERYBODY,
        lambda t: clear_model_tests() | {"provider": "demo", "default_model": "demo"},
    ),
    "read_llm_profile_test": Operation(
        "GET", "me/llm-profile/test/{model_test_id}", ONLY_ALICE, prepare=_start_llm_profile_test
    ),
    "read_usage": Operation("GET", "workspaces/{workspace_id}/usage?starts_on=2030-01-01&ends_on=2030-01-31", MEMBERS),
    "export_usage": Operation(
        "GET", "workspaces/{workspace_id}/usage.csv?starts_on=2030-01-01&ends_on=2030-01-31", MEMBERS
    ),
    "list_budgets": Operation("GET", "workspaces/{workspace_id}/budgets", MEMBERS),
    "create_budget": Operation(
        "POST",
        "workspaces/{workspace_id}/budgets",
        EDITORS,
        lambda t: {"scope": "agent", "period": "month", "limit_micro": 5, "subject_id": t["agent_id"]},
    ),
    "change_budget": Operation("PATCH", "budgets/{budget_id}", EDITORS, lambda t: {"limit_micro": 6, "revision": 1}),
    "delete_budget": Operation("DELETE", "budgets/{budget_id}", EDITORS),
    "list_prices": Operation("GET", "workspaces/{workspace_id}/prices", MEMBERS),
    "set_price": Operation(
        "PUT",
        "workspaces/{workspace_id}/prices",
        EDITORS,
        lambda t: {"provider": "openai", "input_micro": 5, "output_micro": 6},
    ),
    "delete_price": Operation("DELETE", "prices/{price_id}", EDITORS),
    "list_run_calls": Operation("GET", "runs/{run_id}/calls", MEMBERS),
    "list_model_offers": Operation("GET", "model-offers", EVERYBODY),
    "list_model_providers": Operation("GET", "model-providers", EVERYBODY),
    "list_agent_templates": Operation("GET", "agent-templates", EVERYBODY),
    "list_team_templates": Operation("GET", "team-templates", EVERYBODY),
    "list_tool_servers": Operation("GET", "workspaces/{workspace_id}/tool-servers", MEMBERS),
    "add_mcp_server": Operation(
        "POST",
        "workspaces/{workspace_id}/mcp-servers",
        EDITORS,
        lambda t: {"name": "New", "base_url": "https://mcp.example.org/"},
    ),
    "refresh_mcp_server": Operation("POST", "mcp-servers/{mcp_server_id}/refresh", EDITORS),
    "start_mcp_sign_in": Operation("POST", "mcp-servers/{mcp_server_id}/sign-in", EDITORS, by_token=False),
    "list_tools": Operation("GET", "tools", EVERYBODY),
    "list_workspace_tools": Operation("GET", "workspaces/{workspace_id}/tools", MEMBERS),
    "set_tool_policy": Operation(
        "PUT", "workspaces/{workspace_id}/tools/web_fetch/policy", EDITORS, lambda t: {"policy": "ask"}
    ),
    "create_tool_server": Operation(
        "POST",
        "workspaces/{workspace_id}/http-servers",
        EDITORS,
        lambda t: {"kind": "http", "name": "New", "base_url": "https://api.example.org"},
    ),
    "change_tool_server": Operation(
        "PATCH", "tool-servers/{server_id}", EDITORS, lambda t: {"name": "Another", "revision": 1}
    ),
    "delete_tool_server": Operation("DELETE", "tool-servers/{server_id}", EDITORS),
    "create_workspace_tool": Operation(
        "POST",
        "tool-servers/{server_id}/tools",
        EDITORS,
        lambda t: {"name": "new_tool", "form": {"description": "Find.", "method": "GET", "path": "/x"}},
    ),
    "change_workspace_tool": Operation(
        "PATCH", "workspace-tools/{tool_id}", EDITORS, lambda t: {"title": "New", "revision": 1}
    ),
    "delete_workspace_tool": Operation("DELETE", "workspace-tools/{tool_id}", EDITORS),
    "approve_workspace_tool": Operation(
        "PUT", "workspace-tools/{changed_tool_id}/approval", EDITORS, lambda t: {"hash": "a" * 64, "effect": "read"}
    ),
    "list_agents_with_tool": Operation("GET", "workspace-tools/{tool_id}/agents", EDITORS),
    "test_workspace_tool": Operation(
        "POST", "workspace-tools/{tool_id}/test", EDITORS, lambda t: _clear_tool_jobs() | {"arguments": {}}
    ),
    "read_openapi_document": Operation(
        "POST",
        "workspaces/{workspace_id}/openapi-documents",
        EDITORS,
        lambda t: _clear_tool_jobs() | {"url": "https://api.example.org/openapi.json"},
    ),
    "read_tool_job": Operation("GET", "workspaces/{workspace_id}/tool-jobs/{job_id}", EDITORS, prepare=_store_tool_job),
    "import_operations": Operation(
        "POST",
        "tool-servers/{openapi_server_id}/operations",
        EDITORS,
        lambda t: {"job_id": str(t["job_id"]), "operations": [{"key": "list_fares", "name": "list_fares"}]},
        _store_tool_job,
    ),
    "list_agents": Operation("GET", "workspaces/{workspace_id}/agents", MEMBERS),
    "create_agent": Operation("POST", "workspaces/{workspace_id}/agents", EDITORS, lambda t: {"name": "New"}),
    "create_team": Operation("POST", "workspaces/{workspace_id}/teams", EDITORS, lambda t: {"template": "trip"}),
    "propose_agent": Operation(
        "POST", "workspaces/{workspace_id}/agent-proposals", EDITORS, lambda t: {"sentence": "Answer customers."}
    ),
    "read_agent_proposal": Operation(
        "GET", "workspaces/{workspace_id}/agent-proposals/{proposal_id}", EDITORS, prepare=_make_agent_proposal
    ),
    "read_agent": Operation("GET", "agents/{agent_id}", MEMBERS),
    "update_agent_profile": Operation("PATCH", "agents/{agent_id}", EDITORS, lambda t: {"name": "New", "revision": 1}),
    "delete_agent": Operation("DELETE", "agents/{agent_id}", EDITORS),
    "list_versions": Operation("GET", "agents/{agent_id}/versions", MEMBERS),
    "read_version": Operation("GET", VERSION, MEMBERS),
    "list_version_replies": Operation("GET", f"{VERSION}/replies", MEMBERS),
    "restore_version": Operation(
        "POST",
        f"{VERSION}/restore",
        EDITORS,
        lambda t: {"base_version": 2, "chat_id": t["chat_id"]},
        _save_second_version,
    ),
    "diff_versions": Operation("GET", "agents/{agent_id}/diff?a=1&b=1", MEMBERS),
    "list_locked_drafts": Operation("GET", "workspaces/{workspace_id}/locked-drafts", MEMBERS, prepare=_claim_draft),
    "diff_applied_spec": Operation(
        "GET", "chats/{chat_id}/messages/{message_id}/diff", MEMBERS, prepare=_apply_draft_and_find_message
    ),
    "read_spec": Operation("GET", "agents/{agent_id}/specs/{spec_id}", MEMBERS),
    "export_agent": Operation("GET", "agents/{agent_id}/file", MEMBERS),
    "import_agent": Operation(
        "POST", "workspaces/{workspace_id}/agents/import", EDITORS, lambda t: {"text": "atelier: agent/1\nname: New"}
    ),
    "read_agent_file_schema": Operation("GET", "agent-file-schema", EVERYBODY),
    "list_approvals": Operation("GET", "me/approvals", EVERYBODY),
    "read_approval": Operation("GET", "approvals/{approval_id}", MEMBERS),
    "decide_approval": Operation(
        "POST", "approvals/{approval_id}/decide", EDITORS, lambda t: {"decision": "refused", "note": "Not now"}
    ),
    "read_memory": Operation("GET", "agents/{agent_id}/memory", MEMBERS),
    "list_notes": Operation("GET", "agents/{agent_id}/notes", MEMBERS),
    "create_note": Operation("POST", "agents/{agent_id}/notes", EDITORS, lambda t: {"text": "Tea costs three."}),
    "edit_note": Operation("PATCH", "notes/{note_id}", EDITORS, lambda t: {"revision": 1, "text": "Tea costs four."}),
    "forget_note": Operation("POST", "notes/{note_id}/forget", EDITORS, lambda t: {"revision": 1}),
    "restore_note": Operation("POST", "notes/{note_id}/restore", EDITORS),
    "list_note_revisions": Operation("GET", "notes/{note_id}/revisions", MEMBERS),
    "list_history": Operation("GET", "agents/{agent_id}/history", MEMBERS),
    "clear_history": Operation("POST", "agents/{agent_id}/history/clear", EDITORS),
    "undo_clearing": Operation("POST", "clearings/{clearing_id}/undo", EDITORS),
    "read_memory_of_run": Operation("GET", "runs/{run_id}/memory", MEMBERS),
    "list_files": Operation("GET", "workspaces/{workspace_id}/files", MEMBERS),
    "upload_workspace_file": Operation("POST", "workspaces/{workspace_id}/files", MEMBERS, _upload),
    "list_chat_files": Operation("GET", "chats/{chat_id}/files", MEMBERS),
    "upload_file": Operation("POST", "chats/{chat_id}/files", MEMBERS, _upload),
    "read_file": Operation("GET", "files/{file_id}", MEMBERS),
    "delete_file": Operation("DELETE", "files/{file_id}", MEMBERS),
    "post_file": Operation("POST", "files/{file_id}/post", {**MEMBERS, "alice": 404}, prepare=_an_unposted_file),
    "read_file_text": Operation("GET", "files/{file_id}/text", MEMBERS),
    "download_file": Operation("GET", "files/{file_id}/content", MEMBERS, prepare=_store_file),
    "read_file_thumbnail": Operation("GET", "files/{file_id}/thumbnail", MEMBERS, prepare=_store_file),
    "list_chats": Operation("GET", "workspaces/{workspace_id}/chats", MEMBERS),
    "create_chat": Operation(
        "POST", "workspaces/{workspace_id}/chats", MEMBERS, lambda t: {"title": "New", "actor_ids": [t["agent_id"]]}
    ),
    "open_direct_chat": Operation(
        "POST", "workspaces/{workspace_id}/direct-chats", MEMBERS, lambda t: {"actor_id": t["agent_id"]}
    ),
    "list_chats_between_agents": Operation("GET", "workspaces/{workspace_id}/chats-between-agents", MEMBERS),
    # The chat of the table can be left.
    "hide_chat": Operation("PUT", "chats/{chat_id}/hidden", {**MEMBERS, "alice": 409, "bob": 409}),
    "mute_chat": Operation("PUT", "chats/{chat_id}/muted", MEMBERS, lambda t: {"until": None}),
    "unmute_chat": Operation("DELETE", "chats/{chat_id}/muted", MEMBERS),
    "archive_chat": Operation("PUT", "chats/{chat_id}/archived", MEMBERS),
    "restore_chat": Operation("DELETE", "chats/{chat_id}/archived", MEMBERS),
    "read_chat": Operation("GET", "chats/{chat_id}", MEMBERS),
    "rename_chat": Operation("PATCH", "chats/{chat_id}", MEMBERS, lambda t: {"title": "New"}),
    "read_changes": Operation("GET", "chats/{chat_id}/changes", MEMBERS),
    "read_summary": Operation("GET", "chats/{chat_id}/summary", MEMBERS),
    "request_summary": Operation("POST", "chats/{chat_id}/summary", {**MEMBERS, "alice": 409, "bob": 409}),
    "correct_sentence": Operation(
        "PUT", "chats/{chat_id}/summary/sentences/{sentence_id}", MEMBERS, lambda t: {"text": "The deposit is 9."}
    ),
    "undo_correction": Operation("DELETE", "chats/{chat_id}/summary/corrections/{correction_id}", MEMBERS),
    "read_embedding_model": Operation("GET", "workspaces/{workspace_id}/embedding-model", MEMBERS),
    "set_embedding_model": Operation(
        "PUT", "workspaces/{workspace_id}/embedding-model", EDITORS, lambda t: EMBEDDING_MODEL
    ),
    "delete_embedding_model": Operation("DELETE", "workspaces/{workspace_id}/embedding-model", EDITORS),
    "read_context_settings": Operation("GET", "workspaces/{workspace_id}/context", MEMBERS),
    "change_context_settings": Operation(
        "PUT", "workspaces/{workspace_id}/context", EDITORS, lambda t: {"strategy": "retrieve", "revision": 1}
    ),
    "read_board_settings": Operation("GET", "workspaces/{workspace_id}/boards", MEMBERS),
    "change_board_settings": Operation(
        "PUT", "workspaces/{workspace_id}/boards", EDITORS, lambda t: {"ask_above_micro": 2_000_000, "revision": 1}
    ),
    "search_messages": Operation("GET", "workspaces/{workspace_id}/messages?q=hello", MEMBERS),
    "list_messages": Operation("GET", "chats/{chat_id}/messages", MEMBERS),
    "post_message": Operation(
        "POST",
        "chats/{chat_id}/messages",
        MEMBERS,
        lambda t: {"id": str(new_id()), "text": "hi", "reply_to": t["message_id"]},
    ),
    "read_message": Operation("GET", "messages/{message_id}", MEMBERS),
    "edit_message": Operation(
        "PATCH",
        "messages/{message_id}",
        {**MEMBERS, "bob": 403},
        lambda t: {"text": "hello again", "edited_at": None},
    ),
    "delete_message": Operation("DELETE", "messages/{message_id}", {**MEMBERS, "bob": 403}),
    "list_message_revisions": Operation("GET", "messages/{message_id}/revisions", MEMBERS),
    "pin_message": Operation("PUT", "chats/{chat_id}/messages/{message_id}/pin", MEMBERS),
    "unpin_message": Operation("DELETE", "chats/{chat_id}/messages/{message_id}/pin", MEMBERS),
    "add_reaction": Operation("PUT", "chats/{chat_id}/messages/{message_id}/reactions/👍", MEMBERS),
    "remove_reaction": Operation("DELETE", "chats/{chat_id}/messages/{message_id}/reactions/👍", MEMBERS),
    "give_thumb": Operation(
        "PUT",
        "chats/{chat_id}/messages/{message_id}/thumb",
        MEMBERS,
        lambda t: {"value": "down", "reason": "wrong_fact", "text": "We are 14."},
        prepare=_make_answer,
    ),
    "take_back_thumb": Operation(
        "DELETE", "chats/{chat_id}/messages/{message_id}/thumb", MEMBERS, prepare=_make_answer
    ),
    "list_own_thumbs": Operation("GET", "chats/{chat_id}/thumbs", MEMBERS),
    "list_agent_thumbs": Operation("GET", "agents/{agent_id}/thumbs?value=down", EDITORS),
    "count_agent_thumbs": Operation("GET", "agents/{agent_id}/thumbs/counts", EDITORS),
    "list_pins": Operation("GET", "chats/{chat_id}/pins", MEMBERS),
    "preview_wakes": Operation("POST", "chats/{chat_id}/wakes", MEMBERS, lambda t: {"text": "hi"}),
    "wake_agent": Operation("POST", "chats/{chat_id}/agents/{agent_id}/wake", MEMBERS, lambda t: {"id": str(new_id())}),
    "list_boards": Operation("GET", "chats/{chat_id}/boards", MEMBERS),
    "create_board": Operation(
        "POST",
        "chats/{chat_id}/boards",
        MEMBERS,
        lambda t: {
            "id": str(new_id()),
            "user_input": "Kyoto",
            "tasks": [{"agent_id": t["agent_id"], "description": "Find dry days"}],
        },
    ),
    "estimate_board": Operation(
        "POST", "chats/{chat_id}/boards/estimate", MEMBERS, lambda t: {"agent_ids": [t["agent_id"]]}
    ),
    "read_board": Operation("GET", "boards/{board_id}", MEMBERS),
    "list_board_results": Operation("GET", "boards/{board_id}/results", MEMBERS),
    # The board is Alice's.
    "start_board": Operation("POST", "boards/{board_id}/start", EDITORS),
    "stop_board": Operation("POST", "boards/{board_id}/stop", EDITORS),
    "pause_board": Operation("POST", "boards/{board_id}/pause", EDITORS),
    "resume_board": Operation("POST", "boards/{board_id}/resume", EDITORS, lambda t: {"limit_micro": 1_000_000}),
    "answer_board": Operation(
        "POST", "boards/{board_id}/answer", EDITORS, prepare=_change_board(state="executing", started_at=now())
    ),
    "retry_board_task": Operation("POST", "boards/{board_id}/tasks/1/retry", EDITORS, prepare=_fail_task),
    "decide_equal_calls": Operation(
        "POST",
        "boards/{board_id}/approvals/{approval_id}/decide",
        EDITORS,
        lambda t: {"decision": "refused"},
        prepare=_ask_in_task,
    ),
    "fork_board": Operation(
        "POST",
        "boards/{board_id}/fork",
        EDITORS,
        lambda t: {"id": str(new_id()), "number": 1},
        prepare=_change_board(state="failed", reason_code="stopped", ended_at=now()),
    ),
    "list_schedules": Operation("GET", "agents/{agent_id}/schedules", MEMBERS),
    "create_schedule": Operation(
        "POST",
        "chats/{chat_id}/agents/{agent_id}/schedules",
        EDITORS,
        lambda t: {
            "id": str(new_id()),
            "name": "Morning",
            "instructions": "Sum up.",
            "expression": "0 8 * * *",
            "time_zone": "Asia/Taipei",
        },
    ),
    "change_schedule": Operation(
        "PATCH", "schedules/{schedule_id}", EDITORS, lambda t: {"revision": 1, "name": "Evening"}
    ),
    "delete_schedule": Operation("DELETE", "schedules/{schedule_id}", EDITORS),
    "run_schedule_now": Operation("POST", "schedules/{schedule_id}/run", EDITORS, lambda t: {"id": str(new_id())}),
    "preview_schedule": Operation(
        "POST", "schedules/preview", EVERYBODY, lambda t: {"expression": "@daily", "time_zone": "Asia/Taipei"}
    ),
    "list_participants": Operation("GET", "chats/{chat_id}/participants", MEMBERS),
    "add_participant": Operation(
        "POST",
        "chats/{chat_id}/participants",
        {**MEMBERS, "alice": 409, "bob": 409},
        lambda t: {"actor_id": t["actor_id"]},
    ),
    "set_response": Operation(
        "PATCH", "chats/{chat_id}/participants/{agent_id}", MEMBERS, lambda t: {"response": "always"}
    ),
    "remove_participant": Operation("DELETE", "chats/{chat_id}/participants/{agent_id}", MEMBERS),
    "mark_read": Operation("PUT", "chats/{chat_id}/read", MEMBERS, lambda t: {"seq": 1}),
    "list_links": Operation("GET", "chats/{chat_id}/links", EDITORS),
    "create_link": Operation("POST", "chats/{chat_id}/links", EDITORS, lambda t: {"role": "suggester"}),
    "list_member_links": Operation("GET", "workspaces/{workspace_id}/members/{actor_id}/links", EDITORS),
    "revoke_link": Operation("DELETE", "links/{link_id}", EDITORS),
    "read_invitation": Operation("GET", "join/{token}", ANYONE),
    "accept_invitation": Operation("POST", "join/{token}", EVERYBODY),
    "read_draft": Operation("GET", DRAFT, MEMBERS, prepare=_claim_draft),
    "write_draft": Operation("PUT", DRAFT, MEMBERS, _build_content(revision=1), _claim_draft),
    "list_draft_snapshots": Operation("GET", f"{DRAFT}/snapshots", MEMBERS, prepare=_claim_draft),
    "read_lock_waiter": Operation("GET", f"{DRAFT}/lock-waiter", MEMBERS, prepare=_claim_draft_of_other_person),
    "set_lock_waiter": Operation(
        "PUT", f"{DRAFT}/lock-waiter", MEMBERS, lambda t: {"wants_notice": True}, _claim_draft_of_other_person
    ),
    "request_draft": Operation("POST", f"{DRAFT}/request", MEMBERS, prepare=_claim_draft_of_other_person),
    "read_draft_suggestions": Operation("GET", f"{DRAFT}/suggestions", MEMBERS, prepare=_claim_draft),
    "read_draft_trial": Operation("GET", f"{DRAFT}/trial", MEMBERS, prepare=_claim_draft),
    "hand_over_draft": Operation(
        "POST",
        f"{DRAFT}/hand-over",
        MEMBERS,
        lambda t: {"revision": t["revision"], "to": t["requester_id"]},
        _claim_requested_draft,
    ),
    "apply_draft": Operation("POST", f"{DRAFT}/apply", MEMBERS, _build_revision(), _claim_draft),
    "save_draft": Operation("POST", f"{DRAFT}/save", EDITORS, _build_revision(base_version=1), _claim_draft),
    "rebase_draft": Operation("POST", f"{DRAFT}/rebase", MEMBERS, _build_revision(), _claim_draft),
    "discard_draft": Operation("POST", f"{DRAFT}/discard", MEMBERS, _build_revision(), _claim_draft),
    "release_draft": Operation("POST", f"{DRAFT}/release", MEMBERS, _build_revision(), _claim_draft),
    "start_comparison": Operation(
        "POST",
        "chats/{chat_id}/agents/{agent_id}/comparisons",
        MEMBERS,
        lambda t: {"id": str(new_id()), "text": "hi", "revision": t["revision"]},
        _apply_draft,
    ),
    "vote": Operation(
        "POST",
        "chats/{chat_id}/comparisons/{comparison_id}/vote",
        MEMBERS,
        lambda t: {"choice": "draft"},
        _start_comparison,
    ),
    "list_directory": Operation("GET", "directory", EVERYBODY, prepare=_publish),
    "read_public_agent": Operation("GET", PUBLIC_AGENT, EVERYBODY, prepare=_publish),
    "try_public_agent": Operation(
        "POST", f"{PUBLIC_AGENT}/try", MEMBERS, lambda t: {"workspace_id": t["workspace_id"]}, _publish
    ),
    "report_public_agent": Operation(
        "POST", f"{PUBLIC_AGENT}/reports", EVERYBODY | {"alice": 403}, lambda t: {"reason": "misleading"}, _publish
    ),
    "preview_takedown": Operation("GET", f"{PUBLIC_AGENT}/takedown", PUBLISHERS, prepare=_publish),
    "take_down_public_agent": Operation(
        "POST", f"{PUBLIC_AGENT}/takedown", PUBLISHERS, lambda t: {"reason": "It is wrong."}, _publish
    ),
    "publish_agent": Operation("POST", "agents/{agent_id}/publish", EDITORS, lambda t: LISTING | {"handle": "new"}),
    "read_publication": Operation("GET", "agents/{agent_id}/publication", EDITORS),
    "update_publication": Operation(
        "PUT", "agents/{agent_id}/publication", EDITORS, lambda t: LISTING, _change_and_publish
    ),
    "check_listing": Operation(
        "POST", "agents/{agent_id}/publication/listing-check", EDITORS, lambda t: {"description": "Sings."}
    ),
    "list_public_use": Operation("GET", "agents/{agent_id}/publication/use", EDITORS, prepare=_publish),
    "read_own_agent": Operation("GET", "agents/me", dict.fromkeys(("alice", "bob", "charlie"), 403) | {"nobody": 401}),
    "list_wakes": Operation("GET", "agents/me/wakes", EVERYBODY),
    "read_access": Operation("GET", "agents/{agent_id}/access", EDITORS, by_token=False),
    "set_access": Operation(
        "PATCH", "agents/{agent_id}/access", EDITORS, lambda t: {"runs_outside": True}, by_token=False
    ),
    "list_agent_tokens": Operation("GET", "agents/{agent_id}/tokens", EDITORS, by_token=False),
    "create_agent_token": Operation(
        "POST", "agents/{agent_id}/tokens", EDITORS, lambda t: {"name": "Bot"}, by_token=False
    ),
    "revoke_agent_token": Operation("DELETE", "agents/{agent_id}/tokens/{agent_token_id}", EDITORS, by_token=False),
    "list_webhooks": Operation("GET", "agents/{agent_id}/webhooks", EDITORS, by_token=False),
    "create_webhook": Operation(
        "POST", "agents/{agent_id}/webhooks", EDITORS, lambda t: {"url": "https://bot.example.com/wake"}, by_token=False
    ),
    "set_webhook_enabled": Operation("PATCH", WEBHOOK, EDITORS, lambda t: {"is_enabled": False}, by_token=False),
    "delete_webhook": Operation("DELETE", WEBHOOK, EDITORS, by_token=False),
    "rotate_webhook_secret": Operation("POST", f"{WEBHOOK}/secret", EDITORS, by_token=False),
    "list_deliveries": Operation("GET", f"{WEBHOOK}/deliveries", EDITORS, by_token=False),
    "send_webhook_test": Operation("POST", f"{WEBHOOK}/deliveries", EDITORS, by_token=False),
    "send_delivery_again": Operation("POST", f"{WEBHOOK}/deliveries/{{delivery_id}}", EDITORS, by_token=False),
    "list_notifications": Operation("GET", "notifications", EVERYBODY),
    "count_notifications": Operation("GET", "notifications/count", EVERYBODY),
    "mark_notifications_read": Operation("POST", "notifications/read", EVERYBODY),
    "list_runs": Operation("GET", "chats/{chat_id}/runs", MEMBERS),
    "read_run": Operation("GET", "runs/{run_id}", MEMBERS),
    "move_agent": Operation("PUT", "agents/{agent_id}/parent", EDITORS, lambda things: {"parent_id": None}),
    "list_agent_runs": Operation("GET", "agents/{agent_id}/runs", MEMBERS),
    "inspect_run": Operation("GET", "runs/{run_id}/inspection", MEMBERS),
    "read_sent_request": Operation("GET", "runs/{run_id}/requests/{request_id}", EDITORS),
    "read_viewpoint": Operation("GET", "agents/{agent_id}/viewpoint", EDITORS),
    "stop_run": Operation("POST", "runs/{run_id}/stop", MEMBERS, prepare=_queue_run),
    "retry_run": Operation("POST", "runs/{run_id}/retry", MEMBERS),
    "request_other_answer": Operation("POST", "runs/{run_id}/other-answer", MEMBERS, prepare=_make_answered_run),
    "choose_answer": Operation("PUT", "runs/{run_id}/chosen", MEMBERS, prepare=_make_two_answers),
    "suggest_draft": Operation(
        "POST", f"{DRAFT}/suggest", MEMBERS, _build_revision(note="Please"), _claim_changed_draft
    ),
    "suggest_spec": Operation(
        "POST",
        "chats/{chat_id}/agents/{agent_id}/suggestions",
        MEMBERS,
        lambda t: {"id": str(new_id()), "content": {"prompt": "New"}, "base_version": 1, "note": "Please"},
    ),
    "list_suggestions": Operation("GET", "workspaces/{workspace_id}/suggestions", MEMBERS),
    "count_suggestions": Operation("GET", "workspaces/{workspace_id}/suggestions/count", MEMBERS),
    "read_suggestion": Operation("GET", SUGGESTION, MEMBERS),
    "reject_suggestion": Operation("POST", f"{SUGGESTION}/reject", EDITORS, lambda t: {"reason": "No"}),
    "withdraw_suggestion": Operation("POST", f"{SUGGESTION}/withdraw", {**MEMBERS, "alice": 403}),
    "summarize_suggestion": Operation("POST", f"{SUGGESTION}/summarize", MEMBERS),
    "accept_suggestion": Operation(
        "POST", f"{SUGGESTION}/accept", EDITORS, lambda t: {"id": str(new_id()), "chat_id": t["chat_id"]}
    ),
    "merge_suggestions": Operation(
        "POST",
        "agents/{agent_id}/merges",
        EDITORS,
        lambda t: {"id": str(new_id()), "suggestion_ids": [t["suggestion_id"]], "chat_id": t["chat_id"]},
    ),
    "list_merges": Operation("GET", "workspaces/{workspace_id}/merges", MEMBERS),
    "read_merge": Operation("GET", "merges/{merge_id}", MEMBERS),
    "stop_merge": Operation("POST", "merges/{merge_id}/stop", EDITORS, prepare=_set_merge_waiting),
    "retry_merge": Operation("POST", "merges/{merge_id}/retry", EDITORS),
}
