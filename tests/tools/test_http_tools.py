"""Workspace tools that send an HTTP request, to real servers on the loopback: what is sent, what the model reads, and attacks."""

import asyncio
import gzip
import json
import resource
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiohttp import web

from actors.models import Actor
from common.egress import HostRefused, close_sessions
from common.errors import Invalid
from common.ids import new_id
from common.secrets import Secret
from common.shared_slots import limit_working_time
from common.tenants import set_current_tenant
from events.payloads import HTTPResponseData
from events.rows import Policy
from tests.hostile_web import Site, build_bomb, run_site, run_tcp_server
from tools.arguments import ArgumentsNotCheckable, find_problems
from tools.credentials import encrypt_credential
from tools.http.form import FormArgument, ToolForm
from tools.http.mapping import RequestMapping, build_http_request
from tools.http.tool import MAX_BYTES, HTTPTool
from tools.interface import ToolContext, ToolError, ToolOutput
from tools.models import ToolServer, WorkspaceTool
from tools.stored_tool import MAX_CHARACTERS, call_slots

KEY = "k3y-with/slash+and%sign"


def build_tool(
    base_url: str,
    request: dict[str, Any] | None = None,
    *,
    auth: str = "none",
    auth_name: str = "",
    key: str = "",
    headers: dict[str, str] | None = None,
    **fields: Any,
) -> HTTPTool:
    server = ToolServer(
        kind="http", name="Booking", base_url=base_url, auth=auth, auth_name=auth_name, headers=headers or {}
    )
    server.encrypted_credential = encrypt_credential(server, Secret(key))
    mapping = request or {"method": "GET", "path": "/things", "arguments": [{"name": "query", "where": "query"}]}
    row = WorkspaceTool(
        server=server,
        name="find",
        description="Find.",
        request=mapping,
        **{"effect": "read" if mapping["method"] == "GET" else "write", "input_schema": {"type": "object"}} | fields,
    )
    return HTTPTool(row)


async def call(tool: HTTPTool, **arguments: Any) -> ToolOutput:
    context = ToolContext(Actor(name="Scribe"), None, None, uuid4(), "call_7", config=tool.parse_config({}))
    parsed = tool.parse_arguments(json.dumps(arguments))
    async with asyncio.timeout(context.config.timeout_s):
        return await tool.run(context, parsed)


