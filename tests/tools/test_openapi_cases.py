"""OpenAPI documents as other products write them: what is sent is what the document says, or the list says why not."""

import json
from typing import Any

import pytest
from aiohttp import web

from events.rows import AuthScheme
from tests.hostile_web import Site
from tests.tools.test_http_tools import build_tool, call, fail
from tests.tools.test_openapi import build_document, list_of, schema_of
from tools.arguments import find_problems
from tools.openapi.document import parse_document
from tools.openapi.operations import Operation, list_operations

FORM = "application/x-www-form-urlencoded"
ITEM = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


def read(paths: dict[str, Any], url: str = "", **more: Any) -> Operation:
    """Return the one operation of a document."""
    [operation] = list_operations(parse_document(json.dumps(build_document(paths, **more)), url))[0]
    return operation


class Sent:
    """What a server got."""

    def __init__(self, request: web.Request, body: bytes) -> None:
        self.line = f"{request.method} {request.raw_path}"
        self.query = request.raw_path.partition("?")[2].replace("%5B", "[").replace("%5D", "]")
        self.content_type = request.headers.get("Content-Type")
        self.body = body.decode().replace("%5B", "[").replace("%5D", "]")


async def send(site: Site, operation: Operation, base: str = "", **arguments: Any) -> Sent:
    """Call the tool of an operation. `base`: the path of the server's address."""
    assert operation.definition is not None, operation.problem
    found: list[Sent] = []

    async def keep(request: web.Request) -> web.Response:
        found.append(Sent(request, await request.read()))
        return web.json_response({})

    site.pages = dict.fromkeys(("/v1/x", "/x", "/v2/x", "/v1/up/x", "/x/a", "/x/a=1,b=2", "/x/a,1", "/x/3,4"), keep)
    await call(build_tool(site.url(base), operation.definition.request), **arguments)
    return found[0]


@pytest.mark.parametrize(
    ("servers", "url", "base_url"),
    [
        (None, "http://host.example/docs/openapi.json", "http://host.example/"),  # J1
        ([], "https://host.example/a/b/openapi.yaml?x=1", "https://host.example/"),
        ([{"url": ""}], "https://host.example/docs/openapi.json", "https://host.example/"),
        ([{"url": "v2"}], "https://host.example/docs/openapi.json", "https://host.example/docs/v2"),
        (None, "", ""),
    ],
)
def test_the_address_is_that_of_the_first_server_or_the_root_of_the_documents_host(servers, url, base_url):
    content = build_document({"/x": {"get": {}}}) | ({} if servers is None else {"servers": servers})
    assert parse_document(json.dumps(content), url).base_url == base_url


def test_the_address_is_that_of_the_operations_if_only_they_name_one():
    paths = {"/x": {"servers": [{"url": "https://api.example.org"}], "get": {}}}
    document = parse_document(json.dumps(build_document(paths)), "https://files.example/openapi.json")
    assert document.base_url == "https://api.example.org"
    assert [operation.problem for operation in list_operations(document)[0]] == [""]


@pytest.mark.parametrize(
    ("reference", "target"),
    [
        ("#/paths/~1a/get/parameters/0", ["components", "schemas", "Other"]),  # J2
        ("#/components/parameters/My%20Item", ["components", "parameters", "My Item"]),  # J3
        ("#/components/parameters/a~1b%7Ec~0d", ["components", "parameters", "a/b~c~d"]),
        ("#/components/parameters/%E5%83%B9~01", ["components", "parameters", "價~1"]),
        ("#/components/parameters/7", ["components", "parameters", "7"]),
    ],
)
def test_a_reference_is_followed_into_lists_and_is_decoded(reference, target):
    parameter = {"name": "q", "in": "query", "schema": {"type": "integer"}}
    paths = {
        "/a": {"get": {"operationId": "a", "parameters": [parameter]}},
        "/b": {"get": {"operationId": "b", "parameters": [{"$ref": reference}]}},
    }
    components = {target[1]: {target[2]: parameter}}
    found = {one.key: one for one in list_of(paths, components=components)}
    assert schema_of(found["b"])["properties"] == {"q": {"type": "integer"}}


@pytest.mark.parametrize(
    ("servers", "line"),
    [
        (None, "POST /v1/x"),
        ([{"url": "https://api.example.com/v1/"}], "POST /v1/x"),
        ([{"url": "https://api.example.com/v1/up"}], "POST /v1/up/x"),
        ([{"url": "https://api.example.com/v2"}], "POST /v2/x"),  # J4
        ([{"url": "https://api.example.com"}], "POST /x"),
        ([{"url": "https://{host}/v2", "variables": {"host": {"default": "api.example.com"}}}], "POST /v2/x"),
    ],
)
@pytest.mark.parametrize("level", ["item", "operation"])
async def test_an_operation_is_sent_to_its_own_server_of_the_same_origin(site: Site, servers, line, level):
    own = {} if servers is None else {"servers": servers}
    path_item = {"post": own} if level == "operation" else own | {"post": {}}
    operation = read({"/x": path_item}, servers=[{"url": "https://api.example.com/v1"}])
    assert (await send(site, operation, "/v1")).line == line


