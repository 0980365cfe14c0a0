"""The OpenAPI document, from which the TypeScript types are generated."""

import ast
import io
import json
import re
import subprocess
import typing
from pathlib import Path

import jsonschema
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from common.errors import Code
from events import frames
from events.payloads import PAYLOADS
from realtime.management.commands import export_schema
from tests.api.test_rights import client_for

ROOT = Path(__file__).parents[2]


def shapes_of(union):
    return {member.__name__ for member in typing.get_args(typing.get_args(union)[0])}


@pytest.fixture
def document():
    answer = Client().get("/api/v1/schema")
    assert answer.status_code == 200
    return json.loads(answer.content)


def test_every_frame_payload_and_code_is_in_the_schema(document):
    schemas = document["components"]["schemas"]
    assert shapes_of(frames.ServerFrame) | shapes_of(frames.ClientFrame) <= schemas.keys()
    assert {shape.__name__ for shape in PAYLOADS.values()} <= schemas.keys()
    assert schemas["Code"]["enum"] == list(Code)
    assert {"ServerFrame", "ClientFrame", "SpecContent"} <= schemas.keys()


def test_fields_with_a_default_are_required_and_there_are_no_titles(document):
    schemas = document["components"]["schemas"]
    assert set(schemas["TextMessageRow"]["required"]) == set(schemas["TextMessageRow"]["properties"])
    assert all("title" not in schema for schema in schemas.values())
    assert "title" in schemas["ChatRow"]["properties"]


def test_a_body_with_a_required_field_is_required(document):
    upload = document["paths"]["/api/v1/chats/{chat_id}/files"]["post"]["requestBody"]
    assert upload["content"]["multipart/form-data"]["schema"]["required"] == ["file"]
    assert upload["required"] is True


def test_each_refusal_that_the_fuzzer_accepts_is_in_the_code():
    """The fuzzer runs in `make chaos` only: a sentence that was changed would be noticed late."""
    source = (ROOT / "tests" / "api" / "outside.py").read_text()
    [sentences] = re.findall(r"^UNFORESEEABLE = (\{.*?^\})", source, re.M | re.S)
    paths = subprocess.check_output(["git", "ls-files", "*.py", ":!tests"], cwd=ROOT, text=True).splitlines()
    code = "".join((ROOT / path).read_text() for path in paths)
    assert [sentence for sentence in ast.literal_eval(sentences) if sentence not in code] == []


def test_messages_are_a_flat_union_and_each_type_has_its_payload(document):
    schemas = document["components"]["schemas"]
    rows = [schemas[one["$ref"].rpartition("/")[2]]["properties"] for one in schemas["MessageRow"]["oneOf"]]
    payloads = {
        type_: row["payload"]["$ref"].rpartition("/")[2]
        for row in rows
        for type_ in row["type"].get("enum", [row["type"].get("const")])
    }
    assert payloads == {type_: payload.__name__ for type_, payload in PAYLOADS.items()}


def test_only_a_field_that_is_null_may_be_missing_in_a_payload(document):
    for payload in set(PAYLOADS.values()):
        schema = document["components"]["schemas"][payload.__name__]
        null = {name for name, field in schema["properties"].items() if field.get("default", ...) is None}
        assert set(schema["required"]) == schema["properties"].keys() - null


def test_there_are_no_nested_unions_and_no_discriminators(document):
    def unions(node):
        if isinstance(node, dict):
            yield from [node] if isinstance(node.get("oneOf"), list) else []
            yield from (found for inner in node.values() for found in unions(inner))
        elif isinstance(node, list):
            yield from (found for inner in node for found in unions(inner))

    found = list(unions(document))
    assert found
    for union in found:
        assert "discriminator" not in union
        assert all("oneOf" not in member for member in union["oneOf"])


def test_every_reference_has_a_component(document):
    text = json.dumps(document)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= document["components"]["schemas"].keys()


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("api/generated/openapi.json", "MessageRow"),
        ("api/generated/defaultSpec.ts", "prompt"),
        ("lib/serverConstants.ts", "agent_"),
    ],
)
def test_export_schema_check_fails_for_an_outdated_file(tmp_path, monkeypatch, name, changed):
    target = tmp_path / name
    monkeypatch.setattr(export_schema, "SOURCES", tmp_path)
    with pytest.raises(CommandError):
        call_command("export_schema", "--check")
    call_command("export_schema")
    call_command("export_schema", "--check", stdout=io.StringIO())
    target.write_text(target.read_text().replace(changed, "changed"))
    with pytest.raises(CommandError):
        call_command("export_schema", "--check")


