"""What looks like a key or a password in a text."""

import pytest

from common.secret_search import find_secret_lines


@pytest.mark.parametrize(
    "line",
    [
        "sk-abcdefgh12345678",
        "Authorization: Bearer abcdefgh.1234",
        "postgres://robin:hunter22@db/main",
        "-----BEGIN RSA PRIVATE KEY-----",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
        "Send 0123456789abcdef0123456789abcdef along.",
        "wJalrXUtnFEMIK7MDENGbPxRfiCYzzzz12EXAMPLEKEY",
        "The password is hunter2.",
        '"api_key": "abcd1234"',
        "**Password:** `s3cret!`",
        "密碼：abc12345",
        "密码是abc12345",
        "client secret = 8f-xx-22",
    ],
)
def test_a_line_with_a_key_or_a_password_is_found(line):
    assert find_secret_lines(f"Be kind.\n{line}\nSing.") == [2]


@pytest.mark.parametrize(
    "line",
    [
        "Never ask for a password, and never repeat one.",
        "The password is required.",
        "Say that the token is invalid if it is.",
        "api_key = <your key>",
        "password: ${PASSWORD}",
        "Use agent_0190a8f0000070008000000000000001 for birds.",
        "See 01a2226a-6e1b-7c3d-9e4f-0123456789ab.",
        "密碼請不要告訴別人。",
        "Translate https://docs.example/a/very/long/path/of/many/words/index.html.",
        "Pneumonoultramicroscopicsilicovolcanoconiosis",
    ],
)
def test_an_ordinary_line_is_not(line):
    assert find_secret_lines(line) == []


def test_a_long_text_takes_no_time():
    for text in ("a" * 200_000, "password" * 25_000, "password " * 20_000, "1a" * 100_000, "A1a" * 66_000 + "!"):
        find_secret_lines(text)