def nest_all_of(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"properties": {"a": {}}}
    for _ in range(levels):
        schema = {"allOf": [schema]}
    return schema


@pytest.mark.parametrize(
    ("path", "item", "problem"),
    [
        # J4
        (
            "/x",
            {"post": {"servers": [{"url": "https://upload.example.com/v2"}]}},
            "it has a server of its own: https://upload.example.com/v2",
        ),
        ("/x", {"post": {"servers": [{"url": "http://["}]}}, "it has a server of its own without a valid address"),
        # J5
        ("/x/{id}", {"get": {"$ref": "resources/list.yml"}}, "It refers to another document: resources/list.yml."),
        ("/x", {"$ref": "resources/x.yml"}, "It refers to another document: resources/x.yml."),
        ("/x", {"get": {"$ref": "#/nowhere"}}, "It has nothing at #/nowhere."),
        (
            "/x",
            {"get": {"parameters": [{"$ref": "#page"}]}},
            "It refers to a name in the document, which is not looked up: #page.",
        ),
        # J6
        (
            "/x/{id}",
            {"get": {"parameters": [{"name": "id", "in": "path", "required": True, "style": "matrix"}]}},
            "its parameter id has the style matrix, which cannot be sent",
        ),
        (
            "/x",
            {"get": {"parameters": [{"name": "q", "in": "query", "content": {"application/xml": {}}}]}},
            "its parameter q takes application/xml, which cannot be sent",
        ),
        ("/x", {"get": {"parameters": [{"name": "q"}]}}, "it has a parameter without a name or a known place"),
        # J9
        (
            "/x",
            {"post": {"requestBody": {"content": {"multipart/form-data": {"schema": {}}}}}},
            "it takes multipart/form-data, which cannot be sent",
        ),
        # J11
        (
            "/x",
            {"post": {"requestBody": {"content": {FORM: {"schema": {"oneOf": [ITEM, {}]}}}}}},
            "its form has alternatives (anyOf, oneOf), which cannot be sent",
        ),
        (
            "/x",
            {"post": {"requestBody": {"content": {FORM: {"schema": {"type": "object"}}}}}},
            "its form does not say which fields it has",
        ),
        (
            "/x",
            {"post": {"requestBody": {"content": {FORM: {"schema": nest_all_of(22)}}}}},
            "its form is nested too deeply",
        ),
        # J14
        ("/x?action=list", {"get": {}}, "its path has a query, which cannot be sent"),
        ("x", {"get": {}}, "its path does not begin with /"),
        ("/x", {"options": {}}, "its method OPTIONS cannot be sent"),
    ],
)
def test_an_operation_that_is_not_offered_is_listed_with_the_true_reason(path, item, problem):
    operation = read({path: item}, servers=[{"url": "https://api.example.com/v1"}])
    assert (operation.path, operation.problem, operation.definition) == (path, problem, None)


LIST = {"type": "array", "items": {"type": "string"}}
ANY: dict[str, Any] = {"type": "object"}


@pytest.mark.parametrize(
    ("fields", "value", "query"),
    [
        ({"schema": LIST}, ["a", "b"], "p=a&p=b"),
        ({"schema": LIST, "style": "form", "explode": False}, ["a", "b"], "p=a,b"),  # J6
        ({"schema": LIST, "explode": False}, ["a,b", "c d"], "p=a%2Cb,c+d"),
        ({"schema": LIST, "explode": False}, [], ""),
        ({"schema": LIST, "style": "pipeDelimited"}, ["a", "b"], "p=a%7Cb"),
        ({"schema": LIST, "style": "spaceDelimited"}, ["a", "b"], "p=a%20b"),
        ({"schema": LIST, "style": "pipeDelimited", "explode": True}, ["a", "b"], "p=a&p=b"),
        ({"schema": ANY, "style": "deepObject"}, {"state": "open", "n": 2}, "p[state]=open&p[n]=2"),  # J7
        ({"schema": ANY, "style": "deepObject"}, {"a": {"b": [True, "x"]}}, "p[a][b][0]=true&p[a][b][1]=x"),
        ({"schema": ANY}, {"lat": 1, "lon": 2}, "lat=1&lon=2"),  # J7
        ({"schema": ANY, "explode": False}, {"lat": 1, "lon": 2}, "p=lat,1,lon,2"),
        ({"content": {"application/json": {"schema": ANY}}}, {"a": 1}, "p=%7B%22a%22%3A+1%7D"),
        ({"schema": {"type": "string"}}, "a&b=c", "p=a%26b%3Dc"),
    ],
)
async def test_a_parameter_is_sent_in_the_style_of_the_document(site: Site, fields, value, query):
    operation = read({"/x": {"get": {"parameters": [{"name": "p", "in": "query", **fields}]}}})
    assert (await send(site, operation, p=value)).query == query