def test_every_operation_documents_its_error_responses(document):
    for path, methods in document["paths"].items():
        if path.startswith("/_allauth/"):
            continue
        for method, operation in methods.items():
            expected = {"400", "401", "403", "404", "429", "503"} | (
                set() if method == "get" else {"409", "413", "415"}
            )
            assert expected <= operation["responses"].keys(), (method, path)
    shapes = {
        response["content"]["application/json"]["schema"]["$ref"]
        for response in document["components"]["responses"].values()
    }
    assert shapes == {"#/components/schemas/ErrorAnswer"}
    assert set(document["components"]["schemas"]["ErrorFacts"]["properties"]) == {"code", "message", "hints", "data"}


def test_restrictions_of_fields_are_in_the_schema(document):
    schemas = document["components"]["schemas"]

    def field(shape, name):
        return schemas[shape]["properties"][name]

    assert (field("MessageBodyRequest", "text")["minLength"], field("MessageBodyRequest", "text")["maxLength"]) == (
        1,
        200_000,
    )
    assert field("NewLinkBodyRequest", "expires_in_hours")["minimum"] == 1
    assert field("NewChatBodyRequest", "actor_ids")["uniqueItems"] is True
    assert schemas["MarkReadBodyRequest"]["not"]["required"] == ["ids", "up_to"]
    for name in ("NewWorkspaceBodyRequest", "PatchedWorkspaceBodyRequest", "NewAgentBodyRequest"):
        assert field(name, "name")["minLength"] == 1
    diff = document["paths"]["/api/v1/agents/{agent_id}/diff"]["get"]["parameters"]
    assert {one["name"]: one["schema"].get("minimum") for one in diff if one["in"] == "query"} == {"a": 1, "b": 1}


@pytest.mark.parametrize("seq", [True, False, "1", None, [1], 1.5])
def test_a_number_in_json_must_be_an_integer(team, seq):
    client_for(team, "alice").refused(400, "invalid", "PUT", f"chats/{team.chat.pk}/read", {"seq": seq})


def test_a_number_in_a_query_is_parsed_from_text(team):
    client_for(team, "alice").ok("GET", f"chats/{team.chat.pk}/messages?limit=3")


DEEP = {"custom_config": {"a": {"b": {"c": 1}}}, "tool": "web_fetch"}


@pytest.mark.parametrize(
    "content",
    [
        {"limits": {"max_steps": "3"}},
        {"limits": {"max_steps": True}},
        {"parameters": {"temperature": "1"}},
        {"tools": [{"tool": "web_fetch", "is_enabled": 1}]},
        {"tools": [{"tool": "web_fetch", "is_enabled": "yes"}]},
        {"tools": [DEEP]},
        {"tools": [{"tool": "web_fetch", "custom_config": {str(n): n for n in range(51)}}]},
    ],
)
def test_nested_fields_of_a_spec_are_validated_as_the_schema_states(team, content):
    path = f"chats/{team.chat.pk}/agents/{team.robin.pk}/draft"
    alice = client_for(team, "alice")
    alice.refused(400, "invalid", "PUT", path, {"content": content})
    assert alice.refused(404, "no_draft", "GET", path)


@pytest.mark.parametrize("revision", [-1, 2**31, 10**30, 1.5, "1", True])
def test_a_revision_must_fit_the_database_column(team, revision):
    path = f"workspaces/{team.workspace.pk}"
    client_for(team, "alice").refused(400, "invalid", "PATCH", path, {"name": "New", "revision": revision})
    team.workspace.refresh_from_db()
    assert team.workspace.name != "New"


@pytest.mark.parametrize("id", ["019aa0aa000070008000000000000000", "urn:uuid:019aa0aa-0000-7000-8000-000000000000", 7])
def test_an_id_without_hyphens_is_refused(team, id):
    path = f"chats/{team.chat.pk}/messages"
    client_for(team, "alice").refused(400, "invalid", "POST", path, {"id": id, "text": "hello"})
    assert not team.chat.messages.filter(type="TEXT_MESSAGE").exists()


@pytest.mark.parametrize(
    "query",
    [
        "notifications?unread=1",
        "notifications?unread=yes",
        "workspaces?limit=1_0",
        "workspaces?limit=%2B1",
        "workspaces?limit=1&limit=2",
        "workspaces?cursor=&cursor=",
    ],
)
def test_an_invalid_or_repeated_query_parameter_is_refused(team, query):
    client_for(team, "alice").refused(400, "invalid", "GET", query)


def test_query_parameters_have_their_required_flag_and_are_never_null(document):
    for path, methods in document["paths"].items():
        for parameter in methods.get("get", {}).get("parameters", ()):
            assert "anyOf" not in parameter["schema"], (path, parameter)
    diff = document["paths"]["/api/v1/agents/{agent_id}/diff"]["get"]["parameters"]
    assert {one["name"] for one in diff if one.get("required")} == {"agent_id", "a", "b"}


