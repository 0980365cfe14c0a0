"""Changing the email address: it requires the password and a link that is mailed to the new address."""

import re
import socket

import pytest
from allauth.account.models import EmailAddress
from celery import current_app
from django.core import mail
from django.test import Client
from django.urls import get_resolver

from actors import services as actors
from actors import tasks
from actors.models import Actor, ApiToken, EmailChange
from events.models import AuditRecord
from tests.actors.test_passwords import WEB_APP_URL, can_sign_in, key_of, link_of, queue, reset  # noqa: F401
from tests.api.client import APP, Api
from tests.api.test_rights import client_for, fingerprint
from tests.factories.actors import PASSWORD
from tests.people import make_person

pytestmark = pytest.mark.django_db

NEW = "alice@example.net"


def routed(resolver=None, prefix=""):
    for entry in (resolver or get_resolver()).url_patterns:
        path = prefix + str(entry.pattern)
        if hasattr(entry, "url_patterns"):
            yield from routed(entry, path)
        else:
            yield path


def test_only_used_operations_of_allauth_are_routed():
    used = {
        "config",
        "auth/session",
        "auth/login",
        "auth/signup",
        "auth/password/request",
        "auth/password/reset",
        "account/password/change",
    }
    found = {path.removeprefix("_allauth/") for path in routed() if path.startswith("_allauth/")}
    assert found == {f"{client}/v1/{path}" for client in ("app", "browser") for path in used}


@pytest.mark.parametrize("path", ["account/email", "account/phone", "auth/email/verify", "auth/reauthenticate"])
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_session_alone_does_not_change_the_email(team, method, path):
    client = Client()
    client.force_login(team.alice)
    before = fingerprint()
    answer = client.generic(method, f"/_allauth/browser/v1/{path}", f'{{"email": "{NEW}"}}', "application/json")
    assert answer.status_code == 404
    assert fingerprint() == before
    assert not EmailAddress.objects.filter(email=NEW).exists()


@pytest.fixture
def mailed(team, django_capture_on_commit_callbacks, monkeypatch):
    """Return a function that starts a change, runs the tasks of the worker, and returns the mailed key."""
    alice = client_for(team, "alice")

    def ask(email=NEW, password=PASSWORD):
        mail.outbox.clear()
        alice.ok("POST", "me/email", {"email": email, "password": password})
        tasks.send_email_change_notice(str(team.alice.id), "en")
        tasks.send_email_change(str(EmailChange.objects.get(person=team.alice).id), WEB_APP_URL, "en")
        found = [re.search(rf"{WEB_APP_URL}/confirm-email/(\S+)", str(one.body)) for one in mail.outbox]
        return next((match[1] for match in found if match), None)

    return ask


def confirm(key):
    return Api()("POST", "email-confirmations", {"key": key})


def test_the_address_changes_only_after_the_link_is_opened(team, mailed):
    key = mailed()
    notice, link = mail.outbox
    assert (notice.to, link.to) == (["alice@example.org"], [NEW])
    assert NEW not in str(notice.body)
    alice = client_for(team, "alice")
    me = alice.ok("GET", "me")
    assert (me["email"], me["new_email"]) == ("alice@example.org", NEW)
    assert can_sign_in(team.alice, PASSWORD)
    assert confirm(key).json() == {"email": NEW}
    me = alice.ok("GET", "me")
    assert (me["email"], me["new_email"]) == (NEW, None)
    assert [(one.email, one.verified, one.primary) for one in EmailAddress.objects.filter(user=team.alice)] == [
        (NEW, True, True)
    ]
    assert AuditRecord.objects.get(action="email.changed").facts == {"old": "alice@example.org", "new": NEW}
    assert confirm(key).status_code == 404
    mail.outbox.clear()
    tasks.send_email_changed_notice(str(team.alice.id), "alice@example.org")
    assert mail.outbox[0].to == ["alice@example.org"]


