"""Hooks of the fuzzer schemathesis: they sign its requests in, and insert ids that exist.

The fuzzer's process loads this module; `test_schema_from_outside.py` starts it beside a running stack.
"""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import schemathesis
from schemathesis import AuthContext, Case, CheckContext, GenerationMode, HookContext, Response
from schemathesis.core.failures import Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase

from common.ids import new_id
from common.request_types import INVALID_REQUEST
from tests.stories.integrator import PASSWORD, Integrator

IS_STRANGER = os.environ.get("ATELIER_FUZZ_AS") == "stranger"

UNFORESEEABLE = {
    "This is no email address.",
    "This is your email already.",
    "This is not your password.",
    "Somebody you named is not in this workspace.",
    "Only an agent can be set to answer mentions, always, or never.",
    "This is not a cursor of this list.",
    "This provider needs a key.",
    "A chat has at most",
    "This is not the name of the workspace.",
    "A budget of a person needs a member",
    "This note belongs to no chat.",
    "The name of a public agent has no invisible characters.",
    "The address must not have a query or a fragment.",
    "A schedule has a name, and says what the agent is to do.",  # nothing but invisible characters
    "A budget for a run has the period",
    "A budget has one limit, either in dollars or in tokens.",
    "Give the address of the document or its text.",
    "A period has between 1 and",
    "There is no such time zone.",
    "The file is empty.",
    "The demo model is not an own model.",
    "Only an answer of an agent can be called good or bad.",
    "Only a bad answer has a reason.",
}
"""Refusals of requests that match the schema. They depend on stored data, on several fields together, or on a grammar that a schema
cannot express."""
UNFORESEEABLE_CODES = {"wrong_password", "host_refused", "model_unusable", "file_unreadable", "schedule_invalid"}
UNFORESEEABLE_HINTS = re.compile(
    # A single grapheme; unique and existing tools; three parameters that exclude each other.
    r"avatar\.|Each tool can be listed once|There is no tool named|The settings of the tool|"
    r"Give `before`, `after` or `around`|"
    # The options of a provider.
    r" needs [a-z_]+\.$| has no option "
)


@dataclass(frozen=True)
class FuzzedInstallation:
    """The installation that another process has started."""

    url: str


@cache
def get_people() -> tuple[Integrator, Integrator, Integrator]:
    """Return Alice, who owns the objects; Bob, a suggester; and Charlie, who is in none of the workspaces."""
    stack = FuzzedInstallation(os.environ["ATELIER_FUZZ_URL"])
    alice, bob, charlie = (Integrator(stack, name) for name in ("Alice", "Bob", "Charlie"))
    return alice, bob, charlie


@schemathesis.auth()
class Sender:
    """Signs the fuzzer's requests in, as Alice or as Charlie."""

    def get(self, case: Case[Any], context: AuthContext) -> str:
        alice, _, charlie = get_people()
        return str((charlie if IS_STRANGER else alice).http.headers["X-Session-Token"])

    def set(self, case: Case[Any], data: str, context: AuthContext) -> None:
        case.headers["X-Session-Token"] = data


def make_objects(name: str) -> dict[str, Any]:
    """Create a workspace of Alice's with all objects that a path or a body of this operation may name. Return their ids."""
    alice, bob, _ = get_people()
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})
    agent = alice.ok("POST", f"workspaces/{workspace['id']}/agents", {"name": "Robin", "open_chat": True})
    chat, robin = agent["chat_id"], agent["actor"]["id"]
    link = alice.ok("POST", f"chats/{chat}/links", {"role": "suggester"})
    token = link["url"].rsplit("/", 1)[1]
    bob.ok("POST", f"join/{token}")
    message = alice.post(chat, "hello")
    runs = alice.ok("GET", f"chats/{chat}/runs?state=all")["results"]
    objects = {
        "workspace_id": workspace["id"],
        "chat_id": chat,
        "agent_id": robin,
        "actor_id": bob.id,
        "link_id": link["id"],
        "token": token,
        "message_id": message["id"],
        "run_id": runs[0]["id"] if runs else str(new_id()),
        "number": 1,
        "request_id": str(new_id()),
        "spec_id": alice.ok("GET", f"agents/{robin}/versions")["results"][0]["id"],
        "revision": 1,
    }
    if name == "revoke_token":
        for token in alice.ok("GET", "me/tokens")["results"]:  # the number of tokens is limited
            alice.ok("DELETE", f"me/tokens/{token['id']}")
        objects["token_id"] = alice.ok("POST", "me/tokens", {"name": "Mine", "password": PASSWORD})["token"]["id"]
    return objects | _make_suggestions(chat, robin) if "suggestion" in name or "merge" in name else objects


