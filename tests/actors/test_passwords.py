"""Setting passwords, by the old one or by a link that is mailed or created by an operator (SEC21)."""

import json
import re
from base64 import b64decode
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
import redis
import time_machine
from django.core import mail
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.test import Client

from actors import services as actors
from actors import tasks
from actors.mails import TEXTS, LoggingEmailBackend
from actors.models import Actor
from common.errors import Invalid
from events.models import AuditRecord
from tests.api.client import APP, Api, sign_in
from tests.factories.actors import PASSWORD
from tests.people import make_operator

NEW = "quite another password"
WEB_APP_URL = "http://testserver"


@pytest.fixture
def queue(settings):
    """Return a function that returns the enqueued tasks, as (name, arguments)."""
    broker = redis.Redis.from_url(settings.REDIS_URL)
    broker.delete("work")

    def waiting():
        messages = [json.loads(message) for message in reversed(broker.lrange("work", 0, -1))]
        return [(m["headers"]["task"], json.loads(b64decode(m["body"]))[0]) for m in messages]

    yield waiting
    broker.delete("work")


def ask(email, **headers):
    return Api().client.post(f"{APP}/auth/password/request", {"email": email}, "application/json", headers=headers)


def link_of(person, **more):
    person.refresh_from_db()  # a link dies with the next sign-in
    return actors.create_reset_link(person, web_app_url=WEB_APP_URL, **more)


def key_of(link):
    return link.rsplit("/", 1)[1]


def reset(key, password=NEW):
    return Client().post(f"{APP}/auth/password/reset", {"key": key, "password": password}, "application/json")


def can_sign_in(person, password):
    body = {"email": person.email, "password": password}
    return Client().post(f"{APP}/auth/login", body, "application/json").status_code == 200


def test_SEC21_a_reset_request_does_not_reveal_accounts(team, queue, django_assert_num_queries):
    """The response is the same for every address, without a query. A worker looks for the account."""
    answers = []
    for email in ("alice@example.org", "nobody@example.org"):
        with django_assert_num_queries(0):
            answers.append(ask(email))
    assert answers[0].status_code == answers[1].status_code == 200
    assert answers[0].content == answers[1].content
    assert [(name, arguments[1:]) for name, arguments in queue()] == [
        ("actors.tasks.send_reset_link", [WEB_APP_URL, "en"])
    ] * 2


@pytest.mark.parametrize("email", ["nobody@example.org", "robin"])
def test_no_reset_mail_is_sent_to_an_unknown_email(team, email):
    tasks.send_reset_link(email, WEB_APP_URL, "en")
    assert mail.outbox == []


def test_no_reset_mail_is_sent_to_a_closed_account(team):
    actors.deactivate_person(make_operator(), team.alice.id)
    tasks.send_reset_link(team.alice.email, WEB_APP_URL, "en")
    assert mail.outbox == []


@pytest.mark.parametrize(
    ("own", "asked", "subject"),
    [
        ("", "zh-hans", "设置新的 Atelier 密码"),
        ("zh-hant", "en", "設定新的 Atelier 密碼"),
        ("", "fr", "Set a new password for Atelier"),
    ],
)
def test_the_mail_is_in_the_persons_language(team, own, asked, subject):
    Actor.objects.filter(pk=team.alice.pk).update(language=own)
    tasks.send_reset_link("ALICE@example.org", WEB_APP_URL, asked)
    [sent] = mail.outbox
    assert sent.subject == subject
    assert sent.to == ["alice@example.org"]
    [link] = re.findall(rf"{WEB_APP_URL}/reset-password/\S+", str(sent.body))
    assert reset(key_of(link)).status_code == 200


@pytest.mark.parametrize("language", ["en", "zh-hant", "zh-hans"])
def test_mails_to_emails_that_nobody_has_confirmed_contain_no_text_of_the_person(team, language):
    Actor.objects.filter(pk=team.alice.pk).update(name="Win at https://evil.example")
    tasks.send_reset_link(team.alice.email, WEB_APP_URL, language)
    tasks.send_account_exists_notice(team.alice.email, language)
    assert len(mail.outbox) == 2
    assert not [sent for sent in mail.outbox if "evil" in sent.subject + str(sent.body)]


def test_every_mail_has_three_languages_with_the_same_placeholders():
    for texts in TEXTS.values():
        assert set(texts) == {"en", "zh-hant", "zh-hans"}
        facts = [set(re.findall(r"\{(\w+)\}", body)) for _, body in texts.values()]
        assert facts[0] == facts[1] == facts[2]


def test_a_link_works_once_and_signs_in(team):
    key = key_of(link_of(team.alice))
    answer = reset(key)
    assert answer.status_code == 200
    assert Api(answer.json()["meta"]["session_token"]).ok("GET", "me")["email"] == "alice@example.org"
    assert can_sign_in(team.alice, NEW)
    assert not can_sign_in(team.alice, PASSWORD)
    again = reset(key, "a third long password")
    assert (again.status_code, again.json()["errors"][0]["code"]) == (400, "invalid_password_reset")
    assert can_sign_in(team.alice, NEW)


def test_only_one_of_two_links_works(team):
    first, second = key_of(link_of(team.alice)), key_of(link_of(team.alice))
    assert reset(first).status_code == 200
    assert reset(second, "a third long password").status_code == 400


def test_only_one_of_two_concurrent_resets_succeeds(team):
    one, other = Actor.objects.get(pk=team.alice.pk), Actor.objects.get(pk=team.alice.pk)
    assert actors.set_password(one, NEW)
    assert not actors.set_password(other, "a third long password")
    assert can_sign_in(team.alice, NEW)


