"""Who may do what, over every operation of the API: the role matrix, and that nobody reaches into another team."""

from typing import Any

import pytest
from django.apps import apps
from django.core.cache import cache
from django.db import connection, transaction
from drf_spectacular.generators import SchemaGenerator

from actors import services as actors
from tests.api.client import Api
from tests.api.operations import OPERATIONS, PEOPLE, Operation, things_of
from tests.people import Team, make_team

OURS = ("actors", "agents", "chats", "events", "notifications", "suggestions", "workspaces")


def fingerprint() -> list[tuple[str, str]]:
    """What each of our tables holds, in one word."""
    tables = [model._meta.db_table for model in apps.get_models() if model._meta.app_label in OURS]
    words = (f"SELECT '{table}', md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM \"{table}\" t" for table in tables)
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(words))
        return sorted(cursor.fetchall())


WAYS = ("session", "token")


def asked_by(team: Team, who: str, by: str = "session") -> Api:
    api = Api()
    if who == "nobody":
        return api
    if by == "token":
        token, api.bearer = actors.create_token(person=team[who], name="A program", days=1)
        actors.note_use(token)  # not written again within the minute
    else:
        api.client.force_login(team[who])
    return api


def asked(api: Api, operation: Operation, things: dict[str, Any]) -> Any:
    body = operation.body({key: str(value) if not isinstance(value, int) else value for key, value in things.items()})
    return api(operation.method, operation.path.format(**things), body)


def schema_operations() -> dict[str, tuple[str, str]]:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    return {
        operation["operationId"]: (method.upper(), path)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }


def test_every_operation_of_the_schema_is_in_the_table():
    assert set(OPERATIONS) == set(schema_operations())


def expected(operation: Operation, who: str, by: str) -> int:
    return 403 if by == "token" and not operation.by_token and who != "nobody" else operation.answers[who]


@pytest.mark.parametrize("who", PEOPLE)
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_matrix_of_roles_and_actions(team, monkeypatch, name, who):
    """C6, D1, D7: each cell is asked by each way to sign in, and whoever is refused has changed nothing."""
    operation, things = OPERATIONS[name], things_of(team)
    if operation.needs_worker:
        monkeypatch.setattr(cache, "get", lambda place: '{"ok": true, "message": "", "seconds": 0.1}')
    operation.given(team, things, who)
    for by in WAYS:
        with transaction.atomic():
            api = asked_by(team, who, by)
            before = fingerprint()
            answer = asked(api, operation, things)
            assert expected(operation, who, by) in (answer.status_code, answer.status_code // 100), answer.content
            if answer.status_code >= 300:
                assert answer.json()["error"]["code"]
                assert fingerprint() == before
            transaction.set_rollback(True)


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if "_id}" in operation.path])
def test_D1_what_is_not_ones_own_looks_like_what_does_not_exist(team, name):
    """The same status and body for another team's id and for an id that never was."""
    operation, things = OPERATIONS[name], things_of(team)
    operation.given(team, things, "charlie")
    nowhere = {key: "019aa0aa-0000-7000-8000-000000000000" if key.endswith("_id") else v for key, v in things.items()}
    charlie = asked_by(team, "charlie")
    theirs, nobodys = asked(charlie, operation, things), asked(charlie, operation, nowhere)
    assert (theirs.status_code, theirs.content) == (nobodys.status_code, nobodys.content)


def _other_team() -> dict[str, Any]:
    """Ids that are real, but of a team elsewhere."""
    return things_of(make_team(suffix="2"))


@pytest.mark.parametrize(
    ("name", "swapped"),
    [
        (name, key)
        for name, operation in OPERATIONS.items()
        for key in (
            "workspace_id",
            "chat_id",
            "agent_id",
            "actor_id",
            "link_id",
            "run_id",
            "token_id",
            "suggestion_id",
            "merge_id",
        )
        if f"{{{key}}}" in operation.path
    ],
)
def test_D2_a_foreign_id_among_ones_own_opens_nothing(team, name, swapped):
    """One id of the path at a time is another team's: an editor is told that it does not exist."""
    operation, things, theirs = OPERATIONS[name], things_of(team), _other_team()
    operation.given(team, things, "alice")
    alice = asked_by(team, "alice")
    before = fingerprint()
    answer = asked(alice, operation, {**things, swapped: theirs[swapped]})
    assert answer.status_code == 404, answer.content
    assert fingerprint() == before


@pytest.mark.parametrize(
    ("name", "field", "status"),
    [
        ("create_chat", "agent_id", 400),
        ("add_chat_member", "actor_id", 404),
        ("post_message", "message_id", 404),
        ("accept_suggestion", "chat_id", 404),
        ("merge_suggestions", "chat_id", 404),
        ("merge_suggestions", "suggestion_id", 404),
    ],
)
def test_D3_a_foreign_id_in_a_body_opens_nothing(team, name, field, status):
    operation, things, theirs = OPERATIONS[name], things_of(team), _other_team()
    alice = asked_by(team, "alice")
    before = fingerprint()
    answer = asked(alice, operation, {**things, field: theirs[field]})
    assert answer.status_code == status, answer.content
    assert fingerprint() == before