async def fail(tool: HTTPTool, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as raised:
        await call(tool, **arguments)
    return raised.value


def data_of(output: ToolOutput) -> HTTPResponseData:
    assert isinstance(output.data, HTTPResponseData)
    return output.data


def echo(request: web.Request) -> web.Response:
    return web.json_response({"path": request.raw_path, "headers": dict(request.headers)})


BOOK = {
    "method": "POST",
    "path": "/v1/{city}/holds",
    "body": "json",
    "arguments": [
        {"name": "city", "where": "path"},
        {"name": "dates", "where": "query"},
        {"name": "trace", "where": "header", "target": "X-Trace"},
        {"name": "party", "where": "body"},
        {"name": "name", "where": "body", "target": "lead_name"},
    ],
}


async def test_each_argument_goes_to_its_place(site: Site) -> None:
    bodies = []

    async def book(request: web.Request) -> web.Response:
        bodies.append(await request.json())
        return web.json_response({"held": 2}, status=201)

    site.pages["/api/v1/東京 🗼/holds"] = book
    output = await call(
        build_tool(site.url("/api/"), BOOK),
        city="東京 🗼",
        dates=["2026-01-02", "2026-01-03"],
        trace="t-1",
        party=2,
        name="李雷",
    )
    [asked] = site.asked
    assert asked.raw_path == "/api/v1/%E6%9D%B1%E4%BA%AC%20%F0%9F%97%BC/holds?dates=2026-01-02&dates=2026-01-03"
    assert (asked.method, asked.headers["X-Trace"], asked.headers["Idempotency-Key"]) == ("POST", "t-1", "call_7")
    assert bodies == [{"party": 2, "lead_name": "李雷"}]
    data = data_of(output)
    assert (data.server, data.method, data.path, data.status) == ("Booking", "POST", "/v1/{city}/holds", 201)
    assert json.loads(data.text) == {"held": 2}


@pytest.mark.parametrize("value", ["../../admin", "a/b", "a?b=c", "a#b", "%2e%2e%2f", "..\\..", "a;b"])
async def test_an_argument_cannot_leave_its_place_in_the_path(site: Site, value: str) -> None:
    mapping = {"method": "GET", "path": "/v1/{id}/x", "arguments": [{"name": "id", "where": "path"}]}
    await fail(build_tool(site.url(), mapping), id=value)  # 404
    [asked] = site.asked
    assert asked.raw_path.startswith("/v1/")
    assert asked.raw_path.count("/") == 3
    assert asked.path == f"/v1/{value}/x"


def test_line_breaks_in_the_path_and_the_query_are_encoded() -> None:
    mapping = {"method": "GET", "path": "/v1/{id}", "arguments": [{"name": "id", "where": "path"}]}
    built = build_http_request(RequestMapping.model_validate(mapping), {"id": "\r\nHost: x"})
    assert built.path == "/v1/%0D%0AHost%3A%20x"


@pytest.mark.parametrize("name", ["größe", "a[0]", "編號"])
def test_a_placeholder_of_the_path_may_have_any_name(name: str) -> None:
    mapping = {"method": "GET", "path": f"/räume/{{{name}}}/x", "arguments": [{"name": name, "where": "path"}]}
    built = build_http_request(RequestMapping.model_validate(mapping), {name: "7 & 8"})
    assert built.path == "/r%C3%A4ume/7%20%26%208/x"


@pytest.mark.parametrize("value", ["", ".", "..", [], ["."]])
async def test_an_argument_of_the_path_is_not_empty_and_no_dots(site: Site, value: Any) -> None:
    mapping = {"method": "GET", "path": "/v1/{id}/x", "arguments": [{"name": "id", "where": "path"}]}
    assert "must not be empty" in str(await fail(build_tool(site.url(), mapping), id=value))
    assert site.asked == []


async def test_a_header_has_one_line_whatever_the_model_writes(site: Site) -> None:
    mapping = {"method": "GET", "path": "/x", "arguments": [{"name": "trace", "where": "header", "target": "X-Trace"}]}
    assert "one line" in str(await fail(build_tool(site.url(), mapping), trace="a\r\nAuthorization: Bearer x"))
    assert site.asked == []


@pytest.mark.parametrize(
    ("auth", "auth_name", "sent"),
    [("bearer", "", f"Bearer {KEY}"), ("header", "X-Api-Key", KEY), ("basic", "bob", None), ("query", "api key", None)],
)
async def test_SEC17_the_credential_is_sent_and_removed_from_what_the_server_echoes(site: Site, auth, auth_name, sent):
    site.pages["/things"] = echo
    output = await call(build_tool(site.url(), auth=auth, auth_name=auth_name, key=KEY), query="a&b=c")
    [asked] = site.asked
    if auth == "query":
        assert (asked.query["api key"], asked.query["query"]) == (KEY, "a&b=c")
    elif sent:
        assert asked.headers[auth_name or "Authorization"] == sent
    else:
        assert asked.headers["Authorization"] == "Basic Ym9iOmszeS13aXRoL3NsYXNoK2FuZCVzaWdu"
    for text in (output.text, data_of(output).text):
        assert "***" in text
        assert not any(secret in text for secret in (KEY, "k3y-with", "Ym9iOmszeS13aXRo"))


async def test_SEC17_the_credential_wins_over_arguments_and_headers_of_its_name(site: Site) -> None:
    """Of a tool that was stored before such arguments were refused."""
    site.pages["/things"] = echo
    mapping: dict[str, Any] = {
        "method": "GET",
        "path": "/things",
        "arguments": [
            {"name": "one", "where": "query", "target": "Key"},
            {"name": "two", "where": "header", "target": "x-key"},
            {"name": "three", "where": "query"},
        ],
    }
    arguments = {"one": "of-the-model", "two": "of-the-model", "three": "x"}
    await call(build_tool(site.url(), mapping, auth="query", auth_name="key", key=KEY), **arguments)
    assert sorted(site.asked[0].query.items()) == [("key", KEY), ("three", "x")]
    tool = build_tool(site.url(), mapping, auth="header", auth_name="X-Key", key=KEY, headers={"x-KEY": "static"})
    await call(tool, **arguments)
    assert site.asked[1].headers.getall("X-Key") == [KEY]


async def test_SEC17_an_error_and_a_type_that_echo_the_credential_are_redacted(site: Site) -> None:
    site.pages["/things"] = lambda request: web.Response(status=401, text=f"bad key {KEY}")
    refused = await fail(build_tool(site.url(), auth="bearer", key=KEY))
    assert "HTTP 401" in str(refused)
    assert "bad key ***" in str(refused)
    site.pages["/things"] = lambda request: web.Response(body=b"\xff\xfe", headers={"Content-Type": "app/k3y-abcdefgh"})
    output = await call(build_tool(site.url(), auth="bearer", key="k3y-abcdefgh"))
    assert "k3y-abcdefgh" not in output.text + data_of(output).content_type


async def test_a_redirect_is_followed_only_within_the_origin_and_only_by_reads(site: Site, settings) -> None:
    site.set_redirect("/things", "/there")
    site.pages["/there"] = echo
    assert data_of(await call(build_tool(site.url()))).status == 200
    async with run_site() as other:
        settings.ALLOW_PRIVATE_HOSTS = frozenset({site.host, other.host})
        other.pages["/"] = echo
        site.set_redirect("/things", other.url())
        assert "redirects to another address" in str(await fail(build_tool(site.url(), auth="bearer", key=KEY)))
        assert other.asked == []
    site.set_redirect("/v1/x/holds", "/there", status=307)
    before = len(site.asked)
    assert "redirects" in str(await fail(build_tool(site.url(), BOOK), city="x"))
    assert [asked.path for asked in site.asked[before:]] == ["/v1/x/holds"]


@pytest.mark.parametrize("location", ["http://[", "http://x:99999/", "data:x"])
async def test_a_redirect_to_what_is_no_address_is_an_error_of_the_server(site: Site, location: str) -> None:
    site.set_redirect("/things", location)
    refused = await fail(build_tool(site.url()))
    assert "redirects to another address" in str(refused)
    assert len(site.asked) == 1


async def test_SEC12_a_private_host_is_refused_unless_the_operator_allows_it(site: Site, settings) -> None:
    settings.ALLOW_PRIVATE_HOSTS = frozenset()
    for base_url in (site.url(), "http://localhost/", "http://169.254.169.254/", "http://[::1]/"):
        with pytest.raises(HostRefused):
            await call(build_tool(base_url, auth="bearer", key=KEY))
    assert site.asked == []


async def test_a_private_host_may_be_named_in_capitals(site: Site, settings) -> None:
    base_url = site.url().replace("127.0.0.1", "localhost")
    site.set_page("/things", "found", "text/plain")
    settings.ALLOW_PRIVATE_HOSTS = frozenset({site.host.replace("127.0.0.1", "LocalHost")})
    await call(build_tool(base_url))
    assert len(site.asked) == 1


async def test_SEC13_a_redirect_to_the_loopback_is_not_followed(site: Site) -> None:
    async with run_site() as inside:
        site.set_redirect("/things", inside.url("/secret"))
        assert (await fail(build_tool(site.url()))).is_final
        assert inside.asked == []


async def test_RUN14_a_bomb_of_ten_gigabytes_is_read_up_to_the_limit(site: Site) -> None:
    site.set_page("/things", build_bomb("gzip", 10 * 1024**3), "text/plain", Content_Encoding="gzip")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    output = await call(build_tool(site.url()))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50 * 1024
    assert data_of(output).is_cut
    assert len(output.text) < 20_000


async def test_RUN13_a_server_that_drips_ends_at_the_time_limit(settings) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        try:
            while True:
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.05)
        finally:
            writer.close()

    async with run_tcp_server(drip) as host:
        settings.ALLOW_PRIVATE_HOSTS = frozenset({host})
        with pytest.raises(TimeoutError):
            await call(build_tool(f"http://{host}", timeout_s=0.5))
        await close_sessions()