@pytest.mark.parametrize(
    ("fields", "value", "line"),
    [
        ({"schema": LIST}, ["3", "4"], "GET /x/3,4"),
        ({"schema": ANY}, {"a": 1}, "GET /x/a,1"),
        ({"schema": ANY, "explode": True}, {"a": 1, "b": 2}, "GET /x/a=1,b=2"),
    ],
)
async def test_a_parameter_of_the_path_is_sent_in_the_style_of_the_document(site: Site, fields, value, line):
    parameter = {"name": "p", "in": "path", "required": True, **fields}
    assert (await send(site, read({"/x/{p}": {"get": {"parameters": [parameter]}}}), p=value)).line == line


@pytest.mark.parametrize(
    ("media", "arguments", "body"),
    [
        # J8
        (
            {"schema": {"properties": {"m": ANY}}, "encoding": {"m": {"style": "deepObject", "explode": True}}},
            {"m": {"order": "7"}},
            "m[order]=7",
        ),
        ({"schema": {"properties": {"m": ANY}}}, {"m": {"order": "7"}}, "m=%7B%22order%22%3A+%227%22%7D"),
        (
            {"schema": {"properties": {"m": LIST}}, "encoding": {"m": {"style": "form", "explode": False}}},
            {"m": ["a", "b"]},
            "m=a,b",
        ),
        (
            {"schema": {"properties": {"m": ANY}}, "encoding": {"m": {"explode": True}}},
            {"m": {"lat": 1, "lon": 2}},
            "lat=1&lon=2",
        ),
        (
            {"schema": {"properties": {"m": LIST}}, "encoding": {"m": {"contentType": "application/json"}}},
            {"m": ["a"]},
            "m=%5B%22a%22%5D".replace("%5B", "[").replace("%5D", "]"),
        ),
        # J11
        (
            {"schema": {"allOf": [{"$ref": "#/components/schemas/Item"}, {"properties": {"n": {"type": "integer"}}}]}},
            {"name": "a", "n": 2},
            "name=a&n=2",
        ),
        (
            {
                "schema": {
                    "properties": {"id": {"readOnly": True}, "b": {}},
                    "allOf": [{"allOf": [{"required": ["b"]}]}],
                }
            },
            {"b": "x"},
            "b=x",
        ),
    ],
)
async def test_a_form_has_all_its_fields_in_the_style_of_the_document(site: Site, media, arguments, body):
    post = {"requestBody": {"required": True, "content": {FORM: media}}}
    operation = read({"/x": {"post": post}}, components={"schemas": {"Item": ITEM}})
    assert set(schema_of(operation)["properties"]) == set(arguments)
    sent = await send(site, operation, **arguments)
    assert (sent.content_type, sent.body) == (FORM, body)


def test_the_fields_that_the_parts_of_a_form_require_are_required():
    parts = [{"$ref": "#/components/schemas/Item"}, {"properties": {"n": {}}, "required": ["n"]}]
    post = {"requestBody": {"required": True, "content": {FORM: {"schema": {"allOf": parts}}}}}
    assert schema_of(read({"/x": {"post": post}}, components={"schemas": {"Item": ITEM}}))["required"] == ["name", "n"]


@pytest.mark.parametrize(
    ("content_types", "sent_type"),
    [
        (["application/merge-patch+json"], "application/merge-patch+json"),  # J9
        (["application/merge-patch+json", "application/json; charset=utf-8"], "application/json"),
        (["Application/JSON;v=1"], "application/json"),
        (["application/vnd.api+json; ext=bulk"], "application/vnd.api+json"),
        (["*/*"], "application/json"),
        (["multipart/form-data", "application/json"], "application/json"),
    ],
)
async def test_a_body_is_sent_with_the_type_that_the_document_declares(site: Site, content_types, sent_type):
    content = {content_type: {"schema": ANY} for content_type in content_types}
    sent = await send(site, read({"/x": {"patch": {"requestBody": {"content": content}}}}), body={"a": None})
    assert (sent.content_type, sent.body) == (sent_type, '{"a": null}')


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
async def test_a_request_without_a_body_has_no_content_type(site: Site, method):
    """J10."""
    assert (await send(site, read({"/x": {method: {}}}))).content_type is None


