"""SEC20: whatever arrives, every operation answers by a refusal that says why; never by a crash."""

import json
import os
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.rest import ErrorAnswer
from launcher.home import ROOT
from tests.api.operations import OPERATIONS, Operation, things_of
from tests.people import Team

BESIDE = settings(
    max_examples=int(os.environ.get("FUZZ_N", "10")), deadline=None, derandomize="FUZZ_N" not in os.environ, database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip

ODD_TEXTS = [
    "", " ", "\x00", "a\x00b", "\ud800", "x\udfff", "\n", "name\n", "\u202e", "\U0001f600" * 50, "x" * 100_000, "{name}", "%s",
    "null", "-1", "1e999", "NaN", "../../etc/passwd", "' OR 1=1 --", "019aa0aa-0000-7000-8000-000000000000",
    "http://[::1", "http://127.0.0.1:99999/", "http://a\x00b/", "http://user:pass@127.0.0.1/", "//127.0.0.1", "http://",
]  # fmt: skip
ODD_NUMBERS = [
    0, -1, 1, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, -(2**63) - 1, 10**30, 10**400, 0.5, -0.0, 1e308,
    float("inf"), float("nan"),
]  # fmt: skip
ODD_OTHERS: list[Any] = [
    None, True, [], {}, [[]], {"": {}}, ["\x00"], {"\x00": "\x00"}, {"\ud800": 1}, [1e308 * 10], ["x"] * 300,
    json.loads("[" * 300 + "]" * 300),
]  # fmt: skip
DECISIVE = [
    "", "\x00", "a\x00b", "\ud800", "name\n", "x" * 100_000, "unheard-of", "http://[::1", -1, 2**31 - 1, 2**31, 2**63, 10**30, 0.5,
    float("inf"), *ODD_OTHERS,
]  # fmt: skip
"""What has made programs like this one crash, tried in every place."""
SCALARS = st.none() | st.booleans() | st.sampled_from(ODD_NUMBERS) | st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
ODD = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def paths_of(body: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where something stands in a body, the body itself among them."""
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    return [at, *(path for key, value in inside for path in paths_of(value, (*at, key)))]


def with_value(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of the body with something else in one place."""
    if not path:
        return value
    changed = with_value(body[path[0]], path[1:], value)
    if isinstance(body, list):
        return [changed if place == path[0] else item for place, item in enumerate(body)]
    return {**body, path[0]: changed}


@st.composite
def bodies(draw: st.DrawFn, fitting: Any) -> Any:
    """A body that fits but for one or two places; or anything at all."""
    for _ in range(draw(st.integers(1, 2))):
        places = [*paths_of(fitting), *([("unknown",)] if isinstance(fitting, dict) else [])]
        place = draw(st.sampled_from(places))
        if place == ("unknown",):
            fitting = {**fitting, draw(st.sampled_from(["unknown", "id", "__class__", "content", "caret"])): draw(ODD)}
        else:
            fitting = with_value(fitting, place, draw(ODD))
    return fitting


RAW = st.binary(max_size=40) | st.sampled_from(
    [
        b"",
        b"[]",
        b'""',
        b"null",
        b"0",
        b"{",
        b'{"name": "a", "name": "b"}',
        b'{"a":' * 5_000,
        b"\xef\xbb\xbf{}",
        b"9" * 5_000,
    ]
)
CONTENT_TYPES = st.sampled_from(
    ["", "text/plain", "application/json; charset=utf-7", "application/json; charset=\xff", "multipart/form-data",
     "multipart/form-data; boundary=", "application/x-www-form-urlencoded", "application/json;;=", "x" * 300]
)  # fmt: skip
FULL = {
    "create_agent": {"name": "New", "description": "d", "handle": "new", "template": "scribe", "prompt": "p",
                     "tools": ["current_time"], "open_chat": True},
    "write_draft": {"content": {"prompt": "p", "model": "m", "parameters": {"temperature": 1}, "limits": {"max_steps": 3},
                                "tools": [{"tool": "current_time", "custom_config": {"timeout_s": 3}}]},
                    "revision": 1, "caret": 1},
    "save_draft": {"revision": 1, "base_version": 1, "message": "m"},
    "create_workspace": {"name": "New", "handle": "new"},
    "change_me": {"name": "New", "language": "en"},
    "create_link": {"role": "editor", "expires_in_hours": 1},
    "set_model": {"provider": "openai_compatible", "default_model": "m", "revision": 0, "key": "k",
                  "api_base": "http://127.0.0.1:9/v1"},
}  # fmt: skip
"""Bodies with every field, where the table names fewer."""


def fitting_body(name: str, things: dict[str, Any]) -> Any:
    return FULL.get(name) or OPERATIONS[name].body(
        {key: value if isinstance(value, int) else str(value) for key, value in things.items()}
    )


@pytest.fixture
def client(team: Team) -> Client:
    """Alice's."""
    client = Client(raise_request_exception=False)
    client.force_login(team.alice)
    return client


SCHEMA = json.loads((ROOT / "frontend/src/api/generated/openapi.json").read_text())
DOCUMENTED: dict[tuple[str, str], set[str]] = {
    (path.removeprefix("/api/v1/"), method.upper()): set(operation["responses"])
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
}
"""The statuses that each operation may answer with, as an integrator reads them."""


def documented_path(operation: Operation) -> str:
    """As the schema has it: the table of operations may hold a number where the schema has a name."""
    return next(path for path, method in DOCUMENTED if method == operation.method and fits(path, operation.path))


def fits(path: str, asked: str) -> bool:
    named, given = path.split("/"), asked.partition("?")[0].split("/")
    return len(named) == len(given) and all(
        one == other or one.startswith("{") for one, other in zip(named, given, strict=True)
    )


def sent(
    client: Client,
    operation: Operation,
    things: dict[str, Any],
    raw: bytes,
    kind: str = "application/json",
    query: str = "",
) -> None:
    """Ask; what it changed is taken back."""
    path = f"/api/v1/{operation.path.format(**things)}{query}"
    with transaction.atomic():
        answer = client.generic(operation.method, path, raw, kind)
        transaction.set_rollback(True)
    assert answer.status_code < 500, (operation.method, path, raw[:500], kind, answer.content[:500])
    assert str(answer.status_code) in DOCUMENTED[documented_path(operation), operation.method], (
        raw[:500],
        answer.content[:500],
    )
    if answer.status_code >= 400:
        ErrorAnswer.model_validate(answer.json())


TAKING_A_BODY = [name for name, operation in OPERATIONS.items() if operation.method in ("POST", "PUT", "PATCH")]


@pytest.mark.parametrize("name", TAKING_A_BODY)
def test_SEC20_nothing_odd_in_one_place_makes_an_operation_crash(team, client, name):
    operation, things = OPERATIONS[name], things_of(team)
    operation.given(team, things, "alice")
    body = fitting_body(name, things)
    for place in paths_of(body):
        for value in DECISIVE:
            sent(client, operation, things, json.dumps(with_value(body, place, value)).encode())


@pytest.mark.parametrize("name", TAKING_A_BODY)
def test_SEC20_no_body_makes_an_operation_crash(team, client, name):
    operation, things = OPERATIONS[name], things_of(team)
    operation.given(team, things, "alice")

    @BESIDE
    @given(body=bodies(fitting_body(name, things)))
    def nothing_crashes(body: Any) -> None:
        sent(client, operation, things, json.dumps(body).encode())

    nothing_crashes()


@pytest.mark.parametrize("name", ["create_workspace", "post_message", "write_draft", "accept_invitation"])
def test_SEC20_what_is_no_json_makes_nothing_crash(team, client, name):
    operation, things = OPERATIONS[name], things_of(team)
    operation.given(team, things, "alice")

    @BESIDE
    @given(raw=RAW, kind=CONTENT_TYPES | st.just("application/json"))
    def nothing_crashes(raw: bytes, kind: str) -> None:
        sent(client, operation, things, raw, kind)

    nothing_crashes()


QUERIES = ["limit", "before", "since", "state", "language", "unknown"]


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.method == "GET"])
def test_SEC20_no_query_makes_an_operation_crash(team, client, name):
    operation, things = OPERATIONS[name], things_of(team)
    operation.given(team, things, "alice")
    odd = ["", "0", "-1", "%00", "%ED%A0%80", "1e5", "١", str(2**63), str(10**30), "9" * 5000, "x", "1&limit=2"]
    for key in QUERIES:
        for value in odd:
            sent(client, operation, things, b"", "", f"?{key}={value}")
