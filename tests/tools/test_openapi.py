"""OpenAPI documents: what of them becomes a tool, and hostile ones."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.hostile_web import Site
from tools.openapi import document as module_of_document
from tools.openapi import operations, process, reader
from tools.openapi.document import InvalidDocument, parse_document
from tools.openapi.operations import MAX_OPERATIONS, Operation, list_operations


def build_document(paths: dict[str, Any], version: str = "3.1.0", **more: Any) -> dict[str, Any]:
    return {"openapi": version, "info": {"title": "Booking API"}, "paths": paths, **more}


def list_of(paths: dict[str, Any], version: str = "3.1.0", **more: Any) -> list[Operation]:
    return list_operations(parse_document(json.dumps(build_document(paths, version, **more))))[0]


def post_of(name: str) -> dict[str, Any]:
    """Return an operation whose body is the schema of this name."""
    return {"requestBody": {"content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}}}


def schema_of(operation: Operation) -> dict[str, Any]:
    assert operation.definition is not None, operation.problem
    return operation.definition.input_schema


def test_parameters_of_path_and_operation_are_merged_and_cookies_are_left_out():
    [operation] = list_of(
        {
            "/fares/{id}": {
                "parameters": [
                    {"name": "id", "in": "path", "required": True, "schema": {"type": "integer"}},
                    {"name": "lang", "in": "query", "schema": {"type": "string"}},
                ],
                "post": {
                    "operationId": "Hold.Seats",
                    "summary": "Hold seats.",
                    "tags": ["Holds"],
                    "parameters": [
                        {
                            "name": "lang",
                            "in": "query",
                            "schema": {"enum": ["en", "zh"]},
                            "description": "The language.",
                        },
                        {"name": "session", "in": "cookie", "schema": {}},
                        {"name": "Authorization", "in": "header", "schema": {}},
                        {"name": "X-Trace", "in": "header", "required": True, "schema": {"type": "string"}},
                    ],
                    "requestBody": {"required": True, "content": {"application/json": {"schema": {"type": "object"}}}},
                },
            }
        }
    )
    assert (operation.key, operation.name, operation.tag, operation.effect) == (
        "Hold.Seats",
        "hold_seats",
        "Holds",
        "write",
    )
    assert schema_of(operation) == {
        "type": "object",
        "additionalProperties": False,
        "required": ["id", "X-Trace", "body"],
        "properties": {
            "id": {"type": "integer"},
            "lang": {"enum": ["en", "zh"], "description": "The language."},
            "X-Trace": {"type": "string"},
            "body": {"type": "object"},
        },
    }
    assert operation.definition is not None
    assert operation.definition.request == {
        "method": "POST",
        "path": "/fares/{id}",
        "body": "whole",
        "arguments": [
            {"name": "id", "where": "path", "target": ""},
            {"name": "lang", "where": "query", "target": ""},
            {"name": "X-Trace", "where": "header", "target": ""},
            {"name": "body", "where": "body", "target": ""},
        ],
    }


def test_a_cycle_of_references_ends_and_the_schema_validates():
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "n": {"type": "integer"}}}
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}
    [operation] = list_of({"/n": {"post": {"requestBody": body}}}, components={"schemas": {"Node": node}})
    schema = schema_of(operation)
    assert list(schema["$defs"]) == ["Node"]
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"body": {"next": {"next": {"n": 1}}}})
    assert not validator.is_valid({"body": {"next": {"next": {"n": "x"}}}})


def test_only_the_output_schema_is_left_out_if_it_is_not_valid():
    schema = {"type": "object", "properties": {"id": {}}, "required": [{}]}
    answer = {"content": {"application/json": {"schema": schema}}}
    [operation] = list_of({"/n": {"get": {"responses": {"200": answer}}}})
    assert operation.definition is not None, operation.problem
    assert operation.definition.output_schema is None


def test_a_required_property_may_be_declared_in_another_part_of_the_schema():
    base = {"type": "object", "properties": {"name": {"type": "string"}}}
    body = {
        "allOf": [{"$ref": "#/components/schemas/Base"}],
        "properties": {"extra": {"type": "string"}, "id": {"readOnly": True}},
        "required": ["name", "id"],
    }
    content = {"content": {"application/json": {"schema": body}}}
    [operation] = list_of({"/p": {"put": {"requestBody": content}}}, components={"schemas": {"Base": base}})
    assert schema_of(operation)["properties"]["body"]["required"] == ["name"]


@pytest.mark.parametrize("keywords", [("items", "additionalProperties"), ("additionalProperties", "items")])
def test_definitions_are_named_in_the_order_of_the_document_so_that_it_is_unchanged_when_read_again(keywords):
    schemas = {"價格": {"type": "string"}, "城市": {"type": "integer"}}
    body = {key: {"$ref": f"#/components/schemas/{name}"} for key, name in zip(keywords, ("價格", "城市"), strict=True)}
    content = {"content": {"application/json": {"schema": body}}}
    [operation] = list_of({"/p": {"put": {"requestBody": content}}}, components={"schemas": schemas})
    assert schema_of(operation)["$defs"] == {"_": {"type": "string"}, "__": {"type": "integer"}}


def test_what_3_0_says_in_its_own_way_is_written_as_json_schema():
    body = {
        "type": "object",
        "required": ["id", "age"],
        "properties": {
            "id": {"type": "string", "readOnly": True},
            "age": {"type": "integer", "minimum": 0, "exclusiveMinimum": True},
            "nick": {"type": "string", "nullable": True, "example": "x", "xml": {}},
        },
    }
    [operation] = list_of(
        {"/p": {"put": {"requestBody": {"content": {"application/json": {"schema": body}}}}}}, "3.0.3"
    )
    assert schema_of(operation)["properties"]["body"] == {
        "type": "object",
        "required": ["age"],
        "properties": {"age": {"type": "integer", "exclusiveMinimum": 0}, "nick": {"type": ["string", "null"]}},
    }


@pytest.mark.parametrize(
    ("operation", "problem"),
    [
        ({"requestBody": {"required": True, "content": {"multipart/form-data": {}}}}, "it takes multipart/form-data"),
        ({"parameters": [{"in": "cookie", "name": "s", "required": True}]}, "it needs a cookie"),
        ({"parameters": [{"$ref": "https://evil.example/p.json"}]}, "It refers to another document"),
        ({"parameters": [{"$ref": "#/components/parameters/Loop"}]}, "Too many references"),
        ({"parameters": [{"$ref": "#/nowhere"}]}, "It has nothing at"),
        (post_of("Big"), "its schema is larger"),
        (post_of("Wide"), "it uses more than 200"),
    ],
)
def test_an_operation_that_cannot_become_a_tool_says_why(operation, problem):
    schemas: dict[str, Any] = {"Big": {"enum": ["x" * 100] * 400}}
    schemas["Wide"] = {"properties": {f"n{n}": {"$ref": f"#/components/schemas/N{n}"} for n in range(300)}}
    schemas |= {f"N{n}": {"type": "string"} for n in range(300)}
    loop = {"parameters": {"Loop": {"$ref": "#/components/parameters/Loop"}}, "schemas": schemas}
    [found] = list_of({"/x": {"post": operation}}, components=loop)
    assert problem in found.problem
    assert found.definition is None


def test_a_document_with_too_many_operations_is_listed_up_to_the_limit_and_the_others_are_counted():
    paths = {f"/p{n}": {"get": {"operationId": f"op {n % 590}"}, "delete": {}} for n in range(600)}
    operations, left_out = list_operations(parse_document(json.dumps(build_document(paths))))
    assert (len(operations), left_out) == (MAX_OPERATIONS, 200)
    assert len({operation.name for operation in operations}) == MAX_OPERATIONS


def test_yaml_is_read_as_json_with_dates_and_numeric_keys():
    text = """
