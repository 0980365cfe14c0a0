"""SEC46: who may view as a person, how it starts and ends, and its audit records."""

import pytest

from actors import services as actors
from actors.models import VIEWING_KEY, Actor, Viewing
from common.errors import AppError, Code, Forbidden, Invalid
from events.models import AuditRecord
from tests.admin.environment import run_action, sign_in_as
from tests.api.client import Api
from tests.api.test_rights import client_for
from tests.api.test_viewings import get_session
from tests.factories.actors import PASSWORD
from tests.factories.viewings import make_viewing
from tests.people import make_operator
from worker.sweeper import Sweeper


def start(operator: Actor, person: Actor, reason: str = "Ticket 7", password: str = PASSWORD) -> tuple[Api, Viewing]:
    api = Api()
    api.client.force_login(operator)
    session = get_session(api.client)
    viewing = actors.start_viewing(operator, person.id, session=session, reason=reason, password=password)
    session.save()
    return api, viewing


def test_SEC46_a_viewing_starts_in_the_admin_with_a_reason_and_is_audited(environment):
    bob = environment.team.bob
    answer = run_action(environment.client, bob, "start_viewing", reason="He sees no messages", password=PASSWORD)
    assert answer.redirect_chain[0][0] == "/"
    me = environment.client.get("/api/v1/me").json()
    assert (me["actor"]["name"], me["viewing"]["reason"]) == ("Bob", "He sees no messages")
    viewing = Viewing.objects.get()
    assert (viewing.operator, viewing.person) == (environment.operator, bob)
    assert (viewing.ends_at - viewing.started_at).total_seconds() == 1800
    record = AuditRecord.objects.get(action="viewing.started")
    assert (record.actor, record.object_id) == (environment.operator, bob.id)
    assert record.facts == {
        "viewing": str(viewing.id),
        "reason": "He sees no messages",
        "start": viewing.started_at.isoformat(),
        "until": viewing.ends_at.isoformat(),
    }
    assert environment.client.delete("/api/v1/me/viewing").status_code == 204
    assert environment.client.get("/api/v1/me").json()["actor"]["name"] == "Op"
    viewing.refresh_from_db()
    assert viewing.ended_at is not None
    record = AuditRecord.objects.get(action="viewing.ended")
    assert (record.actor, record.object_id, record.facts["until"]) == (
        environment.operator,
        bob.id,
        viewing.ended_at.isoformat(),
    )
    assert record.facts["ended_by"] == str(environment.operator.id)
    page = environment.client.get("/admin/actors/viewing/").content.decode()
    assert "He sees no messages" in page
    assert "Bob" in page


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"reason": "Ticket 7", "password": "wrong"}, "This is not your password."),
        ({"reason": "", "password": PASSWORD}, "This field is required."),
        ({"reason": "  ", "password": PASSWORD}, "This field is required."),
    ],
)
def test_SEC46_without_a_reason_and_the_password_no_viewing_starts(environment, fields, text):
    answer = run_action(environment.client, environment.team.bob, "start_viewing", **fields)
    assert text in answer.content.decode()
    assert not Viewing.objects.exists()
    assert environment.client.get("/api/v1/me").json()["actor"]["name"] == "Op"


def test_SEC46_readers_and_people_cannot_view_and_nobody_views_as_an_operator(team):
    superuser = make_operator()
    operator, reader = (make_operator(name) for name in ("Second", "Third"))
    for person, level in ((operator, "operator"), (reader, "reader")):
        Actor.objects.filter(pk=person.pk).update(is_superuser=True)
        set_level(superuser, person, level)
    for who, person, error in (
        (reader, team.bob, Forbidden),
        (team.alice, team.bob, Forbidden),
        (operator, superuser, Forbidden),
        (operator, reader, Forbidden),
        (operator, operator, Forbidden),
        (superuser, superuser, Invalid),
        (superuser, team.robin, Invalid),
    ):
        with pytest.raises(error):
            start(Actor.objects.get(pk=who.pk), person)
    assert not Viewing.objects.exists()
    assert not AuditRecord.objects.filter(action="viewing.started").exists()
    start(Actor.objects.get(pk=operator.pk), team.bob)
    assert Viewing.objects.get().operator == operator


