"""EDIT2: every operation that takes a `revision` refuses another one than the latest, and changes nothing.

The operations are those of the schema, and the services those of the code, so that a new one is tried on the day it is written.
"""

import importlib.util
import inspect
import pkgutil
from typing import Any

import pytest
from django.apps import apps
from drf_spectacular.generators import SchemaGenerator

from agents.models import Draft
from agents.services import drafts
from agents.specs.content import SpecContent
from tests.api.operations import DRAFT, OPERATIONS
from tests.api.test_rights import PROJECT_MODELS, client_for, fingerprint, send_operation

SEEN, UNSEEN = "The text of the first tab.", "The text of the second tab."
OF_DRAFTS = {"start_comparison"} | {
    name for name, operation in OPERATIONS.items() if operation.path.startswith(f"{DRAFT}/") or operation.path == DRAFT
}
OPERATIONS_OF_SERVICES = {
    "end_suggested_draft": "suggest_draft",
    "change_server": "change_tool_server",
    "change_tool": "change_workspace_tool",
}
"""The operation that calls a service, for services that have another name than their operation."""


PROJECT_APPS = {model._meta.app_label for model in PROJECT_MODELS}


def list_operations_with_revision() -> list[str]:
    """Return the operations of the schema whose body or query has a field `revision`."""
    schema = SchemaGenerator().get_schema(request=None, public=True)
    found = []
    for methods in schema["paths"].values():
        for operation in methods.values():
            fields = {parameter["name"] for parameter in operation.get("parameters", [])}
            for content in operation.get("requestBody", {}).get("content", {}).values():
                reference = content["schema"].get("$ref", "").rsplit("/", 1)[-1]
                fields |= set(schema["components"]["schemas"].get(reference, content["schema"]).get("properties", {}))
            if "revision" in fields:
                found.append(operation["operationId"])
    return sorted(found)


def list_services_with_revision() -> set[str]:
    """Return the names of the public functions in the services of our apps that have a parameter `revision` and an actor."""
    found = set()
    for app in apps.get_app_configs():
        if app.label not in PROJECT_APPS or importlib.util.find_spec(f"{app.name}.services") is None:
            continue
        package = importlib.import_module(f"{app.name}.services")
        modules = [package]
        if hasattr(package, "__path__"):
            walked = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
            modules += [importlib.import_module(module.name) for module in walked]
        for module in modules:
            for name, function in inspect.getmembers(module, inspect.isfunction):
                parameters = inspect.signature(function).parameters
                is_public = not name.startswith("_") and function.__module__.startswith(f"{app.name}.services")
                if is_public and {"actor", "revision"} <= set(parameters):
                    found.add(name)
    return found


OPERATIONS_WITH_REVISION = list_operations_with_revision()


def test_every_service_with_a_revision_belongs_to_an_operation_that_is_tried():
    # It only locks the draft for the services.
    services = list_services_with_revision() - {"lock_draft_of_holder"}
    assert {OPERATIONS_OF_SERVICES.get(name, name) for name in services} == set(OPERATIONS_WITH_REVISION)


def write_in_second_tab(team, things: dict[str, Any], *, is_applied: bool) -> None:
    """Write another text into Alice's draft, as her second tab does, and apply it if the first text was applied."""
    where: dict[str, Any] = {"actor": team.alice, "chat_id": team.chat.id, "agent_id": team.robin.id}
    draft = drafts.write_draft(**where, content=SpecContent(prompt=UNSEEN), revision=things["revision"])
    if is_applied:
        drafts.apply_draft(**where, revision=draft.revision)


@pytest.mark.parametrize("name", [name for name in OPERATIONS_WITH_REVISION if name in OF_DRAFTS])
def test_EDIT2_a_stale_tab_of_the_holder_can_do_nothing_with_a_text_that_it_has_not_seen(team_with_things, name):
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    Draft.objects.filter(ended_at=None).update(written=SpecContent(prompt=SEEN).as_json())
    write_in_second_tab(team, things, is_applied=name == "start_comparison")
    before = fingerprint()
    answer = send_operation(client_for(team, "alice"), operation, things)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "stale_revision"), answer.content
    assert answer.json()["error"]["hints"]
    assert fingerprint() == before
    [draft] = Draft.objects.filter(ended_at=None)
    assert (draft.written["prompt"], draft.lock_holder) == (UNSEEN, team.alice)


@pytest.mark.parametrize("name", [name for name in OPERATIONS_WITH_REVISION if name not in OF_DRAFTS])
@pytest.mark.parametrize("offset", [-1, 1])
def test_EDIT2_a_change_on_another_revision_than_the_latest_is_refused(team_with_things, name, offset):
    team, things = team_with_things
    operation = OPERATIONS[name]
    operation.prepare(team, things, "alice")
    text_things = {key: str(value) if not isinstance(value, int) else value for key, value in things.items()}
    body = operation.body(text_things)
    if body["revision"] + offset < 0:
        # The row does not exist yet. It is created first, so that its first revision is an earlier one.
        assert send_operation(client_for(team, "alice"), operation, things).status_code < 300
        body["revision"] -= offset
    before = fingerprint()
    answer = client_for(team, "alice")(
        operation.method, operation.path.format(**things), body | {"revision": body["revision"] + offset}
    )
    assert answer.status_code == 409, answer.content
    assert answer.json()["error"]["code"] in {"conflict", "stale_revision"}
    assert fingerprint() == before
