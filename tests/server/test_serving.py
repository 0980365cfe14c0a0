"""The checks before a process serves, the page of the web app, and the error pages."""

from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import OperationalError
from django.test import Client, RequestFactory

from config import error_pages, urls
from config.checks import KNOWN_SECRET_KEY, KNOWN_SECRET_KEYS, refuse_to_serve_unsafely
from tests.people import Team


def test_a_process_with_the_secrets_of_the_source_code_does_not_serve(settings: Any) -> None:
    settings.SECRET_KEY = KNOWN_SECRET_KEY
    settings.SECRET_KEYS = list(KNOWN_SECRET_KEYS)
    with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY is not set.*SECRET_KEYS is not set"):
        refuse_to_serve_unsafely()


def test_a_process_with_its_own_secrets_serves(settings: Any) -> None:
    settings.SECRET_KEY = "anything else"
    settings.SECRET_KEYS = ["c29tZXRoaW5nLWVsc2Utc29tZXRoaW5nLWVsc2UtMTI="]
    refuse_to_serve_unsafely()


@pytest.mark.parametrize(
    ("public_url", "proxies", "reason"),
    [
        ("https://atelier.example.org", "", "FORWARDED_ALLOW_IPS is not set"),
        ("https://atelier.example.org", "*", "lets any client forge its IP address"),
        ("https://atelier.example.org", "10.0.0.0/8", None),
        ("http://localhost:8000", "", None),
        ("", "", None),
    ],
)
def test_a_web_process_behind_https_needs_the_addresses_of_its_proxy(
    settings: Any, public_url: str, proxies: str, reason: str | None
) -> None:
    settings.SECRET_KEY, settings.SECRET_KEYS = "anything else", ["c29tZXRoaW5nLWVsc2Utc29tZXRoaW5nLWVsc2UtMTI="]
    settings.PUBLIC_URL, settings.FORWARDED_ALLOW_IPS = public_url, proxies
    if reason is None:
        refuse_to_serve_unsafely(web=True)
    else:
        with pytest.raises(ImproperlyConfigured, match=reason):
            refuse_to_serve_unsafely(web=True)
    refuse_to_serve_unsafely()  # a worker cannot be reached from outside