def test_dependencies_between_fields_are_in_the_schema(document):
    schemas = document["components"]["schemas"]
    assert document["openapi"].startswith("3.1.")
    write = jsonschema.Draft202012Validator(schemas["DraftBodyRequest"]["not"])
    assert write.is_valid({"revision": 1})
    assert not write.is_valid({"revision": None})
    assert not write.is_valid({"revision": 1, "content": {}})
    model = jsonschema.Draft202012Validator(schemas["ModelBodyRequest"]["not"])
    assert model.is_valid({"provider": "openai_compatible"})
    assert model.is_valid({"provider": "demo", "api_base": "https://example.org/v1"})
    assert not model.is_valid({"provider": "demo"})
    assert not model.is_valid({"provider": "openai_compatible", "api_base": "https://example.org/v1"})


def test_each_operation_has_a_summary_and_none_is_twice_at_one_path(document):
    for path, methods in document["paths"].items():
        summaries = [operation["summary"] for operation in methods.values()]
        assert all(re.fullmatch(r"[A-Z].{4,100}[^.]", summary) for summary in summaries), (path, summaries)
        assert len(set(summaries)) == len(summaries), path


DESCRIBED_BODIES = """
AcceptBody AgentBody AgentTokenBody BoardSettingsBody BudgetBody ChatBody ChosenOperationBody ComparisonBody
ContextSettingsBody DecideBody DirectChatBody DocumentBody DraftBody EmbeddingModelBody EnabledBody HandOverBody ImportBody
ImportOperationsBody MergeBody MessageBody ModelBody ModelTestBody NewAgentBody NewBoardBody NewBudgetBody NewChatBody
NewLinkBody NewMCPServerBody NewNoteBody NewParticipantBody NewScheduleBody NewServerBody NewSuggestionBody NewToolBody
NewWorkspaceBody PlannedTaskBody PolicyBody PostFileBody PriceBody ReadBody RebaseBody ResponseBody RevisionBody RunNowBody
SaveBody ScheduleBody ServerBody SuggestBody TokenBody ToolApprovalBody ToolBody ToolTestBody WakeBody WakesBody WebhookBody
""".split()
"""The bodies of requests that other programs send. Each of their fields has a description."""


def test_each_field_that_other_programs_send_is_described(document):
    schemas = document["components"]["schemas"]
    for name in DESCRIBED_BODIES:
        body = schemas.get(f"{name}Request") or schemas[f"Patched{name}Request"]
        assert [field for field, schema in body["properties"].items() if not schema.get("description")] == [], name


def test_each_parameter_of_a_list_is_described(document):
    parameters = document["paths"]["/api/v1/workspaces/{workspace_id}/chats"]["get"]["parameters"]
    assert all(one.get("description") for one in parameters if one["in"] == "query")


def test_the_schema_names_its_server_and_is_sent_again_only_if_it_has_changed(settings):
    client = Client()
    first = client.get("/api/v1/schema")
    assert "servers" not in first.json()
    again = client.get("/api/v1/schema", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    settings.PUBLIC_URL = "https://atelier.example.org"
    changed = client.get("/api/v1/schema", headers={"If-None-Match": first["ETag"]})
    assert (changed.status_code, changed.json()["servers"]) == (200, [{"url": "https://atelier.example.org"}])


@pytest.mark.django_db(transaction=True)
def test_a_program_signs_up_in_and_out_as_the_schema_says(document):
    def send(method, path, body=None, **headers):
        operation = document["paths"][f"/_allauth/app/v1/auth/{path}"][method.lower()]
        url = f"/_allauth/app/v1/auth/{path}"
        answer = Client().generic(method, url, json.dumps(body or {}), "application/json", headers=headers)
        described = operation["responses"][str(answer.status_code)]["content"]["application/json"]["schema"]
        jsonschema.validate(answer.json(), described | {"components": document["components"]})
        return answer.status_code, answer.json()

    person = {"email": "eve@example.org", "password": "correct horse battery"}
    assert send("POST", "signup", {"name": "Eve"} | person | {"email": "no"})[0] == 400
    assert send("POST", "signup", {"name": "Eve"} | person)[0] == 200
    assert send("POST", "login", person | {"password": "wrong"})[0] == 400
    status, signed_in = send("POST", "login", person)
    token = signed_in["meta"]["session_token"]
    assert status == 200
    assert (
        send("GET", "session", **{"X-Session-Token": token})[1]["data"]["user"]["id"] == signed_in["data"]["user"]["id"]
    )
    assert Client().get("/api/v1/me", headers={"X-Session-Token": token}).status_code == 200
    assert send("DELETE", "session", **{"X-Session-Token": token})[0] == 401
    assert send("GET", "session", **{"X-Session-Token": token})[0] == 410
    assert send("GET", "session")[0] == 401