def test_mails_are_sent_to_both_addresses_at_the_start_and_to_the_old_one_at_the_end(
    team,
    queue,  # noqa: F811
    django_capture_on_commit_callbacks,
):
    alice = str(team.alice.id)
    with django_capture_on_commit_callbacks(execute=True):
        client_for(team, "alice").ok("POST", "me/email", {"email": NEW, "password": PASSWORD})
    change = str(EmailChange.objects.get(person=team.alice).id)
    assert [(task, arguments[0]) for task, arguments in queue()] == [
        ("actors.tasks.send_email_change_notice", alice),
        ("actors.tasks.send_email_change", change),
    ]
    tasks.send_email_change(change, WEB_APP_URL, "en")
    found = re.search(rf"{WEB_APP_URL}/confirm-email/(\S+)", str(mail.outbox[-1].body))
    assert found is not None
    with django_capture_on_commit_callbacks(execute=True):
        assert confirm(found[1]).status_code == 200
    assert queue()[2:] == [("actors.tasks.send_email_changed_notice", [alice, "alice@example.org"])]


def test_the_key_of_a_change_is_only_in_the_mail(team, queue, mailed):  # noqa: F811
    key = mailed()
    assert key not in repr([*EmailChange.objects.values_list(), *AuditRecord.objects.values_list(), queue()])


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"email": NEW, "password": "not the password"}, "wrong_password"),
        ({"email": NEW}, "invalid"),
        ({"email": "no address", "password": PASSWORD}, "invalid"),
        ({"email": "alice@example.org", "password": PASSWORD}, "invalid"),
    ],
)
def test_an_invalid_change_of_address_is_refused(team, body, code):
    client_for(team, "alice").refused(400, code, "POST", "me/email", body)
    assert not EmailChange.objects.exists()


def test_an_api_token_cannot_start_a_change_of_email(team):
    api = client_for(team, "alice", "token")
    api.refused(403, "forbidden", "POST", "me/email", {"email": NEW, "password": PASSWORD})
    assert not EmailChange.objects.exists()


def test_a_change_to_an_address_of_another_account_looks_the_same_and_sends_no_mail(team, mailed):
    make_person("Dora")
    assert mailed("dora@example.org") is None
    assert [one.to for one in mail.outbox] == [["alice@example.org"]]


def test_an_address_that_another_account_got_since_is_refused_at_confirmation(team, mailed):
    key = mailed("dora@example.org")
    make_person("Dora")
    answer = confirm(key)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "email_taken")
    team.alice.refresh_from_db()
    assert team.alice.email == "alice@example.org"


def test_a_newer_change_or_cancelling_ends_a_change(team, mailed):
    first = mailed()
    second = mailed("alice@example.com")
    assert confirm(first).status_code == 404
    client_for(team, "alice").ok("DELETE", "me/email")
    assert confirm(second).status_code == 404
    team.alice.refresh_from_db()
    assert team.alice.email == "alice@example.org"


def test_change_of_address_expires_and_ends_with_the_account(team, mailed):
    key = mailed()
    Actor.objects.filter(pk=team.alice.pk).update(is_active=False)
    assert confirm(key).status_code == 404
    Actor.objects.filter(pk=team.alice.pk).update(is_active=True)
    EmailChange.objects.update(expires_at="2020-01-01T00:00Z")
    assert confirm(key).status_code == 404


@pytest.mark.parametrize("key", ["c-unknown", "x", "1:2:3", "c-"])
def test_unknown_keys_are_refused(team, key):
    assert confirm(key).status_code == 404


@pytest.mark.parametrize("by_link", [True, False])
def test_FAIR6_a_new_password_ends_changes_of_address_and_one_by_a_link_also_tokens(team, mailed, by_link):
    key = mailed()
    actors.create_token(team.alice, name="A thief's", days=None)
    if by_link:
        assert reset(key_of(link_of(team.alice))).status_code == 200
    else:
        client = Client()
        client.force_login(team.alice)
        body = {"current_password": PASSWORD, "new_password": "quite another password"}
        answer = client.post("/_allauth/browser/v1/account/password/change", body, "application/json")
        assert answer.status_code == 200
    assert confirm(key).status_code == 404
    assert ApiToken.unrevoked.filter(actor=team.alice).exists() == (not by_link)


# --- confirming a new account -------------------------------------------------------------------------------------


