"""One document says everything that goes over the wire, and the web app's types are made from it."""

import io
import json
import typing

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from common.errors import Code
from events import frames
from events.payloads import PAYLOADS
from realtime.management.commands import export_schema


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


def test_a_field_with_a_default_is_always_there_and_nothing_has_a_title(document):
    schemas = document["components"]["schemas"]
    assert set(schemas["MessageRow"]["required"]) == set(schemas["MessageRow"]["properties"])
    assert all("title" not in schema for schema in schemas.values())
    assert "title" in schemas["ChatRow"]["properties"]


def test_every_reference_leads_somewhere(document):
    text = json.dumps(document)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= document["components"]["schemas"].keys()


def test_the_schema_says_when_it_is_out_of_date(tmp_path, monkeypatch):
    target = tmp_path / "openapi.json"
    monkeypatch.setattr(export_schema, "TARGET", target)
    with pytest.raises(CommandError):
        call_command("export_schema", "--check")
    call_command("export_schema")
    call_command("export_schema", "--check", stdout=io.StringIO())
    target.write_text(target.read_text().replace("MessageRow", "MassageRow"))
    with pytest.raises(CommandError):
        call_command("export_schema", "--check")
