"""What the outside fuzzer (schemathesis) is told of the API besides its schema: who asks, and ids that exist.

It is loaded by the fuzzer's own process; `test_schema_from_outside.py` starts that beside a running stack.
"""

import os
import re
from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import schemathesis
from schemathesis import AuthContext, Case, CheckContext, GenerationMode, HookContext, Response
from schemathesis.core.failures import Failure
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase

from common.ids import new_id
from common.shapes import WRONG_SHAPE
from tests.stories.integrator import PASSWORD, Integrator

IS_STRANGER = os.environ.get("ATELIER_FUZZ_AS") == "stranger"

UNSAYABLE = {
    "This is no email address.", "This is your address already.", "This is not your password.",
    "Somebody you named is not in this workspace.", "Only an agent can be set to answer when mentioned, or always.",
    "This is not a cursor of this list.", "This provider needs a key.", "An agent has no memory of its own yet.",
    "A chat has at most",
}  # fmt: skip
"""Refusals of a request that fits the schema: they depend on what is stored, or on a grammar that no schema knows."""
UNSAYABLE_CODES = {"wrong_password", "host_refused", "model_unusable", "file_unreadable"}
UNSAYABLE_HINTS = re.compile(
    # One character as people count them; tools that are listed once, and which there are; three parameters that exclude
    # each other.
    r"avatar\.|Each tool can be listed once|There is no tool named|The settings of the tool|"
    r"Give `before`, `after` or `around`"
)


@cache
def people() -> tuple[Integrator, Integrator, Integrator]:
    """Alice, who owns what is asked for; Bob, who may suggest; Charlie, who is nowhere."""
    stack: Any = SimpleNamespace(address=os.environ["ATELIER_FUZZ_ADDRESS"])
    alice, bob, charlie = (Integrator(stack, name) for name in ("Alice", "Bob", "Charlie"))
    return alice, bob, charlie


@schemathesis.auth()
class Asker:
    """Who sends what the fuzzer makes up: Alice, or a stranger to her workspaces."""

    def get(self, case: Case[Any], context: AuthContext) -> str:
        alice, _, charlie = people()
        return str((charlie if IS_STRANGER else alice).http.headers["X-Session-Token"])

    def set(self, case: Case[Any], data: str, context: AuthContext) -> None:
        case.headers["X-Session-Token"] = data


def a_world(name: str) -> dict[str, Any]:
    """A workspace of Alice's with everything that a path or a body of this operation may name."""
    alice, bob, _ = people()
    workspace = alice.ok("POST", "workspaces", {"name": "Lighthouse"})
    agent = alice.ok("POST", f"workspaces/{workspace['id']}/agents", {"name": "Robin", "open_chat": True})
    chat, robin = agent["chat_id"], agent["actor"]["id"]
    link = alice.ok("POST", f"chats/{chat}/links", {"role": "suggester"})
    token = link["url"].rsplit("/", 1)[1]
    bob.ok("POST", f"join/{token}")
    said = alice.post(chat, "hello")
    runs = alice.ok("GET", f"chats/{chat}/runs?state=all")["results"]
    world = {
        "workspace_id": workspace["id"], "chat_id": chat, "agent_id": robin, "actor_id": bob.id, "link_id": link["id"],
        "token": token, "message_id": said["id"], "run_id": runs[0]["id"] if runs else str(new_id()), "number": 1,
        "spec_id": alice.ok("GET", f"agents/{robin}/versions")["results"][0]["id"], "revision": 1,
    }  # fmt: skip
    if name == "revoke_token":
        for token in alice.ok("GET", "me/tokens")["results"]:  # nobody may have many
            alice.ok("DELETE", f"me/tokens/{token['id']}")
        world["token_id"] = alice.ok("POST", "me/tokens", {"name": "Mine", "password": PASSWORD})["token"]["id"]
    return world | _suggested(chat, robin) if "suggestion" in name or "merge" in name else world


