"""FAIR6: nothing that existed before access was withdrawn gives more than the person has now. Each way in, after each way out."""

import re

import pytest
from django.core import mail

from actors import services as actors
from actors import tasks
from actors.models import Actor, EmailChange
from chats import services as chats
from chats.models import ChatActor
from tests.actors.test_passwords import ADDRESS, key_of, link_of, reset
from tests.api.client import Api, sign_in
from tests.api.test_rights import fingerprint
from tests.factories.actors import PASSWORD
from tests.people import Team, make_operator
from workspaces import services as workspaces
from workspaces.models import Membership, Role

pytestmark = pytest.mark.django_db

# --- ways out: what is left of Bob's access, as (signed in, in the workspace, in the chat, editor) -----------------


def removed(team: Team) -> None:
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)


def taken_out(team: Team) -> None:
    chats.remove_member(team.alice, team.chat.id, team.bob.id)


def demoted(team: Team) -> None:
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role=Role.SUGGESTER)


def signed_out(team: Team) -> None:
    actors.end_sessions(Actor.objects.get(pk=team.bob.pk))


def reset_by_link(team: Team) -> None:
    assert reset(key_of(link_of(team.bob))).status_code == 200


def closed(team: Team) -> None:
    actors.deactivate_person(make_operator(), team.bob.id)


OUT = {
    removed: (True, False, False, False),
    taken_out: (True, True, False, True),
    demoted: (True, True, True, False),
    signed_out: (False, True, True, True),
    reset_by_link: (False, True, True, True),
    closed: (False, False, False, False),
}

# --- ways in: what was made before, and what it gives afterwards ---------------------------------------------------


def by_session(team: Team) -> Api:
    return sign_in(team.bob.email or "", PASSWORD)


def by_cookie(team: Team) -> Api:
    api = Api()
    api.client.force_login(team.bob)
    return api


def by_token(team: Team) -> Api:
    api = Api()
    _, api.bearer = actors.create_token(team.bob, name="Old", days=None)
    return api


@pytest.fixture
def bob_edits(team: Team) -> Team:
    """Bob is an editor, too."""
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role=Role.EDITOR)
    return team


@pytest.mark.parametrize("way_in", [by_session, by_cookie, by_token])
@pytest.mark.parametrize("way_out", OUT)
def test_FAIR6_what_was_signed_in_before_has_what_is_left(bob_edits, way_in, way_out):
    team = bob_edits
    api = way_in(team)
    api.ok("GET", f"chats/{team.chat.id}")
    way_out(team)
    signed_in, in_workspace, in_chat, edits = OUT[way_out]
    if way_in is by_token and way_out is signed_out:
        signed_in = True  # signing out leaves programs, which can be revoked one by one
    before = fingerprint()
    seen = {
        "me": api("GET", "me").status_code,
        "workspace": api("GET", f"workspaces/{team.workspace.id}").status_code,
        "chat": api("GET", f"chats/{team.chat.id}/messages").status_code,
    }
    assert seen == {
        "me": 200 if signed_in else 401,
        "workspace": 401 if not signed_in else 200 if in_workspace else 404,
        "chat": 401 if not signed_in else 200 if in_chat else 404,
    }
    if way_in is not by_token:
        assert fingerprint() == before
    renamed = api("PATCH", f"workspaces/{team.workspace.id}", {"name": "Mine", "revision": 1}).status_code
    assert renamed == (401 if not signed_in else 404 if not in_workspace else 200 if edits else 403)


def standing(team: Team, person: Actor) -> tuple[str | None, bool]:
    role = Membership.objects.filter(workspace=team.workspace, actor=person).values_list("role", flat=True).first()
    return role, ChatActor.objects.filter(chat=team.chat, actor=person, ended_at=None).exists()


@pytest.mark.parametrize("maker", ["alice", "bob"])
@pytest.mark.parametrize("way_out", OUT)
def test_FAIR6_a_link_of_before_gives_no_more_than_is_left(bob_edits, way_out, maker):
    """A link for editors, of any number of uses, that Alice made, or Bob himself."""
    team = bob_edits
    _, url = chats.create_link(team[maker], team.chat.id, role="editor", hours=1, max_uses=None)
    way_out(team)
    after = standing(team, team.bob)
    api = Api()
    api.client.force_login(team.bob)
    answer = api("POST", f"join/{url.rsplit('/', 1)[1]}")
    assert standing(team, team.bob) == after
    if way_out is closed:
        assert answer.status_code == 401
    # And what a stranger gets by it: nothing, when its maker may not invite any more.
    dead = maker == "bob" and way_out in (removed, taken_out, demoted, closed)
    seen = Api()("GET", f"join/{url.rsplit('/', 1)[1]}").status_code
    assert seen == (404 if dead else 200)


@pytest.mark.parametrize("way_out", [reset_by_link, closed])
def test_FAIR6_a_reset_link_of_before_opens_nothing(bob_edits, way_out):
    key = key_of(link_of(bob_edits.bob))
    way_out(bob_edits)
    password = Actor.objects.get(pk=bob_edits.bob.pk).password
    assert reset(key, "a third long password").status_code == 400
    assert Actor.objects.get(pk=bob_edits.bob.pk).password == password


@pytest.mark.parametrize("way_out", [reset_by_link, closed])
def test_FAIR6_a_change_of_address_of_before_changes_nothing(bob_edits, way_out):
    bob = bob_edits.bob
    change = actors.start_email_change(
        bob, email="thief@example.net", password=PASSWORD, address=ADDRESS, language="en"
    )
    tasks.send_email_change(str(change.pk), ADDRESS, "en")
    [key] = re.findall(r"/confirm-email/(\S+)", str(mail.outbox[-1].body))
    way_out(bob_edits)
    Api().refused(404, "link_dead", "POST", "email-confirmations", {"key": key})
    assert Actor.objects.get(pk=bob.pk).email == "bob@example.org"
    assert EmailChange.objects.filter(person=bob).exists() == (way_out is closed)
