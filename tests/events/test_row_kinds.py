"""The registry of the kinds of rows of a chat, which frames, catching up and the schema follow."""

import pytest
from django.apps import apps
from pydantic import TypeAdapter, ValidationError

from chats.models import VersionedRow
from common.ids import new_id
from events.frames import Changes
from events.rows import ChatRow, RowKind, RowOfChat
from events.rows.kinds import build_any_row_adapter, list_row_kinds, register, row_kinds


def test_each_model_of_rows_of_a_chat_is_one_registered_kind():
    models = [model for model in apps.get_models() if issubclass(model, VersionedRow)]
    assert sorted(kind.model.__name__ for kind in list_row_kinds()) == sorted(model.__name__ for model in models)
    assert [kind.name for kind in list_row_kinds()] == [
        "chat",
        "participant",
        "draft",
        "run",
        "board",
        "board_task",
        "message",
    ]


def test_the_union_has_the_rows_of_each_kind_by_the_name_of_the_kind():
    schema = build_any_row_adapter().json_schema(mode="serialization")
    assert sorted(schema["discriminator"]["mapping"]) == sorted(row_kinds)


def test_all_kinds_but_the_chat_and_its_messages_say_how_they_are_listed():
    """`realtime.catchup` reads these two itself."""
    assert {kind.name for kind in list_row_kinds() if kind.list_rows is None} == {"chat", "message"}


def test_a_name_is_registered_once():
    with pytest.raises(ValueError, match="two kinds"):
        register(RowKind("chat", ChatRow, row_kinds["chat"].model, order=1))


class NoteRow(RowOfChat):
    kind: str = "note"
    text: str


def build_frame(*rows):
    return {"topic": "chat:c", "after": 0, "version": 1, "rows": list(rows)}


@pytest.mark.parametrize(
    "row",
    [NoteRow(id=new_id(), version=1, text=""), {"kind": "note", "id": str(new_id()), "version": 1}, {"kind": []}, None],
)
def test_a_frame_has_rows_of_registered_kinds_only(row):
    with pytest.raises(ValidationError, match="registered kind"):
        Changes.model_validate(build_frame(row))


def test_a_frame_has_all_fields_of_a_registered_kind(monkeypatch):
    """The row of an app above: the frame does not know its class."""
    monkeypatch.setitem(row_kinds, "note", RowKind("note", NoteRow, row_kinds["chat"].model, order=50))
    monkeypatch.setitem(register.__globals__["_adapters"], "note", TypeAdapter(NoteRow))
    row = NoteRow(id=new_id(), version=1, text="廣東話 🌞")
    frame = Changes.model_validate(build_frame(row))
    assert frame.model_dump(mode="json")["rows"] == [
        {"kind": "note", "id": str(row.id), "version": 1, "text": "廣東話 🌞"}
    ]
    assert Changes.model_validate_json(frame.model_dump_json()).rows == [row]