def _suggested(chat: str, robin: str) -> dict[str, str]:
    """Two suggestions, of which the second is being merged."""
    alice, bob, _ = people()
    suggestions = [
        bob.ok(
            "POST", f"chats/{chat}/agents/{robin}/suggestions",
            {"id": str(new_id()), "content": {"prompt": prompt}, "base_version": 1},
        )["id"]
        for prompt in ("Newer", "Newest")
    ]  # fmt: skip
    body = {"id": str(new_id()), "chat_id": chat, "suggestion_ids": suggestions[1:]}
    _free_alice()
    HELD.append(f"/api/v1/chats/{chat}/agents/{robin}/draft")
    merge = alice.ok("POST", f"agents/{robin}/merges", body)
    return {"suggestion_id": suggestions[0], "merge_id": merge["id"]}


WORLDS: dict[str, dict[str, Any]] = {}
"""By operation, so that what one destroys another still has."""
DESTROYS = {
    "delete_agent", "remove_member", "change_role", "remove_chat_member", "leave_workspace", "revoke_link", "revoke_token",
    "stop_run", "retry_run", "stop_merge", "retry_merge", "merge_suggestions", "accept_suggestion", "reject_suggestion",
    "withdraw_suggestion", "save_draft", "restore_version", "accept_invitation", "hand_over_draft",
}  # fmt: skip


HELD: list[str] = []
"""The drafts that Alice may hold: one at a time."""


def _free_alice(but: str = "") -> None:
    """Let Alice hold no draft, except one."""
    alice = people()[0]
    for path in [path for path in HELD if path != but]:
        answer = alice.http.get(path)
        if answer.status_code == 200:
            alice.http.post(f"{path}/discard", json={"revision": answer.json()["revision"]})
        HELD.remove(path)


def _hold_draft(world: dict[str, Any]) -> None:
    """Let Alice hold the draft, and know its revision."""
    path = f"/api/v1/chats/{world['chat_id']}/agents/{world['agent_id']}/draft"
    _free_alice(but=path)
    if path not in HELD:
        HELD.append(path)
    answer = people()[0].http.put(path, json={"revision": None})
    if answer.status_code == 409:
        answer = people()[0].http.get(path)
    world["revision"] = answer.json().get("revision", 1)


def _ask_for_draft(world: dict[str, Any]) -> None:
    _hold_draft(world)
    people()[1].http.post(f"/api/v1/chats/{world['chat_id']}/agents/{world['agent_id']}/draft/request")
    world["to"] = world["actor_id"]


def _apply_draft(world: dict[str, Any]) -> None:
    alice = people()[0]
    _hold_draft(world)
    path = f"/api/v1/chats/{world['chat_id']}/agents/{world['agent_id']}/draft/apply"
    alice.http.post(path, json={"revision": world["revision"]})


def _compare(world: dict[str, Any]) -> None:
    alice = people()[0]
    if "comparison_id" not in world:
        world["comparison_id"] = str(new_id())
        _hold_draft(world)
        path = f"/api/v1/chats/{world['chat_id']}/agents/{world['agent_id']}"
        content = {"prompt": "Compared"}
        draft = alice.http.put(f"{path}/draft", json={"content": content, "revision": world["revision"]}).json()
        alice.http.post(f"{path}/draft/apply", json={"revision": draft.get("revision", 1)})
        alice.http.post(f"{path}/comparisons", json={"id": world["comparison_id"], "text": "hello"})


def _read_revision(path: str) -> Callable[[dict[str, Any]], None]:
    def prepare(world: dict[str, Any]) -> None:
        answer = people()[0].http.get("/api/v1/" + path.format(**world))
        world["revision"] = answer.json().get("revision", 0) if answer.status_code == 200 else 0

    return prepare


PREPARED: dict[str, Callable[[dict[str, Any]], None]] = dict.fromkeys(
    ["write_draft", "save_draft", "rebase_draft", "discard_draft", "release_draft", "apply_draft", "suggest_draft",
     "read_draft", "read_draft_trial", "list_draft_snapshots"],
    _hold_draft,
) | {
    "hand_over_draft": _ask_for_draft, "start_comparison": _apply_draft, "vote": _compare,
    "rename_agent": _read_revision("agents/{agent_id}"), "set_model": _read_revision("workspaces/{workspace_id}/model"),
    "rename_workspace": _read_revision("workspaces/{workspace_id}"),
}  # fmt: skip


