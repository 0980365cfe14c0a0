"""SEC45: an operator who views as a person sees what the person sees, and can change nothing by any operation."""

import pytest
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client

from actors.models import Actor
from tests.api.client import APP, Api, message_body
from tests.api.operations import OPERATIONS
from tests.api.test_rights import client_for, fingerprint, send_operation
from tests.factories.actors import PASSWORD
from tests.factories.viewings import make_viewing
from tests.people import make_operator

WRITES = [name for name, operation in OPERATIONS.items() if operation.method != "GET" and name != "end_viewing"]
READS = [name for name, operation in OPERATIONS.items() if operation.method == "GET"]


def view_as(person: Actor, operator: Actor | None = None) -> Api:
    """Return the API of an operator in whose session a viewing as the person runs."""
    operator, api = operator or make_operator(), Api()
    api.client.force_login(operator)
    make_viewing(operator, person, get_session(api.client))
    return api


def get_session(client: Client) -> SessionBase:
    """Return the session of a browser. Each read of `client.session` gives another object."""
    return client.session


@pytest.mark.parametrize("name", WRITES)
def test_SEC45_no_operation_changes_anything(team_with_things, name):
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    api = view_as(team.alice)
    before = fingerprint()
    answer = send_operation(api, operation, things)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "viewing")
    assert fingerprint() == before


@pytest.mark.parametrize("name", READS)
def test_SEC45_every_read_gives_what_the_person_sees_and_changes_nothing(team_with_things, name):
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    own = send_operation(client_for(team, "alice"), operation, things)
    api = view_as(team.alice)
    before = fingerprint()
    answer = send_operation(api, operation, things)
    assert answer.status_code == own.status_code
    if name not in ("read_me", "list_viewings") and own["content-type"] == "application/json":
        assert answer.json() == own.json()
    assert fingerprint() == before


def test_the_operator_who_is_in_no_workspace_sees_the_person_and_the_viewing(team):
    api = view_as(team.bob)
    me = api.ok("GET", "me")
    assert (me["actor"]["id"], [row["name"] for row in me["workspaces"]]) == (str(team.bob.id), ["Lighthouse"])
    assert (me["viewing"]["operator"]["name"], me["viewing"]["reason"]) == ("Op", "Ticket 7")
    assert client_for(team, "bob").ok("GET", "me")["viewing"] is None


def test_SEC45_reading_a_chat_moves_no_read_cursor(team):
    client_for(team, "alice").ok("POST", f"chats/{team.chat.id}/messages", message_body("@bob look", wake="nobody"))
    cursors = list(team.chat.participants.order_by("pk").values_list("actor", "last_read_seq"))
    api = view_as(team.bob)
    assert [row["unread"] for row in api.ok("GET", f"workspaces/{team.workspace.id}/chats")["results"]] == [1]
    assert api.ok("GET", f"chats/{team.chat.id}/messages")["results"]
    assert api.ok("GET", "notifications")["results"]
    api.refused(403, "viewing", "POST", f"chats/{team.chat.id}/read", {"seq": 1})
    assert list(team.chat.participants.order_by("pk").values_list("actor", "last_read_seq")) == cursors
    assert [row["unread"] for row in api.ok("GET", f"workspaces/{team.workspace.id}/chats")["results"]] == [1]


@pytest.mark.parametrize(
    "path", ["account/password/change", "account/email", "auth/session", "auth/login", "auth/signup"]
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_SEC45_no_operation_on_the_account_is_possible(team, path, method):
    api = view_as(team.alice)
    before = fingerprint()
    api.refused(403, "viewing", method, f"/_allauth/browser/v1/{path}", {"email": "x@example.org", "password": "y"})
    assert fingerprint() == before
    assert api.ok("GET", "me")["actor"]["name"] == "Alice"


def test_SEC45_the_key_of_the_session_in_a_header_changes_nothing_either(team):
    by_cookie = view_as(team.alice)
    api = Api(get_session(by_cookie.client).session_key)
    before = fingerprint()
    assert api.ok("GET", "me")["actor"]["name"] == "Alice"
    api.refused(403, "viewing", "POST", f"chats/{team.chat.id}/messages", message_body("hello"))
    assert fingerprint() == before
    # Operations of allauth are about the operator's own account, never about the viewed one.
    answer = api(
        "POST", f"{APP}/account/password/change", {"current_password": PASSWORD, "new_password": "another, long"}
    )
    assert answer.status_code == 200
    team.alice.refresh_from_db()
    assert team.alice.check_password(PASSWORD)


def test_SEC45_a_page_of_the_operator_or_of_another_person_is_refused(team):
    operator = make_operator()
    api = view_as(team.alice, operator)
    for person, status in ((team.alice, 200), (operator, 401), (team.bob, 401)):
        assert api.client.get("/api/v1/me", headers={"X-Atelier-Person": str(person.id)}).status_code == status
