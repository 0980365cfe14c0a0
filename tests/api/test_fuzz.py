"""SEC20: no input crashes an operation; invalid input is refused with a reason."""

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
from tests.api.fixtures import TeamWithThings
from tests.api.operations import OPERATIONS, Operation

IS_LONG = "FUZZ_N" in os.environ
"""Whether every odd value is tried in every field; otherwise each field gets a third of them, in turn."""
FUZZ_SETTINGS = settings(
    max_examples=int(os.environ.get("FUZZ_N", "6")),
    deadline=None,
    derandomize=not IS_LONG,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

ODD_TEXTS = [
    "",
    " ",
    "\x00",
    "a\x00b",
    "\ud800",
    "x\udfff",
    "\n",
    "name\n",
    "\u202e",
    "\U0001f600" * 50,
    "x" * 100_000,
    "{name}",
    "%s",
    "null",
    "-1",
    "1e999",
    "NaN",
    "../../etc/passwd",
    "' OR 1=1 --",
    "019aa0aa-0000-7000-8000-000000000000",
    "http://[::1",
    "http://127.0.0.1:99999/",
    "http://a\x00b/",
    "http://user:pass@127.0.0.1/",
    "//127.0.0.1",
    "http://",
]
ODD_NUMBERS = [
    0,
    -1,
    1,
    2**31 - 1,
    2**31,
    2**32,
    2**53,
    2**63 - 1,
    2**63,
    -(2**63) - 1,
    10**30,
    10**400,
    0.5,
    -0.0,
    1e308,
    float("inf"),
    float("nan"),
]
ODD_OTHERS: list[Any] = [
    None,
    True,
    [],
    {},
    [[]],
    {"": {}},
    ["\x00"],
    {"\x00": "\x00"},
    {"\ud800": 1},
    [1e308 * 10],
    ["x"] * 300,
    json.loads("[" * 300 + "]" * 300),
]
ODD_VALUES = [
    "",
    "\x00",
    "a\x00b",
    "\ud800",
    "name\n",
    "x" * 100_000,
    "unheard-of",
    "http://[::1",
    -1,
    2**31 - 1,
    2**31,
    2**63,
    10**30,
    0.5,
    float("inf"),
    *ODD_OTHERS,
]
"""Values that often crash programs, tried in every field."""
SCALARS = st.none() | st.booleans() | st.sampled_from(ODD_NUMBERS) | st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
ODD = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
)


def list_paths(body: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a body, including the body itself."""
    inside = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    return [at, *(path for key, value in inside for path in list_paths(value, (*at, key)))]


def replace_value(body: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of the body with another value at one path."""
    if not path:
        return value
    changed = replace_value(body[path[0]], path[1:], value)
    if isinstance(body, list):
        return [changed if place == path[0] else item for place, item in enumerate(body)]
    return {**body, path[0]: changed}


@st.composite
def build_bodies(draw: st.DrawFn, valid: Any) -> Any:
    """Return a valid body with one or two odd values."""
    for _ in range(draw(st.integers(1, 2))):
        places = [*list_paths(valid), *([("unknown",)] if isinstance(valid, dict) else [])]
        place = draw(st.sampled_from(places))
        if place == ("unknown",):
            valid = {**valid, draw(st.sampled_from(["unknown", "id", "__class__", "content", "caret"])): draw(ODD)}
        else:
            valid = replace_value(valid, place, draw(ODD))
    return valid


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
    [
        "",
        "text/plain",
        "application/json; charset=utf-7",
        "application/json; charset=\xff",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "application/x-www-form-urlencoded",
        "application/json;;=",
        "x" * 300,
    ]
)
FULL = {
    "create_agent": {
        "name": "New",
        "description": "d",
        "handle": "new",
        "template": "scribe",
        "prompt": "p",
        "tools": ["current_time"],
        "open_chat": True,
        "questions": ["What?"],
    },
    "write_draft": {
        "content": {
            "prompt": "p",
            "model": "m",
            "parameters": {"temperature": 1},
            "limits": {"max_steps": 3},
            "tools": [{"tool": "current_time", "custom_config": {"timeout_s": 3}}],
        },
        "revision": 1,
        "caret": 1,
    },
    "create_board": {
        "id": "019aa0aa-0000-7000-8000-000000000000",
        "user_input": "Kyoto",
        "tasks": [
            {
                "agent_id": "019aa0aa-0000-7000-8000-000000000000",
                "description": "d",
                "parameters": {"city": "Kyoto"},
                "after": [1],
                "join": "any",
                "on_failure": "stop",
                "max_attempts": 2,
                "file_ids": ["019aa0aa-0000-7000-8000-000000000000"],
            }
        ],
        "reasoning": "r",
        "requires_aggregation": True,
        "aggregator_id": "019aa0aa-0000-7000-8000-000000000000",
        "max_at_once": 1,
        "limit_micro": 1,
        "start": True,
    },
    "retry_board_task": {"description": "d", "parameters": {"city": "Kyoto"}},
    "fork_board": {
        "id": "019aa0aa-0000-7000-8000-000000000000",
        "number": 1,
        "description": "d",
        "parameters": {"city": "Kyoto"},
    },
    "save_draft": {"revision": 1, "base_version": 1, "message": "m"},
    "create_workspace": {"name": "New", "handle": "new"},
    "change_me": {"name": "New", "language": "en"},
    "create_link": {"role": "editor", "expires_in_hours": 1},
    "set_model": {
        "provider": "openai_compatible",
        "default_model": "m",
        "revision": 0,
        "key": "k",
        "api_base": "http://127.0.0.1:9/v1",
    },
}
"""Bodies with every field, for operations where the table has fewer."""


