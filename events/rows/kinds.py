"""The kinds of rows of a chat, such as its messages and drafts. Each app registers its kinds in `row_kinds.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from events.row import COMPONENT, Row

ANY_ROW = "AnyRow"
"""The component of the OpenAPI document that is the union of all kinds."""


class RowOfChat(Row):
    """A row of a chat. Each kind has one class, or a union of classes, whose `kind` is the name of the kind.

    `version`: the chat's version at the last change of the row.
    """

    kind: str
    id: UUID
    version: int


@dataclass(frozen=True)
class RowKind:
    """A kind of rows of a chat.

    `row`: its class, or the union of its classes. `model`: a subclass of `chats.models.VersionedRow`. `order`: the place of its
    rows when a chat is read. `list_rows` returns the rows of all chats in their order, with all that `to_row` reads; null for
    the chat and its messages, which `realtime.catchup` reads itself. `is_current`: the rows that a new client gets; null: all.
    The other ones are sent when they change, and later to a client whose version is older. `is_rare`: most chats have none, so
    the query for the chat finds out whether there are any before they are read.
    """

    name: str
    row: Any
    model: type[Model]
    order: int
    list_rows: Callable[[], QuerySet[Any]] | None = None
    is_current: Q | None = None
    is_rare: bool = False

    def list_rows_to_send(self, since: int | None) -> QuerySet[Any]:
        """Return those of its rows, of all chats, that a client of version `since` gets; null: a new client."""
        if self.list_rows is None:
            return self.model._default_manager.none()
        rows = self.list_rows()
        if self.is_current is None:
            return rows
        return rows.filter(self.is_current if since is None else self.is_current | Q(version__gt=since))


row_kinds: dict[str, RowKind] = {}
"""Every kind by its name. Only `register` adds to it."""
_adapters: dict[str, TypeAdapter[Any]] = {}


def register(kind: RowKind) -> None:
    """Add a kind of rows of a chat. Raises `ValueError` if there is one of this name."""
    if kind.name in row_kinds:
        raise ValueError(f"There are two kinds of rows called {kind.name!r}.")
    row_kinds[kind.name], _adapters[kind.name] = kind, TypeAdapter(kind.row)


def list_row_kinds() -> list[RowKind]:
    """Return all kinds in their order."""
    return sorted(row_kinds.values(), key=lambda kind: kind.order)


def build_any_row_adapter() -> TypeAdapter[Any]:
    """Return an adapter of the union of all kinds, for the schema."""
    union: Any = reduce(or_, [kind.row for kind in list_row_kinds()])
    return TypeAdapter(Annotated[union, Field(discriminator="kind")])


class _ByKind:
    """An annotation of a row of any kind. Frames are declared before the apps register their kinds, so the kind is looked up when a
    row is validated."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(_validate_row)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {COMPONENT: ANY_ROW}


def _validate_row(value: Any) -> RowOfChat:
    """Return a row of a registered kind. Raises `ValueError`."""
    if isinstance(value, RowOfChat) and value.kind in row_kinds:
        return value
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in row_kinds:
        raise ValueError("This is not a row of a registered kind.")
    row: RowOfChat = _adapters[kind].validate_python(value)
    return row


AnyRow = Annotated[RowOfChat, _ByKind()]