def _make_suggestions(chat: str, robin: str) -> dict[str, str]:
    """Create two suggestions, and merge the second one."""
    alice, bob, _ = get_people()
    suggestions = [
        bob.ok(
            "POST",
            f"chats/{chat}/agents/{robin}/suggestions",
            {"id": str(new_id()), "content": {"prompt": prompt}, "base_version": 1},
        )["id"]
        for prompt in ("Newer", "Newest")
    ]
    body = {"id": str(new_id()), "chat_id": chat, "suggestion_ids": suggestions[1:]}
    _discard_drafts()
    LOCKED_DRAFTS.append(f"/api/v1/chats/{chat}/agents/{robin}/draft")
    merge = alice.ok("POST", f"agents/{robin}/merges", body)
    morning = {"name": "Morning", "instructions": "Sum up.", "expression": "@daily", "time_zone": "Asia/Taipei"}
    schedule = alice.ok("POST", f"chats/{chat}/agents/{robin}/schedules", {"id": str(new_id()), **morning})
    return {"suggestion_id": suggestions[0], "merge_id": merge["id"], "schedule_id": schedule["id"]}


OBJECTS: dict[str, dict[str, Any]] = {}
"""The objects of each operation, so that the objects that one operation deletes are still there for the others."""
DESTROYS = {
    "delete_agent",
    "remove_member",
    "change_role",
    "remove_participant",
    "leave_workspace",
    "revoke_link",
    "revoke_token",
    "delete_workspace",
    "delete_schedule",
    "stop_run",
    "retry_run",
    "stop_merge",
    "retry_merge",
    "merge_suggestions",
    "accept_suggestion",
    "reject_suggestion",
    "withdraw_suggestion",
    "save_draft",
    "restore_version",
    "accept_invitation",
    "hand_over_draft",
}


LOCKED_DRAFTS: list[str] = []
"""The paths of drafts that Alice may have locked; only one at a time is allowed."""


def _discard_drafts(but: str = "") -> None:
    """Discard all drafts of Alice's, except the one with this path."""
    alice = get_people()[0]
    for path in [path for path in LOCKED_DRAFTS if path != but]:
        answer = alice.http.get(path)
        if answer.status_code == 200:
            alice.http.post(f"{path}/discard", json={"revision": answer.json()["revision"]})
        LOCKED_DRAFTS.remove(path)


def _claim_draft(objects: dict[str, Any]) -> None:
    """Claim the draft for Alice, and store its revision."""
    path = f"/api/v1/chats/{objects['chat_id']}/agents/{objects['agent_id']}/draft"
    _discard_drafts(but=path)
    if path not in LOCKED_DRAFTS:
        LOCKED_DRAFTS.append(path)
    answer = get_people()[0].http.put(path, json={"revision": None})
    if answer.status_code == 409:
        answer = get_people()[0].http.get(path)
    objects["revision"] = answer.json().get("revision", 1)


def _request_draft(objects: dict[str, Any]) -> None:
    _claim_draft(objects)
    get_people()[1].http.post(f"/api/v1/chats/{objects['chat_id']}/agents/{objects['agent_id']}/draft/request")
    objects["to"] = objects["actor_id"]


def _apply_draft(objects: dict[str, Any]) -> None:
    alice = get_people()[0]
    _claim_draft(objects)
    path = f"/api/v1/chats/{objects['chat_id']}/agents/{objects['agent_id']}/draft/apply"
    alice.http.post(path, json={"revision": objects["revision"]})


def _start_comparison(objects: dict[str, Any]) -> None:
    alice = get_people()[0]
    if "comparison_id" not in objects:
        objects["comparison_id"] = str(new_id())
        _claim_draft(objects)
        path = f"/api/v1/chats/{objects['chat_id']}/agents/{objects['agent_id']}"
        content = {"prompt": "Compared"}
        draft = alice.http.put(f"{path}/draft", json={"content": content, "revision": objects["revision"]}).json()
        alice.http.post(f"{path}/draft/apply", json={"revision": draft.get("revision", 1)})
        alice.http.post(f"{path}/comparisons", json={"id": objects["comparison_id"], "text": "hello"})


def _read_revision(path: str) -> Callable[[dict[str, Any]], None]:
    def prepare(objects: dict[str, Any]) -> None:
        answer = get_people()[0].http.get("/api/v1/" + path.format(**objects))
        objects["revision"] = answer.json().get("revision", 0) if answer.status_code == 200 else 0

    return prepare