@pytest.fixture
def confirms(settings):
    """The settings of an installation with `EMAIL_URL`."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "mandatory"


def sign_up_as(email):
    body = {"email": email, "password": PASSWORD, "name": "Dora"}
    return Api()("POST", f"{APP}/auth/signup", body)


def test_a_new_account_can_sign_in_after_its_address_is_confirmed(confirms, db):
    answer = sign_up_as("dora@example.org")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "email_unconfirmed")
    dora = Actor.people.get(email="dora@example.org")
    assert not can_sign_in(dora, PASSWORD)
    tasks.send_confirmation(EmailAddress.objects.get(user=dora).pk, WEB_APP_URL, "en")
    [key] = re.findall(rf"{WEB_APP_URL}/confirm-email/(\S+)", str(mail.outbox[-1].body))
    assert confirm(key).json() == {"email": "dora@example.org"}
    assert can_sign_in(dora, PASSWORD)
    assert confirm(key).status_code == 404


def test_SEC21_signing_up_with_a_known_address_looks_the_same(confirms, team, queue):  # noqa: F811
    before = Actor.people.count()
    answers = [sign_up_as(email) for email in ("alice@example.org", "new@example.org")]
    assert answers[0].status_code == answers[1].status_code == 403
    assert answers[0].content == answers[1].content
    assert Actor.people.count() == before + 1
    new = EmailAddress.objects.get(email="new@example.org").pk
    assert [(task, arguments[0]) for task, arguments in queue()] == [
        ("actors.tasks.send_account_exists_notice", "alice@example.org"),
        ("actors.tasks.send_confirmation", new),
    ]
    tasks.send_account_exists_notice("alice@example.org", "en")
    assert mail.outbox[-1].to == ["alice@example.org"]


def test_reset_by_link_confirms_the_email(confirms, db):
    sign_up_as("dora@example.org")
    dora = Actor.people.get(email="dora@example.org")
    assert reset(key_of(link_of(dora))).status_code == 200
    assert can_sign_in(dora, "quite another password")


@pytest.mark.parametrize(("url", "expected"), [("", "none"), ("smtp://mail.example.org", "mandatory")])
def test_addresses_must_be_confirmed_if_mail_can_be_sent(url, expected):
    import os
    import subprocess
    import sys

    code = "from config import settings; print(settings.ACCOUNT_EMAIL_VERIFICATION)"
    environment = {**os.environ, "EMAIL_URL": url}
    environment.pop("ACCOUNT_EMAIL_VERIFICATION", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected


def test_FAIR6_a_reset_link_is_invalid_after_the_address_has_changed(team, mailed):
    """It was mailed to the old address, which may belong to another person now."""
    following = Actor.people.get(pk=team.alice.pk)
    key = mailed()
    Api().ok("POST", "email-confirmations", {"key": key})
    before = fingerprint()
    assert not actors.set_password(following, "another long password", by_link=True)
    assert fingerprint() == before
    assert list(EmailAddress.objects.filter(user=team.alice).values_list("email", flat=True)) == [NEW]


@pytest.mark.parametrize("is_stalled", [True, False])
def test_a_change_is_not_started_if_its_mails_cannot_be_enqueued(team, settings, monkeypatch, is_stalled):
    """Redis is down, or accepts connections and does not answer."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        if not is_stalled:
            server.close()
        monkeypatch.setattr(current_app.conf, "broker_write_url", url)
        client_for(team, "alice").refused(503, "unavailable", "POST", "me/email", {"email": NEW, "password": PASSWORD})
    assert not EmailChange.objects.exists()
    assert client_for(team, "alice").ok("GET", "me")["new_email"] is None


def test_both_mails_of_a_change_are_enqueued_before_the_response(team, queue):  # noqa: F811
    client_for(team, "alice").ok("POST", "me/email", {"email": NEW, "password": PASSWORD})
    change = EmailChange.objects.get()
    assert [(name, arguments[0]) for name, arguments in queue()] == [
        ("actors.tasks.send_email_change_notice", str(team.alice.id)),
        ("actors.tasks.send_email_change", str(change.id)),
    ]