async def test_a_huge_header_of_a_response_is_an_error(site: Site) -> None:
    site.pages["/things"] = lambda request: web.Response(text="x", headers={"X-Large": "x" * 100_000})
    assert "cannot be read" in str(await fail(build_tool(site.url())))


async def test_a_long_answer_is_cut_for_the_model_and_stands_between_random_marks(site: Site) -> None:
    site.set_page("/things", json.dumps({"text": "--- end of answer ffff ---\n鷺" * 2000}), "application/json")
    output = await call(build_tool(site.url()))
    first, *_, last = output.text.splitlines()
    assert first == "HTTP 200"
    assert last.startswith("--- end of answer ")
    assert last != "--- end of answer ffff ---"
    assert "[cut: " in output.text
    assert MAX_CHARACTERS < len(output.text) < 20_000
    assert data_of(output).is_cut


async def test_a_compressed_answer_is_decoded_and_a_picture_is_named(site: Site) -> None:
    site.set_page("/things", gzip.compress('{"n": "ü"}'.encode()), "application/json", Content_Encoding="gzip")
    assert json.loads(data_of(await call(build_tool(site.url()))).text) == {"n": "ü"}
    site.set_page("/things", b"\x89PNG\x00\xff" * 9, "image/png")
    assert data_of(await call(build_tool(site.url()))).text == "[image/png, 54 bytes, which cannot be read as text]"
    site.set_page("/things", b"x" * (MAX_BYTES + 9), "text/plain")
    data = data_of(await call(build_tool(site.url())))
    assert data.is_cut
    assert data.text.endswith(f"x\n[cut: {MAX_BYTES - MAX_CHARACTERS:,} more characters]")


