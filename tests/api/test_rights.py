"""The rights of each role on every operation of the API, and the separation of teams."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from drf_spectacular.generators import SchemaGenerator

from actors import services as actors
from agents.models import AgentGrant
from agents.permissions import AgentVerb, get_agent_for
from chats import services as chats
from chats.models import ChatGrant
from chats.permissions import ChatVerb, get_chat_for
from common.errors import Forbidden
from launcher.home import ROOT
from notifications.models import Notification
from tests.api.client import Api
from tests.api.operations import OPERATIONS, PEOPLE, Operation, Things
from tests.factories.workspaces import grant_right
from tests.people import Team
from tests.realtime.tab import create_session_key
from workspaces import services as workspaces
from workspaces.grants import list_grantable_permissions
from workspaces.models import Workspace, WorkspaceGrant
from workspaces.permissions import WorkspaceVerb, get_workspace_for

PROJECT_MODELS = [
    model for app in apps.get_app_configs() if Path(app.path).parent == ROOT for model in app.get_models()
]
"""The models of all apps of this project."""


def fingerprint() -> list[tuple[str, str]]:
    """Return a hash of the contents of each of our tables."""
    create_fingerprint_function()
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM fingerprint()")
        return sorted(cursor.fetchall())


@cache
def create_fingerprint_function() -> None:
    """Create it once in the database of this process, outside the transaction of the test.

    It keeps the plans of its statements: planning a query of all tables takes twenty times as long as reading them.
    """
    tables = [model._meta.db_table for model in PROJECT_MODELS]
    statements = "\n".join(
        f"name := '{table}'; SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) INTO hash FROM \"{table}\" t; RETURN NEXT;"
        for table in tables
    )
    outside = connection.copy()
    with outside.cursor() as cursor:
        cursor.execute(
            "CREATE OR REPLACE FUNCTION fingerprint() RETURNS TABLE (name text, hash text) LANGUAGE plpgsql AS "
            f"$$ BEGIN {statements} END $$"
        )
    outside.close()


@contextmanager
def rolled_back() -> Iterator[None]:
    """Undo in the database what happens in the block."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


WAYS = ("session", "token")


def client_for(team: Team, who: str, by: str = "session") -> Api:
    api = Api()
    if who == "nobody":
        return api
    if by == "token":
        token, api.bearer = actors.create_token(team[who], name="A program", days=1)
        actors.record_token_use(token)  # not written again within the minute
    else:
        api.client.cookies[settings.SESSION_COOKIE_NAME] = create_session_key(team[who])
    return api


def send_operation(api: Api, operation: Operation, things: dict[str, Any]) -> Any:
    body = operation.body({key: str(value) if not isinstance(value, int) else value for key, value in things.items()})
    return api(operation.method, operation.path.format(**things), body)


