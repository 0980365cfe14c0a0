"""The rights of each role on every operation of the API, and the separation of teams."""

import re
from collections.abc import Callable, Iterator
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
from notifications.models import Notification
from tests.api.client import Api
from tests.api.operations import OPERATIONS, PEOPLE, Operation
from tests.factories.workspaces import grant_right
from tests.people import Team
from tests.realtime.tab import create_session_key
from workspaces import services as workspaces
from workspaces.grants import list_grantable_permissions
from workspaces.models import WorkspaceGrant
from workspaces.permissions import WorkspaceVerb, get_workspace_for

OURS = (
    "actors",
    "agents",
    "approvals",
    "chats",
    "embeddings",
    "events",
    "files",
    "llm",
    "memory",
    "notifications",
    "publishing",
    "runs",
    "schedules",
    "suggestions",
    "tools",
    "usage",
    "webhooks",
    "workspaces",
)


def fingerprint() -> list[tuple[str, str]]:
    """Return a hash of the contents of each of our tables."""
    tables = [model._meta.db_table for model in apps.get_models() if model._meta.app_label in OURS]
    queries = (
        f"SELECT '{table}', md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM \"{table}\" t" for table in tables
    )
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(queries))
        return sorted(cursor.fetchall())


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


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_matrix_of_roles_and_actions(team_with_things, name):
    """EDIT6, SEC1, SEC7: each operation is tried by each person with each way to sign in; a refused request changes nothing."""
    team, things = team_with_things
    operation = OPERATIONS[name]
    for who in PEOPLE:
        with transaction.atomic():
            prepared = dict(things)
            operation.prepare(team, prepared, who)
            # An anonymous client has only one way.
            for by in WAYS if who != "nobody" else WAYS[:1]:
                try_operation(team, prepared, operation, who, by)
            transaction.set_rollback(True)


def try_operation(team: Team, things: dict[str, Any], operation: Operation, who: str, by: str) -> None:
    """Send a request, check its status and that a refused one changed nothing, and roll its changes back."""
    with transaction.atomic():
        api = client_for(team, who, by)
        expected = get_expected_status(operation, who, by)
        before = None if expected == 2 or 200 <= expected < 300 else fingerprint()
        answer = send_operation(api, operation, things)
        allowed = (answer.status_code, answer.status_code // 100)
        assert expected in allowed, (who, by, answer.content)
        if answer.status_code >= 300:
            assert answer.json()["error"]["code"]
            assert fingerprint() == before, (who, by)
        transaction.set_rollback(True)


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if "_id}" in operation.path])
def test_SEC1_the_objects_of_another_team_look_like_objects_that_do_not_exist(team_with_things, name):
    """The status and the body are the same for another team's id and for an id that never existed."""
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "charlie")
    nowhere = {key: "019aa0aa-0000-7000-8000-000000000000" if key.endswith("_id") else v for key, v in things.items()}
    charlie = client_for(team, "charlie")
    theirs, nobodys = send_operation(charlie, operation, things), send_operation(charlie, operation, nowhere)
    assert (theirs.status_code, theirs.content) == (nobodys.status_code, nobodys.content)


def list_id_names(path: str) -> list[str]:
    return re.findall(r"\{(\w+_id)\}", path)


@pytest.mark.parametrize(
    ("name", "swapped"),
    [(name, key) for name, operation in OPERATIONS.items() for key in list_id_names(operation.path)],
)
def test_SEC2_one_foreign_id_in_a_path_gives_404(teams_with_things, name, swapped):
    """One id of the path at a time is another team's: an editor gets 404."""
    (team, things), (others, theirs) = teams_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    if swapped == "comparison_id":
        operation.prepare(others, theirs, "alice")
    alice = client_for(team, "alice")
    before = fingerprint()
    answer = send_operation(alice, operation, {**things, swapped: theirs[swapped]})
    assert answer.status_code == 404, answer.content
    assert fingerprint() == before


# --- people who are in the workspace and not in the chat, people with a grant, agents -------------------------------

THROUGH_A_CHAT = {"accept_suggestion", "merge_suggestions", "restore_version"}
"""Operations that name a chat in their body. The others of a chat have its id, or that of an object in it, in their path."""


def is_in_chat(name: str) -> bool:
    path = OPERATIONS[name].path
    return name in THROUGH_A_CHAT or any(
        f"{{{key}}}" in path
        for key in ("chat_id", "run_id", "link_id", "file_id", "approval_id", "note_id", "schedule_id")
    )