def set_level(superuser: Actor, person: Actor, level: str) -> None:
    run_action(sign_in_as(superuser), person, "set_access_level", level=level)


def test_SEC46_a_viewing_has_no_effect_after_its_time_and_its_end_is_recorded(team):
    operator, api = make_operator(), Api()
    api.client.force_login(operator)
    viewing = make_viewing(operator, team.alice, get_session(api.client), minutes=-1)
    assert api.ok("GET", "me")["actor"]["name"] == "Op"
    api.refused(404, "not_found", "GET", f"chats/{team.chat.id}/messages")
    api.refused(404, "not_found", "DELETE", "me/viewing")
    assert actors.end_expired_viewings() == 1
    viewing.refresh_from_db()
    assert (viewing.ended_at, viewing.ended_by) == (viewing.ends_at, None)
    assert AuditRecord.objects.get(action="viewing.ended").facts["ended_by"] == "time limit"
    assert actors.end_expired_viewings() == 0


def test_the_sweeper_ends_expired_viewings():
    jobs = Sweeper(None, None)._periodic_jobs  # type: ignore[arg-type]
    assert actors.end_expired_viewings in [job.work for job in jobs]


@pytest.mark.parametrize("change", ["demoted", "sign_out", "deactivate", "close_person", "promoted", "new_viewing"])
def test_SEC46_a_viewing_ends_with_the_rights_and_the_session_of_the_operator(team, change):
    superuser, operator = make_operator(), make_operator("Second")
    set_level(superuser, operator, "operator")
    operator = Actor.objects.get(pk=operator.pk)
    api, viewing = start(operator, team.alice)
    assert api.ok("GET", "me")["actor"]["name"] == "Alice"
    if change == "demoted":
        set_level(superuser, operator, "reader")
    elif change == "promoted":
        set_level(superuser, team.alice, "reader")
    elif change == "sign_out":
        api.client.post("/admin/logout/")
    elif change == "deactivate":
        actors.deactivate_person(superuser, operator.id)
    elif change == "close_person":
        actors.deactivate_person(superuser, team.alice.id)
    else:
        start(operator, team.bob)
    answer = api("GET", "me")
    assert answer.status_code == 401 or answer.json()["actor"]["name"] == "Second"
    viewing.refresh_from_db()
    assert viewing.ended_at is not None


def test_the_viewing_of_another_operators_session_has_no_effect(team):
    first, second, api = make_operator(), make_operator("Second"), Api()
    viewing = make_viewing(first, team.alice)
    api.client.force_login(second)
    session = get_session(api.client)
    session[VIEWING_KEY] = str(viewing.pk)
    session.save()
    assert api.ok("GET", "me")["actor"]["name"] == "Second"


def test_a_person_sees_who_has_viewed_as_them_and_why(team):
    operator = make_operator()
    start(operator, team.alice)
    [row] = client_for(team, "alice").ok("GET", "me/viewings")["results"]
    assert (row["operator"]["name"], row["reason"], row["ended_at"]) == ("Op", "Ticket 7", None)
    assert client_for(team, "bob").ok("GET", "me/viewings")["results"] == []
    client_for(team, "alice", "token").refused(403, "forbidden", "GET", "me/viewings")


def test_an_operator_ends_the_viewing_of_another(team):
    first, second = make_operator(), make_operator("Second")
    api, viewing = start(first, team.alice)
    run_action(sign_in_as(second), viewing, "end_viewing")
    viewing.refresh_from_db()
    assert viewing.ended_by == second
    assert api.ok("GET", "me")["actor"]["name"] == "Op"


def test_attempts_with_a_wrong_password_are_limited(team, settings):
    settings.RATES = {**settings.RATES, "passwords": (0.05, 5)}
    operator = make_operator()
    codes = []
    for _ in range(8):
        with pytest.raises(AppError) as refusal:
            start(operator, team.alice, password="wrong")
        codes.append(refusal.value.code)
    assert codes[0] == Code.WRONG_PASSWORD
    assert codes[-1] == Code.LIMIT_REACHED