def list_schema_operations() -> dict[str, tuple[str, str]]:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    return {
        operation["operationId"]: (method.upper(), path)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_of_the_schema_is_in_the_table():
    assert set(OPERATIONS) == set(list_schema_operations())


def get_expected_status(operation: Operation, who: str, by: str) -> int:
    return 403 if by == "token" and not operation.by_token and who != "nobody" else operation.answers[who]


def check_attempts(operation: Operation, things: Things, attempts: list[tuple[Api, int]]) -> None:
    """Send a request by each client, and compare its status with the expected one, or 2 for any success.

    A refused request changes nothing. Since each attempt is rolled back, the tables are read once before all of them.
    """
    before = fingerprint() if any(expected >= 300 for _, expected in attempts) else None
    for number, (api, expected) in enumerate(attempts):
        with rolled_back():
            answer = send_operation(api, operation, things)
            assert expected in (answer.status_code, answer.status_code // 100), (number, answer.content)
            if answer.status_code >= 300:
                assert answer.json()["error"]["code"]
                assert fingerprint() == before, number


def check_role(team: Team, things: Things, name: str, who: str) -> None:
    """A person may do what the table says, with each way to sign in."""
    operation = OPERATIONS[name]
    # An anonymous client has only one way.
    ways = WAYS if who != "nobody" else WAYS[:1]
    attempts = [(client_for(team, who, by), get_expected_status(operation, who, by)) for by in ways]
    check_attempts(operation, things, attempts)


def check_objects_of_another_team(team: Team, things: Things, name: str, who: str) -> None:
    """The status and the body are the same for another team's id and for an id that never existed."""
    operation = OPERATIONS[name]
    if not list_id_names(operation.path):
        return
    nowhere = {key: "019aa0aa-0000-7000-8000-000000000000" if key.endswith("_id") else v for key, v in things.items()}
    client = client_for(team, who)
    theirs, nobodys = send_operation(client, operation, things), send_operation(client, operation, nowhere)
    assert (theirs.status_code, theirs.content) == (nobodys.status_code, nobodys.content)


def check_member_outside_the_chat(team: Team, things: Things, name: str, who: str) -> None:
    """A member of the workspace who is not in the chat, editor or suggester, gets the same answer as a stranger."""
    if not is_in_chat(name):
        return
    for role in ("editor", "suggester"):
        is_for_editors = name in THROUGH_A_CHAT - {"restore_version"}
        refused = 403 if role == "suggester" and is_for_editors else 404
        with rolled_back():
            workspaces.join_workspace(team[who], team.workspace.id, role=role, invited_by=team.alice)
            check_attempts(OPERATIONS[name], things, [(client_for(team, who, by), refused) for by in WAYS])


def check_other_rights_of_member(team: Team, things: Things, name: str, who: str) -> None:
    """A member outside the chat has the same rights as Bob, who is a suggester, too, except for his own objects."""
    if is_in_chat(name):
        return
    workspaces.join_workspace(team[who], team.workspace.id, role="suggester", invited_by=team.alice)
    expected = {"withdraw_suggestion": 403, "summarize_suggestion": 403}.get(name, OPERATIONS[name].answers["bob"])
    check_attempts(OPERATIONS[name], things, [(client_for(team, who), expected)])


def check_agent(team: Team, things: Things, name: str, who: str) -> None:
    """Agents have no session. By a token they take part in their chats; every other operation is refused."""
    operation = OPERATIONS[name]
    session = Api()
    session.client.force_login(team.robin)
    is_open = operation.answers[who] != 401
    # The tokens of agents end with their workspace.
    refused = 401 if Workspace.objects.get(pk=team.workspace.id).deleted_at else 403
    attempts = [(session, operation.answers[who])]
    for scope in ("read", "full"):
        is_allowed = name in AGENTS_MAY and (scope == "full" or operation.method == "GET")
        expected = operation.answers[who] if is_open else 2 if is_allowed else refused
        attempts.append((build_agent_client(team, scope), expected))
    check_attempts(operation, things, attempts)


CHECKS = {
    "alice": [check_role],
    "bob": [check_role],
    "charlie": [
        check_role,
        check_objects_of_another_team,
        check_member_outside_the_chat,
        check_other_rights_of_member,
    ],
    "nobody": [check_role, check_agent],
}
"""The checks that begin with the state that an operation needs for a person."""


def build_agent_client(team: Team, scope: str = "full") -> Api:
    """Return a program with a token of the team's agent."""
    api = Api()
    token, api.bearer = actors.create_token(team.alice, name="A program", days=1, scope=scope, agent=team.robin)
    actors.record_token_use(token)
    return api


@pytest.mark.parametrize("name", OPERATIONS)
def test_SEC1_EDIT6_AGT1_each_operation_is_only_for_those_who_may(team_with_things, name):
    """EDIT6, SEC1, SEC7, AGT1: each operation is tried by each person with each way to sign in, by people outside the chat, and
    by agents; a refused request changes nothing."""
    team, things = team_with_things
    for who in PEOPLE:
        with rolled_back():
            prepared = dict(things)
            OPERATIONS[name].prepare(team, prepared, who)
            for check in CHECKS[who]:
                with rolled_back():
                    check(team, prepared, name, who)


def list_id_names(path: str) -> list[str]:
    return re.findall(r"\{(\w+_id)\}", path)


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if list_id_names(operation.path)])
def test_SEC2_one_foreign_id_in_a_path_gives_404(teams_with_things, name):
    """One id of the path at a time is another team's: an editor gets 404, and so does another team's agent (AGT1)."""
    (team, things), (others, theirs) = teams_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    if "comparison_id" in list_id_names(operation.path):
        operation.prepare(others, theirs, "alice")
    alice = client_for(team, "alice")
    for swapped in list_id_names(operation.path):
        check_attempts(operation, {**things, swapped: theirs[swapped]}, [(alice, 404)])
    if name in AGENTS_MAY:
        check_attempts(operation, things, [(build_agent_client(others), 404)])