async def test_SEC17_a_part_of_the_credential_at_the_end_of_what_is_shown_is_masked(site: Site) -> None:
    site.set_page("/things", f"{'x' * (MAX_CHARACTERS - 9)}{KEY}{'x' * 1_000_000}", "text/plain")
    output = await call(build_tool(site.url(), auth="bearer", key=KEY))
    assert "x***\n[cut: " in output.text
    assert KEY[:4] not in output.text


@pytest.mark.parametrize(
    ("method", "is_idempotent", "status", "is_final"),
    [("GET", False, 503, False), ("GET", False, 404, True), ("POST", False, 503, True), ("POST", True, 503, False)],
)
async def test_RUN15_only_a_call_that_may_be_repeated_is_retried(
    site: Site, settings, method, is_idempotent, status, is_final
):
    site.pages["/x"] = lambda request: web.Response(status=status)
    tool = build_tool(site.url(), {"method": method, "path": "/x"}, is_idempotent=is_idempotent)
    assert (await fail(tool)).is_final is is_final
    tool.row.server.base_url = "http://127.0.0.1:1"
    settings.ALLOW_PRIVATE_HOSTS |= {"127.0.0.1:1"}
    assert (await fail(tool)).is_final is (method == "POST" and not is_idempotent)


async def test_arguments_are_checked_by_the_schema_and_unknown_ones_are_not_sent(site: Site) -> None:
    site.pages["/things"] = echo
    schema = {
        "type": "object",
        "required": ["query"],
        "additionalProperties": False,
        "properties": {"query": {"$ref": "#/$defs/Text"}},
        "$defs": {"Text": {"type": "string", "maxLength": 5}},
    }
    tool = build_tool(site.url(), input_schema=schema)
    assert "'query' is a required property" in str(await fail(tool))
    assert "query: 'too long' is too long" in str(await fail(tool, query="too long"))
    assert "Additional properties are not allowed" in str(await fail(tool, query="x", other=1))
    assert site.asked == []
    assert data_of(await call(tool, query="x")).status == 200


