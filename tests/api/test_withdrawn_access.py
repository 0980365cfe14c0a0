"""FAIR6: sign-ins, tokens and links that existed before access was withdrawn give only the remaining rights."""

import re

import pytest
from django.core import mail

from actors import services as actors
from actors import tasks
from actors.models import Actor, EmailChange
from chats import services as chats
from chats.models import ChatActor
from events.rows import Role
from tests.actors.test_passwords import WEB_APP_URL, key_of, link_of, reset
from tests.api.client import Api, sign_in
from tests.api.test_rights import fingerprint
from tests.factories.actors import PASSWORD
from tests.people import Team, make_operator
from workspaces import services as workspaces
from workspaces.models import Membership

pytestmark = pytest.mark.django_db

# --- withdrawals, and Bob's remaining access: (signed in, in the workspace, in the chat, editor) -------------------


def remove_from_workspace(team: Team) -> None:
    workspaces.remove_member(team.alice, team.workspace.id, team.bob.id)


def remove_from_chat(team: Team) -> None:
    chats.remove_participant(team.alice, team.chat.id, team.bob.id)


def demote(team: Team) -> None:
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role=Role.SUGGESTER)


def end_sessions(team: Team) -> None:
    actors.end_sessions(Actor.objects.get(pk=team.bob.pk))


def reset_password(team: Team) -> None:
    assert reset(key_of(link_of(team.bob))).status_code == 200


def close_account(team: Team) -> None:
    actors.deactivate_person(make_operator(), team.bob.id)


WITHDRAWALS = {
    remove_from_workspace: (True, False, False, False),
    remove_from_chat: (True, True, False, True),
    demote: (True, True, True, False),
    end_sessions: (False, True, True, True),
    reset_password: (False, True, True, True),
    close_account: (False, False, False, False),
}

# --- ways to sign in before the withdrawal -------------------------------------------------------------------------


def sign_in_with_token(team: Team) -> Api:
    return sign_in(team.bob.email or "", PASSWORD)


def sign_in_with_cookie(team: Team) -> Api:
    api = Api()
    api.client.force_login(team.bob)
    return api


def use_api_token(team: Team) -> Api:
    api = Api()
    _, api.bearer = actors.create_token(team.bob, name="Old", days=None)
    return api


@pytest.fixture
def bob_edits(team: Team) -> Team:
    """Bob is an editor, too."""
    workspaces.change_role(team.alice, team.workspace.id, team.bob.id, role=Role.EDITOR)
    return team


@pytest.mark.parametrize("sign_in_by", [sign_in_with_token, sign_in_with_cookie, use_api_token])
@pytest.mark.parametrize("withdraw", WITHDRAWALS)
def test_FAIR6_an_existing_sign_in_has_only_the_remaining_rights(bob_edits, sign_in_by, withdraw):
    team = bob_edits
    api = sign_in_by(team)
    api.ok("GET", f"chats/{team.chat.id}")
    withdraw(team)
    create_session_key, in_workspace, in_chat, edits = WITHDRAWALS[withdraw]
    if sign_in_by is use_api_token and withdraw is end_sessions:
        create_session_key = True  # signing out does not end API tokens, which are revoked one by one
    before = fingerprint()
    seen = {
        "me": api("GET", "me").status_code,
        "workspace": api("GET", f"workspaces/{team.workspace.id}").status_code,
        "chat": api("GET", f"chats/{team.chat.id}/messages").status_code,
    }
    assert seen == {
        "me": 200 if create_session_key else 401,
        "workspace": 401 if not create_session_key else 200 if in_workspace else 404,
        "chat": 401 if not create_session_key else 200 if in_chat else 404,
    }
    if sign_in_by is not use_api_token:
        assert fingerprint() == before
    renamed = api("PATCH", f"workspaces/{team.workspace.id}", {"name": "Mine", "revision": 1}).status_code
    assert renamed == (401 if not create_session_key else 404 if not in_workspace else 200 if edits else 403)


def get_membership(team: Team, person: Actor) -> tuple[str | None, bool]:
    role = Membership.objects.filter(workspace=team.workspace, actor=person).values_list("role", flat=True).first()
    return role, ChatActor.objects.filter(chat=team.chat, actor=person, ended_at=None).exists()


@pytest.mark.parametrize("maker", ["alice", "bob"])
@pytest.mark.parametrize("withdraw", WITHDRAWALS)
def test_FAIR6_an_existing_link_gives_only_the_remaining_rights(bob_edits, withdraw, maker):
    """A link for editors, without a limit of uses, that Alice or Bob made."""
    team = bob_edits
    _, url = chats.create_link(team[maker], team.chat.id, role="editor", hours=1, max_uses=None)
    withdraw(team)
    after = get_membership(team, team.bob)
    api = Api()
    api.client.force_login(team.bob)
    answer = api("POST", f"join/{url.rsplit('/', 1)[1]}")
    assert get_membership(team, team.bob) == after
    if withdraw is close_account:
        assert answer.status_code == 401
    # The link is dead for strangers if its maker may no longer invite people.
    dead = maker == "bob" and withdraw in (remove_from_workspace, remove_from_chat, demote, close_account)
    seen = Api()("GET", f"join/{url.rsplit('/', 1)[1]}").status_code
    assert seen == (404 if dead else 200)


@pytest.mark.parametrize("withdraw", [reset_password, close_account])
def test_FAIR6_an_existing_reset_link_is_invalid(bob_edits, withdraw):
    key = key_of(link_of(bob_edits.bob))
    withdraw(bob_edits)
    password = Actor.objects.get(pk=bob_edits.bob.pk).password
    assert reset(key, "a third long password").status_code == 400
    assert Actor.objects.get(pk=bob_edits.bob.pk).password == password


@pytest.mark.parametrize("withdraw", [reset_password, close_account])
def test_FAIR6_an_existing_change_of_address_is_invalid(bob_edits, withdraw):
    bob = bob_edits.bob
    change = actors.start_email_change(
        bob, email="thief@example.net", password=PASSWORD, web_app_url=WEB_APP_URL, language="en"
    )
    tasks.send_email_change(str(change.pk), WEB_APP_URL, "en")
    [key] = re.findall(r"/confirm-email/(\S+)", str(mail.outbox[-1].body))
    withdraw(bob_edits)
    Api().refused(404, "link_dead", "POST", "email-confirmations", {"key": key})
    assert Actor.objects.get(pk=bob.pk).email == "bob@example.org"
    assert EmailChange.objects.filter(person=bob).exists() == (withdraw is close_account)