# --- people who are in the workspace and not in the chat, people with a grant, agents -------------------------------

THROUGH_A_CHAT = {"accept_suggestion", "merge_suggestions", "restore_version"}
"""Operations that name a chat in their body. The others of a chat have its id, or that of an object in it, in their path."""


def is_in_chat(name: str) -> bool:
    path = OPERATIONS[name].path
    return name in THROUGH_A_CHAT or any(
        f"{{{key}}}" in path
        for key in (
            "chat_id",
            "message_id",
            "run_id",
            "link_id",
            "file_id",
            "approval_id",
            "note_id",
            "schedule_id",
            "board_id",
        )
    )


AGENTS_MAY = {
    "list_chats",
    "read_chat",
    "read_changes",
    "list_messages",
    "read_message",
    "post_message",
    "pin_message",
    "unpin_message",
    "add_reaction",
    "remove_reaction",
    "list_pins",
    "list_participants",
    "mark_read",
    "read_own_agent",
    "list_wakes",
}
"""The operations of an agent's API token."""


GRANTS: dict[str, set[str]] = {
    "invite_workspace": {"list_links", "create_link", "revoke_link"},
    "set_model_workspace": {
        "set_model",
        "set_model_policy",
        "test_model",
        "read_model_test",
        "change_context_settings",
        "set_embedding_model",
        "delete_embedding_model",
    },
    "create_agent_workspace": {
        "create_agent",
        "import_agent",
        "create_team",
        "propose_agent",
        "read_agent_proposal",
    },
    "stop_run_chat": {"stop_board", "pause_board"},  # the run of the table works for Bob himself
    "edit_draft_actor": set(),  # suggesters may anyway
    "save_agent_actor": {"save_draft", "restore_version"},
    "review_agent_actor": {
        "accept_suggestion",
        "merge_suggestions",
        "reject_suggestion",
        "retry_merge",
        "stop_merge",
        "list_agent_thumbs",
        "count_agent_thumbs",
    },
    "update_agent_profile_actor": {"update_agent_profile", "move_agent"},
}
GRANTABLE: list[tuple[Any, str]] = [(WorkspaceGrant, "workspace"), (ChatGrant, "chat"), (AgentGrant, "robin")]


def find_operations_allowed_by(team, things, codename: str) -> set[str]:
    """Return the operations that Bob may do with this grant and not without it."""
    target = next(
        getattr(team, where)
        for grants, where in GRANTABLE
        if list_grantable_permissions(grants).filter(codename=codename).exists()
    )
    grant_right(team.bob, codename, target)
    found = set()
    for name, operation in OPERATIONS.items():
        if operation.answers["bob"] != 403:
            continue
        with transaction.atomic():
            operation.prepare(team, things, "bob")
            answer = send_operation(client_for(team, "bob"), operation, things)
            if answer.status_code != 403:
                assert answer.status_code < 300, (name, answer.content)
                found.add(name)
            transaction.set_rollback(True)
    return found


@pytest.mark.parametrize("codename", GRANTS)
def test_EDIT6_a_grant_allows_its_operations_and_no_other(team_with_things, codename):
    team, things = team_with_things
    assert find_operations_allowed_by(team, things, codename) == GRANTS[codename]


def test_every_grant_is_in_the_table(db):
    known = {verb.codename for grants, _ in GRANTABLE for verb in list_grantable_permissions(grants)}
    assert set(GRANTS) == known


@pytest.mark.parametrize(
    ("actor", "person"), [("alice", "bob"), ("bob", "alice"), ("robin", "bob"), ("robin", "alice")]
)
def test_EDIT6_acting_for_another_person_needs_the_rights_of_both(team, actor, person):
    """It is not enough if only one of the two is an editor, and an agent has none of these rights itself."""
    who, behalf = team[actor], team[person]
    asked: list[Callable[[], Any]] = [
        lambda: get_chat_for(who, team.chat.id, ChatVerb.STOP_ANY_RUN, on_behalf_of=behalf),
        lambda: get_agent_for(who, team.robin.id, AgentVerb.SAVE, on_behalf_of=behalf),
        lambda: get_workspace_for(who, team.workspace.id, WorkspaceVerb.SET_MODEL, on_behalf_of=behalf),
    ]
    for ask in asked:
        with pytest.raises(Forbidden):
            ask()


# --- ids in bodies ----------------------------------------------------------------------------------------------------