PREPARATIONS: dict[str, Callable[[dict[str, Any]], None]] = dict.fromkeys(
    [
        "write_draft",
        "save_draft",
        "rebase_draft",
        "discard_draft",
        "release_draft",
        "apply_draft",
        "suggest_draft",
        "read_draft",
        "read_draft_trial",
        "list_draft_snapshots",
    ],
    _claim_draft,
) | {
    "hand_over_draft": _request_draft,
    "start_comparison": _apply_draft,
    "vote": _start_comparison,
    "update_agent_profile": _read_revision("agents/{agent_id}"),
    "set_model": _read_revision("workspaces/{workspace_id}/model"),
    "rename_workspace": _read_revision("workspaces/{workspace_id}"),
}


def _get_operation_id(case: Case[Any]) -> str:
    return str(case.operation.definition.raw["operationId"])


def _is_positive(case: Case[Any], place: ParameterLocation) -> bool:
    component = case.meta.components.get(place) if case.meta else None
    return component is not None and component.mode == GenerationMode.POSITIVE


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Insert existing ids into most requests that match the schema. An eighth of the requests are not changed."""
    name = _get_operation_id(case)
    body: Any = case.body
    if name in ("test_model", "set_model") and isinstance(body, dict) and body.get("provider") not in (None, "demo"):
        # No request goes to a provider.
        body["provider"] = "openai_compatible" if body.get("api_base") else "demo"
    if int(case.id.encode().hex()[-6:], 16) % 8 == 0:
        return
    if name not in OBJECTS:
        OBJECTS[name] = make_objects(name)
    objects = OBJECTS[name]
    fits = not isinstance(body, dict) or _is_positive(case, ParameterLocation.BODY)
    if name in PREPARATIONS and fits:
        PREPARATIONS[name](objects)
    if _is_positive(case, ParameterLocation.PATH):
        for key in case.path_parameters:
            if key in objects:
                case.path_parameters[key] = objects[key]
    if isinstance(body, dict) and fits:
        _insert_ids(body, objects, is_boundary=case.meta is not None and case.meta.phase.name == TestPhase.COVERAGE)


def _insert_ids(body: dict[str, Any], objects: dict[str, Any], *, is_boundary: bool) -> None:
    things = {
        "chat_id": objects["chat_id"],
        "actor_id": objects["agent_id"],
        "to": objects.get("to"),
        "reply_to": objects["message_id"],
        "password": PASSWORD,
        "suggestion_ids": [objects.get("suggestion_id")],
        "actor_ids": [objects["agent_id"]],
    }
    if not is_boundary:
        things |= {"revision": objects["revision"], "base_version": 1}
    for key, value in things.items():
        if value is not None and body.get(key) is not None:
            body[key] = value


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    if response.status_code < 300 and _get_operation_id(case) in DESTROYS:
        OBJECTS.pop(_get_operation_id(case), None)


@schemathesis.check
def errors_have_one_format(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that every error has a code, a message and hints, also those of other packages."""
    if response.status_code >= 400 and case.method != "HEAD":
        content = response.content[:500]
        assert response.content.startswith(b'{"error":'), (
            f"{response.status_code} without the format of errors: {content!r}"
        )
        error = response.json()["error"]
        assert (type(error["code"]), type(error["message"]), type(error["hints"])) == (str, str, list), content


OPEN = {"read_invitation", "accept_invitation"}


@schemathesis.check
def strangers_are_refused(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Check that Charlie gets an error for a path with an id of Alice's."""
    name = _get_operation_id(case)
    if (
        IS_STRANGER
        and name not in OPEN
        and set(case.path_parameters.values()) & set(OBJECTS.get(name, {}).values()) - {1}
    ):
        assert response.status_code >= 400, f"{response.status_code} for a stranger"


@schemathesis.hook
def filter_failure(context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
    """Return false for a refusal that no schema can foresee: it is no failure of the schema."""
    if response.status_code != 400 or "RejectedPositiveData" not in type(failure).__name__:
        return True
    error = response.json()["error"]
    texts = [error["message"], *error["hints"]] if error["message"] == INVALID_REQUEST else [error["message"]]
    return not (
        error["code"] in UNFORESEEABLE_CODES
        or any(error["message"].startswith(start) for start in UNFORESEEABLE)
        or (texts[1:] or texts)
        and all(UNFORESEEABLE_HINTS.search(one) for one in texts[1:] or texts)
    )