openapi: 3.0.0
info: {title: 訂位 API, version: 2026-11-23}
servers: [{url: "https://{host}/v2", variables: {host: {default: api.example.org}}}]
paths:
  /fares:
    get:
      responses: {200: {description: ok}}
components: {securitySchemes: {Key: {type: apiKey, in: header, name: X-Api-Key}}}
"""
    document = parse_document(text)
    assert (document.title, document.base_url) == ("訂位 API", "https://api.example.org/v2")
    assert (document.sign_in.auth, document.sign_in.auth_name) == ("header", "X-Api-Key")
    assert [operation.key for operation in list_operations(document)[0]] == ["GET /fares"]


def test_words_and_times_of_day_in_yaml_are_texts():
    text = """
openapi: 3.1.0
info: {title: Trains, version: 1.0.0}
paths:
  /trains:
    get:
      parameters:
        - {name: on, in: query, schema: {type: string, enum: [NO, SE, on, off]}}
        - {name: at, in: query, schema: {type: string, default: 12:30}}
        - {name: direct, in: query, schema: {type: boolean, default: true}}
"""
    [operation] = list_operations(parse_document(text))[0]
    assert schema_of(operation)["properties"] == {
        "on": {"type": "string", "enum": ["NO", "SE", "on", "off"]},
        "at": {"type": "string", "default": "12:30"},
        "direct": {"type": "boolean", "default": True},
    }


def test_a_relative_server_is_read_below_the_address_of_the_document():
    document = parse_document(
        json.dumps(build_document({}, servers=[{"url": "/v2"}])), "https://a.example/docs/api.json"
    )
    assert document.base_url == "https://a.example/v2"


BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join([f'*{chr(97 + n)}'] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (BOMB, "YAML with aliases is not read"),
        ('{"swagger": "2.0", "paths": {}}', "It is a Swagger 2 document"),
        ('{"openapi": "4.0.0", "paths": {}}', "not an OpenAPI document of version"),
        ('{"openapi": "3.1.0"}', "It has no paths"),
        ("[1, 2]", "not an OpenAPI document"),
        ("{broken", "no valid JSON"),
        ("a: [", "neither JSON nor YAML"),
        ("!!python/object/apply:os.system ['true']", "neither JSON nor YAML"),
        ('{"openapi": "3.1.0", "paths": ' + '{"a": ' * 100 + "1" + "}" * 101, "nested too deeply"),
        ("openapi: 3.1.0\n" + "[" * 5000, "neither JSON nor YAML"),
        ("openapi: 3.1.0\na: !!bool maybe", "neither JSON nor YAML"),
        ('openapi: 3.1.0\na: !!int ""', "neither JSON nor YAML"),
        ("openapi: 3.1.0\na: 0x" + "f" * 5000, "a number that is too long"),
        ('{"openapi": "3.1.0", "paths": {}, "x": "' + "x" * 8_400_000 + '"}', "more than 8 MB"),
        ("", "not an OpenAPI document"),
    ],
)
def test_FAIR5_a_hostile_or_wrong_document_is_refused(text, problem):
    with pytest.raises(InvalidDocument, match=problem):
        parse_document(text)


@pytest.mark.parametrize("nested", ["[" * 100_000 + "]" * 100_000, "{a: " * 100_000 + "}" * 100_000])
def test_FAIR5_a_nested_yaml_document_does_not_end_this_process(nested):
    # Without the check, loading it ends the process: so it is tried in another one.
    assert ask_process(f"a: {nested}") == "It is nested too deeply."


def ask_process(text: str) -> str:
    with pytest.raises(InvalidDocument) as found:
        process.read_in_process(text, "")
    return str(found.value)


def test_FAIR5_a_process_that_takes_too_long_is_killed_and_one_that_ends_is_no_answer(monkeypatch, tmp_path):
    script = tmp_path / "reader.py"
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")
    monkeypatch.setattr(process, "_SCRIPT", script)
    assert ask_process("{}") == "It is too large or too tangled to be read."
    script.write_text("import time\ntime.sleep(60)")
    monkeypatch.setattr(process, "READ_SECONDS", 0.3)
    assert ask_process("{}") == "It takes too long to be read."


def test_the_process_has_no_environment_and_limited_resources(monkeypatch, tmp_path):
    script = tmp_path / "reader.py"
    script.write_text(
        "import json, os, resource, runpy, sys\n"
        f"sys.path.insert(0, {str(Path(process.__file__).parents[2])!r})\n"
        "from tools.openapi import reader\n"
        "reader.describe_document = lambda **_: {\n"
        "    'environment': sorted(os.environ),\n"
        "    'limits': [resource.getrlimit(one)[0] for one in (resource.RLIMIT_AS, resource.RLIMIT_CPU)],\n"
        "}\n"
        "reader.main()\n"
    )
    monkeypatch.setattr(process, "_SCRIPT", script)
    found = process.read_in_process("{}", "")
    assert set(found["environment"]) <= {"LC_CTYPE"}
    assert found["limits"] == [reader.MAX_MEMORY_BYTES, reader.MAX_CPU_SECONDS]


def test_FAIR5_variables_that_name_one_another_are_not_expanded():
    variables = {name: {"default": f"{{{after}}}" * 1000} for name, after in zip("abcdefgh", "bcdefghi", strict=True)}
    servers = [{"url": "https://x.example/{a}/{unknown}", "variables": variables}]
    document = parse_document(json.dumps(build_document({}, servers=servers)))
    assert document.base_url == ("https://x.example/" + "{b}" * 200)[:400]
    wrong = parse_document(json.dumps(build_document({}, servers=[{"url": "http://["}])), "https://a.example/")
    assert wrong.base_url == ""


def test_names_of_arguments_stay_short_enough_for_every_provider():
    parameters = [{"in": "query", "name": f"{'a' * 70}{number}"} for number in range(30)]
    [operation] = list_of({"/n": {"get": {"parameters": parameters}}})
    names = list(schema_of(operation)["properties"])
    assert len(set(names)) == 30
    assert max(map(len, names)) <= 64


def test_FAIR5_an_operation_with_thousands_of_arguments_is_not_read():
    names = [chr(0x4E00 + number) * 3 for number in range(6000)]
    parameters = [{"in": "query", "name": name, "schema": {}} for name in names]
    form: dict[str, Any] = {
        "application/x-www-form-urlencoded": {"schema": {"properties": {name: {} for name in names}}}
    }
    found = list_of({"/x": {"get": {"parameters": parameters}, "post": {"requestBody": {"content": form}}}})
    assert [operation.problem for operation in found] == ["it has more than 100 arguments"] * 2
    [hundred] = list_of({"/x": {"get": {"parameters": parameters[:100]}}})
    assert len(schema_of(hundred)["properties"]) == 100


def test_FAIR5_what_is_built_of_one_document_is_limited(monkeypatch):
    schemas = {"Wide": {"properties": {f"p{number}": {"type": "string"} for number in range(20)}}}
    paths = {f"/p{number}": {"post": post_of("Wide")} for number in range(20)}
    monkeypatch.setattr(operations, "MAX_DEFINITION_BYTES", 5_000)
    found = list_of(paths, components={"schemas": schemas})
    assert {operation.problem for operation in found} == {"", "the document has too many large schemas"}
    assert sum(len(json.dumps(vars(operation.definition))) for operation in found if operation.definition) <= 5_000
    monkeypatch.setattr(operations, "MAX_DEFINITION_BYTES", 10**9)
    monkeypatch.setattr(module_of_document, "MAX_SCHEMAS", 50)
    found = list_of(paths, components={"schemas": schemas})
    assert [operation.problem for operation in found] == ["", ""] + ["the document has too many large schemas"] * 18


def test_the_hash_of_a_definition_changes_with_all_that_a_model_reads_or_that_is_sent():
    def build(**changes: Any) -> str:
        parameter = {"name": "q", "in": "query", "schema": {"type": "string"}} | changes.pop("parameter", {})
        [operation] = list_of({"/x": {"get": {"summary": "Find.", "parameters": [parameter], **changes}}})
        assert operation.definition is not None
        return operation.definition.hash

    same = build()
    assert build() == same
    assert build(**{"x-internal": 1}) == same
    changed = [
        build(summary="Find all."),
        build(parameter={"description": "Send it all."}),
        build(parameter={"in": "header"}),
    ]
    assert len({same, *changed}) == 4


async def test_our_own_document_becomes_tools(site: Site):
    with open("frontend/src/api/generated/openapi.json") as file:
        operations, _ = list_operations(parse_document(file.read()))
    assert len(operations) > 100
    assert [
        operation.key for operation in operations if operation.problem and "multipart" not in operation.problem
    ] == []
    by_key = {operation.key: operation for operation in operations}
    assert schema_of(by_key["list_chats"])["required"] == ["workspace_id"]
