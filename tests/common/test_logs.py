"""No log line contains a secret, wherever in the line it is (SEC17)."""

import html
import json
import logging
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from common.logs import (
    LONGEST_SPELLING,
    MAX_HIDDEN_SECRETS,
    ScrubSecrets,
    hide_secret,
    redact_beginning,
    redact_secrets,
    scrub,
)
from common.secrets import Secret


def format_line(message: str, *args: Any, exc_info: Any = None) -> str:
    """Return the line that a handler with our filter writes."""
    record = logging.LogRecord("x", logging.INFO, "x.py", 1, message, args, exc_info)
    assert ScrubSecrets().filter(record)
    return logging.Formatter("%(message)s").format(record)


@pytest.mark.parametrize(
    "text",
    [
        "sk-abcdefghijkl1234",
        "sk-proj-abc_DEF-123456789",
        "Authorization: Bearer abcdefgh12345678",
        "postgres://atelier:geheim123@host/db",
        "redis://:geheim123@host/0",
    ],
)
def test_SEC17_a_text_that_looks_like_a_key_is_not_logged(text: str) -> None:
    written = format_line("tried with %s", text)
    assert "***" in written
    for part in ("abcdefgh", "geheim123", "abc_DEF"):
        assert part not in written


def test_SEC17_a_revealed_secret_is_removed_from_messages_and_tracebacks() -> None:
    key = Secret("plainlooking-value-5512")
    assert "plainlooking" in format_line("before: plainlooking-value-5512")
    key.reveal()
    assert format_line("after: %s", "plainlooking-value-5512") == "after: ***"
    try:
        raise ValueError("provider said: plainlooking-value-5512 is wrong")
    except ValueError as error:
        written = format_line("failed", exc_info=(type(error), error, error.__traceback__))
    assert "provider said: *** is wrong" in written
    assert "Traceback" in written
    assert "5512" not in written


def test_a_secret_that_begins_with_another_secret_is_hidden_completely() -> None:
    hide_secret("abcdefgh-1")
    hide_secret("abcdefgh-1-and-more")
    assert scrub("x abcdefgh-1-and-more y abcdefgh-1") == "x *** y ***"


SECRET = "k3y/wi\"th<&>'signs+Ünd%"


SPELLINGS: list[Callable[[str], str]] = [
    str,
    str.lower,
    str.upper,
    quote,
    lambda secret: quote(secret, safe="").lower(),
    quote_plus,
    lambda secret: json.dumps(secret)[1:-1],
    lambda secret: json.dumps(secret, ensure_ascii=False)[1:-1],
    lambda secret: json.dumps(secret)[1:-1].replace("/", "\\/"),
    lambda secret: json.dumps(secret)[1:-1].replace("<", "\\u003c").replace("&", "\\u0026").replace(">", "\\u003E"),
    html.escape,
    lambda secret: html.escape(secret, quote=False),
    lambda secret: html.escape(secret).replace("&#x27;", "&#39;").replace("&quot;", "&#34;"),
    lambda secret: html.escape(secret).replace("&#x27;", "&#039;"),
    lambda secret: b64encode(secret.encode()).decode(),
    lambda secret: b64encode(secret.encode()).decode().rstrip("="),
    lambda secret: urlsafe_b64encode(secret.encode()).decode(),
    lambda secret: urlsafe_b64encode(secret.encode()).decode().rstrip("="),
    lambda secret: secret.encode().hex(),
    lambda secret: secret.encode().hex().upper(),
]


@pytest.mark.parametrize("spell", SPELLINGS)
@pytest.mark.parametrize("secret", [SECRET, SECRET * 174], ids=["ordinary", "largest"])
def test_SEC17_a_secret_that_a_server_repeats_is_masked_in_every_spelling(spell, secret) -> None:
    assert redact_secrets(f"<p>You sent {spell(secret)}.</p>", secret) == "<p>You sent ***.</p>"


@pytest.mark.parametrize("secret", ["a%41b&lt;c", "\\u0041bcd", "100%abcd%", "x&amp", "4142abcd", "a=b+c=="])
def test_SEC17_a_secret_that_looks_escaped_is_masked(secret) -> None:
    for spell in SPELLINGS:
        for before, after in (("", ""), ('"', '"'), ("%25", "20"), ("", ";")):
            assert redact_secrets(f"{before}{spell(secret)}{after}", secret) == f"{before}***{after}"
    for before, after in (("%", "20"), ("\\", "u0041"), ("&", ";")):
        assert redact_secrets(f"{before}{secret}{after}", secret).strip("\\") == f"{before}***{after}".strip("\\")


def test_SEC17_only_backslashes_are_left_of_a_secret_that_ends_with_one() -> None:
    secret = "pass\\word\\"
    assert redact_secrets(json.dumps([secret]), secret) == '["***\\\\"]'
    assert redact_secrets(f"{secret}.", secret) == "***."


def test_several_secrets_that_overlap_are_masked_as_one() -> None:
    assert redact_secrets("It is user:geheim%2B1, geheim+1.", "user:geheim+1", "geheim+1") == "It is ***, ***."


@pytest.mark.parametrize("shape", ["!", "%21", "&#33;", "\\!", "\\"])
def test_the_largest_text_is_searched_for_the_largest_secret_in_few_passes(shape) -> None:
    """The test would take minutes if each position were compared with the whole secret."""
    secret = "!" * 3_999 + "a"
    text = shape * (1024 * 1024 // len(shape))
    assert redact_secrets(f"{text} {quote(secret)}", "user:" + secret, secret) == f"{text} ***"


@pytest.mark.parametrize("spell", SPELLINGS)
def test_SEC17_a_secret_is_masked_of_which_a_beginning_has_only_a_part(spell) -> None:
    for length in range(1, 12):
        assert (
            redact_beginning(f"a{spell(SECRET)} {'.' * 1_000_000}", length, SECRET) == "a***"[: 1 if length == 1 else 4]
        )


def test_a_beginning_is_redacted_without_the_rest_of_the_text() -> None:
    assert redact_beginning("." * 1_000_000, 500, SECRET) == "." * 500
    assert redact_beginning(f"{SECRET} {'.' * 500}", 500, SECRET) == f"*** {'.' * (499 - len(SECRET))}"
    assert redact_beginning("a sk-abcdefghijkl1234 b", 8, SECRET) == "a *** b"
    far = f"{'.' * (500 + LONGEST_SPELLING)}{SECRET}"
    assert redact_beginning(far, 500, SECRET) == "." * 500


def test_ordinary_words_are_not_hidden() -> None:
    hide_secret("short")
    text = "the skeleton of a short task: 12 risks, sk- and ghost@host"
    assert format_line(text) == text


def test_only_the_newest_secrets_are_hidden() -> None:
    hide_secret("the-first-of-many")
    for number in range(MAX_HIDDEN_SECRETS):
        hide_secret(f"filler-{number:06}")
    assert scrub("the-first-of-many") == "the-first-of-many"