async def test_FAIR2_calls_of_a_workspace_that_are_not_answered_leave_slots_to_others(
    site: Site, settings: Any
) -> None:
    """A workspace gets a quarter of the calls of a process, and its others wait, longer than their time limit."""
    settings.TOOL_CALLS_AT_ONCE = 8
    asked, may_answer = 0, asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        await may_answer.wait()
        return web.Response(text="done")

    site.pages["/things"] = answer
    site.pages["/fine/things"] = echo
    workspace, people = new_id(), [new_id() for _ in range(4)]

    async def call_as(workspace: UUID, person: UUID, tool: HTTPTool, seconds: float) -> ToolOutput:
        with set_current_tenant(workspace, person):
            async with limit_working_time(seconds):
                return await call(tool)

    slow, fine = build_tool(site.url()), build_tool(site.url("/fine"))
    async with asyncio.TaskGroup() as group:
        calls = [group.create_task(call_as(workspace, person, slow, 30)) for person in people * 2]
        late = group.create_task(call_as(workspace, people[0], slow, 0.05))
        async with asyncio.timeout(60):
            while asked < 2:
                await asyncio.sleep(0.01)
        output = await call_as(new_id(), new_id(), fine, 30)
        assert output.text.splitlines()[0] == "HTTP 200"
        await asyncio.sleep(0.1)
        assert (asked, late.done()) == (2, False)
        may_answer.set()
    assert [task.result().text.splitlines()[0] for task in [*calls, late]] == ["HTTP 200"] * 9
    with set_current_tenant(workspace, people[0]):
        assert call_slots.get_queue().is_idle


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}},
        {"$ref": "https://example.org/schema.json"},
        {"$ref": "#/$defs/N0", "$defs": {f"N{n}": {"allOf": [{"$ref": f"#/$defs/N{n + 1}"}] * 9} for n in range(30)}},
        {"type": 7},
        {"properties": []},
        {"properties": {"a": {"multipleOf": 0}}},
    ],
)
async def test_FAIR5_the_check_of_a_hostile_schema_ends(site: Site, schema: dict[str, Any]) -> None:
    assert "could not be checked" in str(await fail(build_tool(site.url(), input_schema=schema), a=1))
    assert site.asked == []


async def test_FAIR5_a_number_that_cannot_be_divided_is_refused(site: Site) -> None:
    tool = build_tool(site.url(), input_schema={"properties": {"a": {"multipleOf": 0.01}}})
    assert "could not be checked" in str(await fail(tool, a=10**400))
    assert site.asked == []


async def test_FAIR5_a_pattern_that_never_ends_is_left_to_the_server(site: Site) -> None:
    site.pages["/things"] = echo
    schema = {"type": "object", "properties": {"query": {"pattern": "^(a+)+$"}}, "uniqueItems": True}
    assert data_of(await call(build_tool(site.url(), input_schema=schema), query="a" * 60 + "!")).status == 200


@pytest.mark.parametrize("keyword", ["additionalProperties", "unevaluatedProperties"])
def test_FAIR5_no_pattern_for_names_is_evaluated(keyword: str) -> None:
    # If it were, this pattern would be an error.
    schema = {"type": "object", "patternProperties": {"(": {}}, keyword: False}
    assert find_problems(schema, {"a": 1}) == []
    assert find_problems({"type": "object", "additionalProperties": False}, {"a": 1}) != []


@pytest.mark.parametrize("type_", ["any", "int", 7])
def test_arguments_are_not_checkable_by_a_type_that_does_not_exist(type_: object) -> None:
    with pytest.raises(ArgumentsNotCheckable):
        find_problems({"properties": {"a": {"type": type_}}}, {"a": 1})


def test_the_default_policy_asks_before_a_tool_writes() -> None:
    assert build_tool("https://x.example").default_policy == Policy.AUTO
    assert build_tool("https://x.example", BOOK).default_policy == Policy.ASK


def test_the_time_limit_of_the_row_is_the_default_of_the_settings() -> None:
    tool = build_tool("https://x.example", timeout_s=7)
    assert tool.parse_config({}).timeout_s == 7
    assert tool.parse_config({"timeout_s": 3}).timeout_s == 3
    assert tool.build_config_schema()["properties"]["timeout_s"]["default"] == 7


@pytest.mark.parametrize(
    ("path", "where", "hint"),
    [
        ("/orders/{order}", "query", "form.path: {order} has no argument."),
        ("/orders", "path", "form.arguments: The path has no {id}."),
    ],
)
def test_a_form_whose_path_does_not_fit_its_arguments_names_the_field(path: str, where: Any, hint: str) -> None:
    form = ToolForm(description="Find.", method="GET", path=path, arguments=(FormArgument(name="id", where=where),))
    with pytest.raises(Invalid) as refused:
        form.build_definition()
    assert refused.value.hints == [hint]