FOREIGN = {
    ("create_note", "chat_id"): ("chat_id", 404),
    ("create_chat", "actor_ids"): ("agent_id", 400),
    ("add_participant", "actor_id"): ("actor_id", 404),
    ("open_direct_chat", "actor_id"): ("actor_id", 404),
    ("open_direct_chat", "agent_id"): ("agent_id", 404),
    ("post_message", "reply_to"): ("message_id", 404),
    ("edit_message", "wake_ids"): ("agent_id", 400),
    ("accept_suggestion", "chat_id"): ("chat_id", 404),
    ("create_budget", "subject_id"): ("agent_id", 400),
    ("merge_suggestions", "chat_id"): ("chat_id", 404),
    ("merge_suggestions", "suggestion_ids"): ("suggestion_id", 404),
    ("restore_version", "chat_id"): ("chat_id", 404),
    ("hand_over_draft", "to"): ("actor_id", 409),
    # Ignored, as an id that never was.
    ("post_file", "reply_to"): ("message_id", 404),
    ("preview_wakes", "reply_to"): ("message_id", 200),
    ("preview_wakes", "file_ids"): ("file_id", 200),
    ("import_operations", "job_id"): ("job_id", 404),
    ("try_public_agent", "workspace_id"): ("workspace_id", 404),
    ("move_agent", "parent_id"): ("agent_id", 404),
    ("create_board", "aggregator_id"): ("agent_id", 400),
    # In `tasks`: here they are unknown fields (`tests/boards/test_controls.py`).
    ("create_board", "agent_id"): ("agent_id", 400),
    ("create_board", "file_ids"): ("file_id", 400),
    ("estimate_board", "agent_ids"): ("agent_id", 200),
    ("mark_notifications_read", "ids"): ("notification_id", 200),
    ("mark_notifications_read", "up_to"): ("notification_id", 200),
}
"""By operation and field of its body: the object of another team that is put there, and the status of the response."""

OF_NOTHING = {"id", "unused_suggestions"}
"""Fields whose id the client makes (`id`: if another object has it already, the error is `id_taken`), or by which it says what it
has seen: other ids are ignored."""


def list_fields(
    shape: Any, shapes: dict[str, Any], field: str = "", seen: tuple[str, ...] = ()
) -> Iterator[tuple[str, Any]]:
    """Yield every field of a shape of the schema, at any depth, by its name."""
    if "$ref" in shape:
        name = shape["$ref"].rsplit("/", 1)[1]
        if name not in seen:
            yield from list_fields(shapes[name], shapes, field, (*seen, name))
        return
    yield field, shape
    inner = [(field, one) for key in ("anyOf", "oneOf", "allOf") for one in shape.get(key, ())]
    inner += [(field, shape["items"])] if isinstance(shape.get("items"), dict) else []
    for name, one in [*inner, *shape.get("properties", {}).items()]:
        yield from list_fields(one, shapes, name, seen)


def list_id_fields() -> set[tuple[str, str]]:
    """Return all fields of bodies in the schema that look like ids, as pairs of operation and field."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    bodies = [
        (operation["operationId"], content["schema"])
        for methods in schema["paths"].values()
        for operation in methods.values()
        for content in operation.get("requestBody", {}).get("content", {}).values()
    ]
    return {
        (name, field)
        for name, body in bodies
        for field, shape in list_fields(body, schema["components"]["schemas"])
        if shape.get("format") == "uuid" or re.search(r"(^|_)ids?$", field)
        if field not in OF_NOTHING
    }


def test_SEC3_every_id_field_of_a_body_is_in_the_table():
    assert list_id_fields() == set(FOREIGN)


@pytest.mark.parametrize(("name", "field"), FOREIGN)
def test_SEC3_a_foreign_id_in_a_body_is_refused_or_ignored(teams_with_things, name, field):
    (team, things), (others, theirs) = teams_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    key, status = FOREIGN[name, field]
    chats.post_message(others.bob, others.chat.id, text=f"@{others.alice.handle}", wake="nobody")
    theirs["notification_id"] = Notification.objects.get(person=others.alice).id
    api = client_for(team, "alice")
    texts = {key: str(value) if not isinstance(value, int) else value for key, value in things.items()}
    body = {**operation.body(texts), field: [str(theirs[key])] if field.endswith("ids") else str(theirs[key])}
    before = fingerprint()
    answer = api(operation.method, operation.path.format(**things), body)
    assert answer.status_code == status, answer.content
    assert fingerprint() == before