@pytest.mark.parametrize("role", ["editor", "suggester"])
@pytest.mark.parametrize("name", [name for name in OPERATIONS if is_in_chat(name)])
def test_EDIT6_only_participants_of_a_chat_see_it_and_its_contents(team_with_things, name, role):
    """A member of the workspace who is not in the chat, editor or suggester, gets the same answer as a stranger."""
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "charlie")
    workspaces.join_workspace(team.charlie, team.workspace.id, role=role, invited_by=team.alice)
    for by in WAYS:
        with transaction.atomic():
            api = client_for(team, "charlie", by)
            before = fingerprint()
            answer = send_operation(api, operation, things)
            is_for_editors = name in THROUGH_A_CHAT - {"restore_version"}
            refused = 403 if role == "suggester" and is_for_editors else 404
            assert answer.status_code == refused, answer.content
            assert fingerprint() == before
            transaction.set_rollback(True)


@pytest.mark.parametrize("name", [name for name in OPERATIONS if not is_in_chat(name)])
def test_EDIT6_a_member_outside_the_chat_has_the_other_rights_of_their_role(team_with_things, name):
    """The same rights as Bob's, who is a suggester, too, except for his own objects."""
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "charlie")
    workspaces.join_workspace(team.charlie, team.workspace.id, role="suggester", invited_by=team.alice)
    with transaction.atomic():
        answer = send_operation(client_for(team, "charlie"), operation, things)
        wanted = {"withdraw_suggestion": 403, "summarize_suggestion": 403}.get(name, operation.answers["bob"])
        assert wanted in (answer.status_code, answer.status_code // 100), answer.content
        transaction.set_rollback(True)


AGENTS_MAY = {
    "list_chats",
    "read_chat",
    "read_changes",
    "list_messages",
    "post_message",
    "pin_message",
    "unpin_message",
    "list_pins",
    "list_participants",
    "mark_read",
    "read_own_agent",
    "list_wakes",
}
"""The operations of an agent's API token."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_AGT1_an_agent_may_do_by_its_token_only_what_the_list_says(team_with_things, name):
    """Agents have no session. By a token they take part in their chats; every other operation is refused and changes nothing."""
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "nobody")
    session, token, reader = Api(), Api(), Api()
    session.client.force_login(team.robin)
    for api, scope in ((token, "full"), (reader, "read")):
        made, api.bearer = actors.create_token(team.alice, name="A program", days=1, scope=scope, agent=team.robin)
        actors.record_token_use(made)
    is_open = operation.answers["nobody"] != 401
    for api in (session, reader, token):
        before = fingerprint()
        answer = send_operation(api, operation, things)
        wanted = 2 if name in AGENTS_MAY else 403
        if api is reader and operation.method != "GET":
            wanted = 403
        if is_open or api is session:
            wanted = operation.answers["nobody"]
        assert wanted in (answer.status_code, answer.status_code // 100), answer.content
        if answer.status_code >= 300:
            assert fingerprint() == before


@pytest.mark.parametrize("name", sorted(AGENTS_MAY))
def test_AGT1_the_token_of_another_workspaces_agent_finds_nothing(teams_with_things, name):
    (team, things), (others, _) = teams_with_things
    operation = OPERATIONS[name]
    if "{" not in operation.path:
        return
    stranger = Api()
    made, stranger.bearer = actors.create_token(others.alice, name="A program", days=1, agent=others.robin)
    actors.record_token_use(made)
    before = fingerprint()
    answer = send_operation(stranger, operation, things)
    assert answer.status_code == 404, answer.content
    assert fingerprint() == before


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
    "create_agent_workspace": {"create_agent", "import_agent"},
    "stop_run_chat": set(),  # the run of the table works for Bob himself
    "edit_draft_actor": set(),  # suggesters may anyway
    "save_agent_actor": {"save_draft", "restore_version"},
    "review_agent_actor": {
        "accept_suggestion",
        "merge_suggestions",
        "reject_suggestion",
        "retry_merge",
        "stop_merge",
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
    ("accept_suggestion", "chat_id"): ("chat_id", 404),
    ("create_budget", "subject_id"): ("agent_id", 400),
    ("merge_suggestions", "chat_id"): ("chat_id", 404),
    ("merge_suggestions", "suggestion_ids"): ("suggestion_id", 404),
    ("restore_version", "chat_id"): ("chat_id", 404),
    ("hand_over_draft", "to"): ("actor_id", 409),
    # Ignored, as an id that never was.
    ("post_file", "reply_to"): ("message_id", 404),
    ("preview_wakes", "reply_to"): ("message_id", 200),
    ("import_operations", "job_id"): ("job_id", 404),
    ("try_public_agent", "workspace_id"): ("workspace_id", 404),
    ("move_agent", "parent_id"): ("agent_id", 404),
    ("mark_notifications_read", "ids"): ("notification_id", 200),
    ("mark_notifications_read", "up_to"): ("notification_id", 200),
}
"""By operation and field of its body: the object of another team that is put there, and the status of the response."""

OF_NOTHING = {"id"}
"""Fields whose id the client makes. If another object has the id already, the error is `id_taken`."""


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