def build_valid_body(name: str, things: dict[str, Any]) -> Any:
    return FULL.get(name) or OPERATIONS[name].body(
        {key: value if isinstance(value, int) else str(value) for key, value in things.items()}
    )


@pytest.fixture
def client(team_with_things: TeamWithThings) -> Client:
    """A browser in which Alice is signed in."""
    client = Client(raise_request_exception=False)
    client.force_login(team_with_things[0].alice)
    return client


SCHEMA = json.loads((ROOT / "frontend/src/api/generated/openapi.json").read_text())
QUERY_PARAMETERS: dict[tuple[str, str], list[str]] = {
    (path.removeprefix("/api/v1/"), method.upper()): [
        parameter["name"] for parameter in operation.get("parameters", ()) if parameter["in"] == "query"
    ]
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
}
"""The parameters of each operation's query string, by the schema."""
DOCUMENTED: dict[tuple[str, str], set[str]] = {
    (path.removeprefix("/api/v1/"), method.upper()): set(operation["responses"])
    for path, methods in SCHEMA["paths"].items()
    for method, operation in methods.items()
}
"""The statuses that each operation may return, by the schema."""


def find_documented_path(operation: Operation) -> str:
    """Return the path of an operation in the schema. The table of operations may have a number where the schema has a name."""
    return next(path for path, method in DOCUMENTED if method == operation.method and matches(path, operation.path))


def matches(path: str, asked: str) -> bool:
    template, parts = path.split("/"), asked.partition("?")[0].split("/")
    return len(template) == len(parts) and all(
        one == other or one.startswith("{") for one, other in zip(template, parts, strict=True)
    )


def send_and_check(
    client: Client,
    operation: Operation,
    things: dict[str, Any],
    raw: bytes,
    kind: str = "application/json",
    query: str = "",
) -> None:
    """Send a request, roll its changes back, and check the response against the schema."""
    path = f"/api/v1/{operation.path.format(**things)}{query}"
    with transaction.atomic():
        answer: Any = client.generic(operation.method, path, raw, kind)
        # Reading a download to its end closes its file.
        content = b"".join(answer.streaming_content) if answer.streaming else answer.content
        transaction.set_rollback(True)
    assert answer.status_code < 500, (operation.method, path, raw[:500], kind, content[:500])
    assert str(answer.status_code) in DOCUMENTED[find_documented_path(operation), operation.method], (
        raw[:500],
        content[:500],
    )
    if answer.status_code >= 400:
        ErrorAnswer.model_validate(answer.json())


OPERATIONS_WITH_BODY = [name for name, operation in OPERATIONS.items() if operation.method in ("POST", "PUT", "PATCH")]


@pytest.mark.parametrize("name", OPERATIONS_WITH_BODY)
def test_SEC20_no_odd_value_in_one_field_crashes_an_operation(team_with_things, client, name):
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    body = build_valid_body(name, things)
    for number, place in enumerate(list_paths(body)):
        for value in ODD_VALUES if IS_LONG else ODD_VALUES[number % 3 :: 3]:
            send_and_check(client, operation, things, json.dumps(replace_value(body, place, value)).encode())


@pytest.mark.parametrize("name", OPERATIONS_WITH_BODY)
def test_SEC20_no_random_body_crashes_an_operation(team_with_things, client, name):
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")

    @FUZZ_SETTINGS
    @given(body=build_bodies(build_valid_body(name, things)))
    def check(body: Any) -> None:
        send_and_check(client, operation, things, json.dumps(body).encode())

    check()


@pytest.mark.parametrize("name", ["create_workspace", "post_message", "write_draft", "accept_invitation"])
def test_SEC20_no_invalid_json_crashes_an_operation(team_with_things, client, name):
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")

    @FUZZ_SETTINGS
    @given(raw=RAW, kind=CONTENT_TYPES | st.just("application/json"))
    def check(raw: bytes, kind: str) -> None:
        send_and_check(client, operation, things, raw, kind)

    check()


QUERIES = ["limit", "before", "since", "state", "language", "unknown"]
"""Parameters that are tried together for each operation that does not have them."""


@pytest.mark.parametrize("name", [name for name, operation in OPERATIONS.items() if operation.method == "GET"])
def test_SEC20_no_query_string_crashes_an_operation(team_with_things, client, name):
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    odd = [
        "",
        "0",
        "-1",
        "%00",
        "a%00b",
        "%ED%A0%80",
        "1e5",
        "١",
        str(2**63),
        str(10**30),
        "9" * 5000,
        "x",
        "1&limit=2",
    ]
    documented = QUERY_PARAMETERS[find_documented_path(operation), operation.method]
    tried = [[key] for key in documented] + [[key for key in QUERIES if key not in documented]]
    for number, keys in enumerate(tried):
        for value in odd if IS_LONG else odd[number % 3 :: 3]:
            query = "&".join(f"{key}={value}" for key in keys)
            send_and_check(client, operation, things, b"", "", f"?{query}")