def _name_of(case: Case[Any]) -> str:
    return str(case.operation.definition.raw["operationId"])


def _is_positive(case: Case[Any], place: ParameterLocation) -> bool:
    component = case.meta.components.get(place) if case.meta else None
    return component is not None and component.mode == GenerationMode.POSITIVE


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    """Let most requests that fit name what there is; the others stay as they were made."""
    name = _name_of(case)
    body: Any = case.body
    if name in ("test_model", "set_model") and isinstance(body, dict) and body.get("provider") not in (None, "demo"):
        # Nobody outside is asked.
        body["provider"] = "openai_compatible" if body.get("api_base") else "demo"
    if int(case.id.encode().hex()[-6:], 16) % 8 == 0:
        return
    if name not in WORLDS:
        WORLDS[name] = a_world(name)
    world = WORLDS[name]
    fits = not isinstance(body, dict) or _is_positive(case, ParameterLocation.BODY)
    if name in PREPARED and fits:
        PREPARED[name](world)
    if _is_positive(case, ParameterLocation.PATH):
        for key in case.path_parameters:
            if key in world:
                case.path_parameters[key] = world[key]
    if isinstance(body, dict) and fits:
        _name_things(body, world, is_boundary=case.meta is not None and case.meta.phase.name == TestPhase.COVERAGE)


def _name_things(body: dict[str, Any], world: dict[str, Any], *, is_boundary: bool) -> None:
    things = {
        "chat_id": world["chat_id"], "actor_id": world["agent_id"], "to": world.get("to"), "reply_to": world["message_id"],
        "password": PASSWORD, "suggestion_ids": [world.get("suggestion_id")], "member_ids": [world["agent_id"]],
    }  # fmt: skip
    if not is_boundary:
        things |= {"revision": world["revision"], "base_version": 1}
    for key, value in things.items():
        if value is not None and body.get(key) is not None:
            body[key] = value


@schemathesis.hook
def after_call(context: HookContext, case: Case[Any], response: Response) -> None:
    if response.status_code < 300 and _name_of(case) in DESTROYS:
        WORLDS.pop(_name_of(case), None)


@schemathesis.check
def error_has_the_one_shape(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """Every refusal says a code, a message and hints, also where the request was none of ours."""
    if response.status_code >= 400 and case.method != "HEAD":
        said = response.content[:500]
        assert response.content.startswith(b'{"error":'), (
            f"{response.status_code} without the shape of errors: {said!r}"
        )
        error = response.json()["error"]
        assert (type(error["code"]), type(error["message"]), type(error["hints"])) == (str, str, list), said


OPEN = {"read_invitation", "accept_invitation"}


@schemathesis.check
def stranger_gets_nothing(context: CheckContext, response: Response, case: Case[Any]) -> None:
    """What names something of Alice's in its path is not there for Charlie."""
    name = _name_of(case)
    if (
        IS_STRANGER
        and name not in OPEN
        and set(case.path_parameters.values()) & set(WORLDS.get(name, {}).values()) - {1}
    ):
        assert response.status_code >= 400, f"{response.status_code} for a stranger"


@schemathesis.hook
def filter_failure(context: HookContext, failure: Failure, case: Case[Any], response: Response) -> bool:
    """A refusal that no schema can foresee is no failure of the schema."""
    if response.status_code != 400 or "RejectedPositiveData" not in type(failure).__name__:
        return True
    error = response.json()["error"]
    said = [error["message"], *error["hints"]] if error["message"] == WRONG_SHAPE else [error["message"]]
    return not (
        error["code"] in UNSAYABLE_CODES
        or any(error["message"].startswith(start) for start in UNSAYABLE)
        or (said[1:] or said)
        and all(UNSAYABLE_HINTS.search(one) for one in said[1:] or said)
    )