def test_a_process_with_an_unknown_mode_of_sign_up_does_not_serve(settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEYS = "anything else", ["c29tZXRoaW5nLWVsc2Utc29tZXRoaW5nLWVsc2UtMTI="]
    settings.SIGN_UP = "invite"
    with pytest.raises(ImproperlyConfigured, match="ATELIER_SIGN_UP"):
        refuse_to_serve_unsafely(web=True)


def test_a_process_with_a_lease_that_ends_after_one_late_heartbeat_does_not_serve(settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEYS = "anything else", ["c29tZXRoaW5nLWVsc2Utc29tZXRoaW5nLWVsc2UtMTI="]
    settings.RUN_LEASE, settings.RUN_HEARTBEAT = 6.0, 3.0
    with pytest.raises(ImproperlyConfigured, match="RUN_LEASE is too short"):
        refuse_to_serve_unsafely()
    settings.RUN_LEASE = 6.5
    refuse_to_serve_unsafely()


def test_a_process_with_an_unknown_or_incomplete_web_search_does_not_serve(settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEYS = "anything else", ["c29tZXRoaW5nLWVsc2Utc29tZXRoaW5nLWVsc2UtMTI="]
    settings.WEB_SEARCH = {"provider": "oracle", "url": "", "key": ""}
    with pytest.raises(ImproperlyConfigured, match="WEB_SEARCH_PROVIDER names no search service"):
        refuse_to_serve_unsafely()
    settings.WEB_SEARCH = {"provider": "tavily", "url": "", "key": ""}
    with pytest.raises(ImproperlyConfigured, match=r"WEB_SEARCH_KEY is not set, which tavily needs\.$"):
        refuse_to_serve_unsafely(web=True)


def test_http_is_redirected_to_https(client: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.SECURE_HSTS_SECONDS = True, 31536000
    answer = client.get("/api/v1/me")
    assert (answer.status_code, answer["Location"]) == (301, "https://testserver/api/v1/me")
    secure = client.get("/api/v1/me", secure=True)
    assert secure.status_code == 401
    assert secure["Strict-Transport-Security"] == "max-age=31536000"


@pytest.fixture
def built(settings: Any, tmp_path: Path) -> Path:
    settings.WEB_APP = tmp_path
    (tmp_path / "index.html").write_text("<p>the web app</p>")
    (tmp_path / "landing.html").write_text("<p>the landing page</p>")
    return tmp_path


@pytest.mark.parametrize("path", ["/sign-up", "/acme/chats/0199-aa", "/apiary", "/metrics-of/x"])
def test_every_path_of_the_web_app_returns_its_page(client: Client, built: Path, path: str) -> None:
    answer = client.get(path)
    assert answer.content == b"<p>the web app</p>"
    assert "csrftoken" in answer.cookies
    assert "no-cache" in answer["Cache-Control"]
    assert "'self'" in answer["Content-Security-Policy"]


def test_a_page_that_is_requested_without_a_session_is_marked(client: Client, built: Path, settings: Any) -> None:
    (built / "index.html").write_text('<html lang="en"></html>')
    assert client.get("/sign-in").content == b'<html data-anonymous lang="en"></html>'
    client.cookies[settings.SESSION_COOKIE_NAME] = "x"
    assert client.get("/sign-in").content == b'<html lang="en"></html>'


def test_a_browser_that_opens_an_unknown_address_gets_the_web_app(client: Client, built: Path) -> None:
    opened: Any = {"headers": {"accept": "text/html,*/*;q=0.8"}}
    for path in ("/static/assets/gone.js", "/_allauth/x"):
        answer = client.get(path, **opened)
        assert (answer.status_code, answer.content) == (404, b"<p>the web app</p>")
    assert client.get("/api/v1/nothing-here", **opened).json()["error"]["code"] == "not_found"
    assert client.post("/_allauth/x", **opened).content == b"There is nothing at this URL."


@pytest.mark.django_db
def test_visitors_who_are_not_signed_in_get_the_landing_page(team: Team, client: Client, built: Path) -> None:
    answer = client.get("/")
    assert answer.content == b"<p>the landing page</p>"
    assert "csrftoken" in answer.cookies
    assert "no-cache" in answer["Cache-Control"]
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    client.force_login(team.bob)
    assert client.get("/").content == b"<p>the web app</p>"
    assert client.delete("/_allauth/browser/v1/auth/session").status_code == 401  # signed out
    assert client.get("/").content == b"<p>the landing page</p>"


@pytest.mark.parametrize("path", ["/static/assets/gone.js", "/ws/x", "/_allauth/x", "/metrics", "/metrics/"])
def test_a_missing_file_is_a_404(client: Client, built: Path, path: str) -> None:
    assert client.get(path).status_code == 404


def test_a_missing_endpoint_is_a_404_in_the_format_of_the_api(client: Client, built: Path) -> None:
    answer = client.get("/api/v1/nothing-here")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not_found"


def test_the_page_refuses_post(client: Client, built: Path) -> None:
    assert client.post("/sign-up").status_code == 405


def test_a_new_build_is_served_without_a_restart(client: Client, built: Path) -> None:
    assert [client.get(path).content for path in ("/", "/sign-in")] == [
        b"<p>the landing page</p>",
        b"<p>the web app</p>",
    ]
    (built / "index.html").write_text("<p>newer</p>")
    assert client.get("/sign-in").content == b"<p>newer</p>"


def test_without_a_build_the_response_says_how_to_make_one(client: Client, settings: Any, tmp_path: Path) -> None:
    settings.WEB_APP = tmp_path / "nowhere"
    answer = client.get("/")
    assert answer.status_code == 503
    assert b"make run" in answer.content


def test_RUN7_an_unavailable_database_is_503_with_retry_after(rf: RequestFactory) -> None:
    try:
        raise OperationalError("the connection is closed")
    except OperationalError:
        answer = error_pages.internal_error(rf.get("/api/v1/x"))
    assert answer.status_code == 503
    assert answer["Retry-After"] == "2"


def test_a_request_without_a_csrf_token_is_refused_in_plain_text() -> None:
    answer = Client(enforce_csrf_checks=True).post("/_allauth/browser/v1/auth/login", {}, "application/json")
    assert (answer.status_code, answer["Content-Type"]) == (403, "text/plain")
    assert answer.content.startswith(b"CSRF")


def test_every_error_handler_exists() -> None:
    for status in (400, 403, 404, 500):
        module, _, name = str(getattr(urls, f"handler{status}")).rpartition(".")
        assert module == "config.error_pages"
        assert callable(getattr(error_pages, name))


@pytest.mark.parametrize(
    "secret", ["", "whsec_", "whsec_c2hvcnQ=", "not base64 at all, however long it may be", "_-" * 20]
)
def test_a_process_with_an_invalid_secret_of_the_merge_service_does_not_serve(settings: Any, secret: str) -> None:
    settings.SECRET_KEY, settings.SECRET_KEYS = (
        "long and random and ours",
        ["b3Vyb3duLW91cm93bi1vdXJvd24tb3Vyb3duLW91cm8="],
    )
    settings.MERGE_SERVICE = {"url": "http://merges.example.org/", "secret": secret}
    with pytest.raises(
        ImproperlyConfigured, match="MERGE_SERVICE_SECRET is not a valid secret. At least 24 random bytes in base64,"
    ):
        refuse_to_serve_unsafely()
    for valid in ("whsec_eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4", "eHh4" * 30):  # 24 and 90 bytes
        settings.MERGE_SERVICE["secret"] = valid
        refuse_to_serve_unsafely()