def test_a_link_expires_after_an_hour(team):
    with time_machine.travel(datetime(2026, 11, 22, 12, tzinfo=UTC), tick=False) as clock:
        key = key_of(link_of(team.alice))
        clock.shift(timedelta(minutes=60, seconds=1))
        assert reset(key).status_code == 400


def test_a_link_of_a_closed_account_is_invalid(team):
    key = key_of(link_of(team.alice))
    actors.deactivate_person(make_operator(), team.alice.id)
    assert reset(key).status_code == 400
    with pytest.raises(Invalid):
        link_of(team.alice)
    with pytest.raises(Invalid):
        link_of(team.robin)


def test_a_weak_password_is_refused_and_the_link_stays_valid(team):
    key = key_of(link_of(team.alice))
    assert reset(key, "short").json()["errors"][0]["code"] == "password_too_short"
    assert reset(key).status_code == 200


def test_a_new_password_ends_all_sessions_and_notifies_the_person(team, queue, django_capture_on_commit_callbacks):
    browser = Api()
    browser.client.force_login(team.alice)
    app = sign_in("alice@example.org", PASSWORD)
    for session in (browser, app):
        session.ok("GET", "me")
    with django_capture_on_commit_callbacks(execute=True):
        assert reset(key_of(link_of(team.alice))).status_code == 200
    for session in (browser, app):
        session.refused(401, "not_signed_in", "GET", "me")
    assert queue() == [("actors.tasks.send_password_notice", [str(team.alice.id), "en", True])]
    assert AuditRecord.objects.filter(action="password.changed", actor=team.alice).count() == 1
    tasks.send_password_notice(str(team.alice.id), "zh-hant")
    assert mail.outbox[0].subject == "你的 Atelier 密碼已變更"


def test_changing_a_password_requires_the_old_one_and_keeps_only_this_session(team):
    here, there = (sign_in("alice@example.org", PASSWORD) for _ in range(2))
    body = {"current_password": "wrong", "new_password": NEW}
    refused = here("POST", f"{APP}/account/password/change", body)
    assert refused.json()["errors"][0] | {"message": ""} == {
        "code": "enter_current_password",
        "param": "current_password",
        "message": "",
    }
    answer = here("POST", f"{APP}/account/password/change", body | {"current_password": PASSWORD})
    assert answer.status_code == 200
    Api(answer.json()["meta"]["session_token"]).ok("GET", "me")
    there.refused(401, "not_signed_in", "GET", "me")
    assert can_sign_in(team.alice, NEW)


def test_signing_out_everywhere_keeps_only_this_session(team):
    browser = Api()
    browser.client.force_login(team.alice)
    here, there = (sign_in("alice@example.org", PASSWORD) for _ in range(2))
    others = sign_in("bob@example.org", PASSWORD)
    here.ok("DELETE", "me/sessions")
    here.ok("GET", "me")
    others.ok("GET", "me")
    for session in (there, browser):
        session.refused(401, "not_signed_in", "GET", "me")
    sign_in("alice@example.org", PASSWORD).ok("DELETE", "me/sessions")
    here.refused(401, "not_signed_in", "GET", "me")
    assert AuditRecord.objects.filter(action="sessions.ended", actor=team.alice).count() == 2


def test_signing_out_everywhere_by_cookie_keeps_the_session_of_the_cookie(team):
    browser = Api()
    browser.client.force_login(team.alice)
    browser.ok("DELETE", "me/sessions")
    browser.ok("GET", "me")


def test_an_operator_can_create_a_reset_link_without_mail(team, settings):
    settings.WEB_APP_URL = WEB_APP_URL
    output = StringIO()
    call_command("reset_link", "Alice@example.org", stdout=output)
    assert output.getvalue().startswith(f"{WEB_APP_URL}/reset-password/")
    assert reset(key_of(output.getvalue().strip())).status_code == 200
    with pytest.raises(CommandError):
        call_command("reset_link", "nobody@example.org")


@pytest.mark.parametrize("embedded", [True, False])
def test_without_a_mail_server_the_link_is_logged_only_with_embedded_servers(team, settings, caplog, embedded):
    settings.EMBEDDED = embedded
    LoggingEmailBackend().send_messages([EmailMessage("Subject", "Open https://here/reset", to=["alice@example.org"])])
    assert ("https://here/reset" in caplog.text) is embedded
    assert ("alice@example.org" in caplog.text) is embedded
    assert "EMAIL_URL" in caplog.text


def test_SEC21_guessing_passwords_is_throttled(team, settings):
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "3/m/key"}
    answers = [Api()("POST", f"{APP}/auth/login", {"email": team.alice.email, "password": f"g{n}"}) for n in range(5)]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 429, 429]
    refused = answers[-1]
    assert refused["Retry-After"] == "60"
    assert refused.json()["error"]["code"] == "limit_reached"
    assert not can_sign_in(team.alice, PASSWORD)
    assert can_sign_in(team.bob, PASSWORD)


def test_SEC21_requesting_reset_links_is_throttled(team, settings, queue):
    settings.ACCOUNT_RATE_LIMITS = {"reset_password": "3/m/key"}
    answers = [ask("somebody@example.org") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1]["Retry-After"] == "60"
    assert len(queue()) == 3


@pytest.mark.django_db
def test_SEC21_signing_in_is_refused_while_redis_is_down(settings):
    away = settings.CACHES["default"] | {"LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {"default": away}
    settings.ACCOUNT_RATE_LIMITS = {"login": "30/m/ip", "reset_password": "30/m/ip"}
    for operation, body in (
        ("login", {"email": "a@example.org", "password": "x"}),
        ("password/request", {"email": "a@b.cd"}),
    ):
        answer = Api()("POST", f"{APP}/auth/{operation}", body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
        assert answer["Retry-After"] == "2"