@pytest.mark.parametrize(
    ("version", "schema", "accepted", "refused"),
    [
        ("3.0.3", {"nullable": True, "allOf": [{"$ref": "#/components/schemas/Item"}]}, [None, {"name": "a"}], [7, {}]),
        ("3.0.3", {"nullable": True, "type": "object", "allOf": [ITEM]}, [None, {"name": "a"}], [7, {}]),
        ("3.0.3", {"nullable": True, "oneOf": [{"type": "string"}, {"type": "integer"}]}, [None, "a", 7], [[]]),
        ("3.0.3", {"nullable": True, "$ref": "#/components/schemas/Item"}, [None, {"name": "a"}], [{}]),
        ("3.0.3", {"nullable": False, "allOf": [ITEM]}, [{"name": "a"}], [None]),
        ("3.1.0", {"$ref": "#/components/schemas/Item", "minProperties": 2}, [{"name": "a", "b": 1}], [{"name": "a"}]),
    ],
)
def test_null_and_what_stands_beside_a_reference_count(version, schema, accepted, refused):
    """J12."""
    post = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    [operation] = list_of({"/x": {"post": post}}, version, components={"schemas": {"Item": ITEM}})
    found = [bool(find_problems(schema_of(operation), {"body": value})) for value in (*accepted, *refused)]
    assert found == [False] * len(accepted) + [True] * len(refused)


@pytest.mark.parametrize(
    ("yaml", "values"),
    [
        ("[=, <]", ["=", "<"]),  # J13
        ("[<, <=, <<, '=']", ["<", "<=", "<<", "="]),
        ("[=, ~, 1, 1.5, true, on]", ["=", None, 1, 1.5, True, "on"]),
        ("[2026-11-29, =, 12:30]", ["2026-11-29", "=", "12:30"]),
    ],
)
def test_signs_in_yaml_are_texts(yaml, values):
    text = f"openapi: 3.1.0\npaths: {{/x: {{get: {{parameters: [{{name: q, in: query, schema: {{enum: {yaml}}}}}]}}}}}}"
    [operation] = list_operations(parse_document(text))[0]
    assert schema_of(operation)["properties"] == {"q": {"enum": values}}


def test_yaml_has_no_merge_keys_as_json_has_none():
    text = "openapi: 3.1.0\npaths: {}\n<<: {x: 1}\n=: 2"
    assert parse_document(text).content == {"openapi": "3.1.0", "paths": {}, "<<": {"x": 1}, "=": 2}


async def test_operations_of_one_path_that_differ_by_a_fragment_are_all_offered(site: Site):
    """J14."""
    paths = {path: {"post": {"operationId": path}} for path in ("/x", "/x#add_shared_link", "/x#remove/it?now")}
    operations = list_of(paths)
    assert [(one.path, one.problem) for one in operations] == [(path, "") for path in paths]
    assert [(await send(site, operation)).line for operation in operations] == ["POST /x"] * 3


@pytest.mark.parametrize(
    ("schemes", "auth"),
    [
        ([{"type": "oauth2", "flows": {}}], "bearer"),  # J15
        ([{"type": "openIdConnect"}], "bearer"),
        ([{"type": "oauth2"}, {"type": "http", "scheme": "Basic"}], "basic"),
        ([{"$ref": "security.yml"}, {"type": "apiKey", "in": "query", "name": "key"}], "query"),
        ([{"type": "apiKey", "in": "cookie", "name": "s"}, {"type": "mutualTLS"}], "none"),
    ],
)
def test_the_sign_in_that_a_document_needs_is_suggested(schemes, auth):
    components = {"securitySchemes": {f"s{number}": scheme for number, scheme in enumerate(schemes)}}
    document = parse_document(json.dumps(build_document({}, components=components)))
    assert document.sign_in.auth == AuthScheme(auth)


@pytest.mark.parametrize("where", ["query", "form"])
async def test_SEC17_no_key_of_an_object_is_sent_in_the_place_of_the_credential(site: Site, where):
    parameter = {"name": "p", "in": "query", "schema": ANY}
    media = {"schema": {"properties": {"p": ANY}}, "encoding": {"p": {"explode": True}}}
    post = {"parameters": [parameter]} if where == "query" else {"requestBody": {"content": {FORM: media}}}
    operation = read({"/x": {"post": post}})
    assert operation.definition is not None
    tool = build_tool(site.url(), operation.definition.request, auth="query", auth_name="key", key="k3y-abcdefgh")
    assert "carries the credential" in str(await fail(tool, p={"KEY": "of-the-model"}))
    assert site.asked == []


def test_the_hash_of_a_request_in_the_default_style_has_none_of_the_newer_fields():
    """So that a tool that an editor has approved stays approved when its document is read again."""
    operation = read({"/x": {"get": {"parameters": [{"name": "q", "in": "query", "schema": LIST}]}}})
    assert operation.definition is not None
    assert operation.definition.request == {
        "method": "GET",
        "path": "/x",
        "arguments": [{"name": "q", "where": "query", "target": ""}],
        "body": "none",
    }
