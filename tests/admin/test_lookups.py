"""Hidden columns and texts of messages cannot be found out by filtering a list of the admin."""

import pytest
from django.contrib import admin
from django.db.models import CharField, JSONField, TextField

from actors.operators import Level
from actors.services import set_access_level
from events.models import AuditRecord
from tests.admin.environment import MODELS, get_model_admin, sign_in_as
from tests.people import make_operator, make_person

LOOKUPS = ("", "__exact", "__startswith", "__icontains", "__regex", "__gt", "__in", "__isnull", "__text__icontains")


def list_filter_fields(model):
    model_admin = get_model_admin(model)
    return {path for path in model_admin.list_filter if isinstance(path, str)} | {
        one.parameter_name for one in model_admin.list_filter if hasattr(one, "parameter_name")
    }


COLUMNS = [
    (model, field.name)
    for model in MODELS
    for field in model._meta.fields
    if isinstance(field, CharField | TextField | JSONField) and not field.choices
    if field.name not in list_filter_fields(model)
]


@pytest.mark.parametrize(("model", "column"), COLUMNS, ids=lambda one: getattr(one, "__name__", one))
def test_no_list_can_be_filtered_by_a_hidden_column_or_a_text(rf, model, column):
    table = admin.site._registry[model]
    request = rf.get("/")
    assert [lookup for lookup in LOOKUPS if table.lookup_allowed(f"{column}{lookup}", "x", request)] == []


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_no_list_can_be_filtered_by_columns_of_related_rows(rf, model):
    table, request = admin.site._registry[model], rf.get("/")
    reached = [
        f"{field.name}__{column.name}{lookup}"
        for field in model._meta.fields
        if field.is_relation
        for column in field.related_model._meta.fields
        if not column.choices and column.name not in ("id", "kind")
        for lookup in LOOKUPS
    ]
    assert [lookup for lookup in reached if table.lookup_allowed(lookup, "x", request)] == []


def test_all_columns_with_secrets_are_hidden():
    hidden = {f"{model.__name__}.{name}" for model in MODELS for name in get_model_admin(model).exclude}
    # The messages are those of a person's own provider.
    secret = ("password", "digest", "encrypted", "token_hash", "test_message", "failure_message")
    named = {
        f"{model.__name__}.{field.name}"
        for model in MODELS
        for field in model._meta.fields
        if any(word in field.name for word in secret)
    }
    # What is large is not shown, either.
    assert hidden == named | {"LLMCall.request"}


@pytest.mark.parametrize(
    "query",
    [
        "actors/actor/?password__startswith=p",
        "actors/apitoken/?digest__startswith=a",
        "actors/emailchange/?digest__startswith=a",
        "chats/chatlink/?token_hash__startswith=a",
        "workspaces/credential/?encrypted_key__startswith=g",
        "chats/message/?payload__text__icontains=plan",
        "agents/draft/?written__prompt__icontains=plan",
        "runs/step/?result__text__icontains=plan",
        "actors/apitoken/?person__password__startswith=p",
    ],
)
def test_a_reader_cannot_filter_by_hidden_columns(db, query):
    reader = make_person("Reader")
    set_access_level(make_operator(), reader, level=Level.READER)
    reader.refresh_from_db()
    client = sign_in_as(reader)
    path = query.partition("?")[0]
    assert client.get(f"/admin/{path}").status_code == 200
    assert client.get(f"/admin/{query}").status_code == 400


@pytest.mark.parametrize(
    ("path", "lookup"),
    [
        ("actors/actor/?password__startswith=pbkdf2", "password__startswith"),
        ("actors/actor/?_to_field=password", "_to_field"),
    ],
)
def test_a_refused_lookup_is_one_line_and_an_audit_record_with_the_name_of_the_operator(db, caplog, path, lookup):
    operator = make_operator("Olga")
    assert sign_in_as(operator).get(f"/admin/{path}").status_code == 400
    [line] = [record for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert (line.levelname, line.exc_info) == ("WARNING", None)
    assert "Olga" in line.getMessage()
    assert "pbkdf2" not in line.getMessage()
    record = AuditRecord.objects.get(action="admin.lookup_refused")
    assert (record.actor, record.facts) == (operator, {"path": "/admin/actors/actor/", "lookups": [lookup]})
