"""Fast INSERT and UPDATE statements for rows that are written with every message, built without a query set.

For models whose primary key the application makes. Fields convert their values as in Django's `save()`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, Generic, Self, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.models import Model, QuerySet
from django.db.models.expressions import Expression
from django.db.models.sql import Query

M = TypeVar("M", bound=Model)

DELETED_AT_ONCE = 1000
"""Rows that `delete_in_batches` deletes in one statement."""


class StaleRow(Exception):
    """The row no longer exists, or does not meet the condition of its update."""


class RowUpdate(Generic[M]):
    """The fields of a row that `save` writes, if the row in the database still has the values `only_if` (by the name of the field).

    `error` is the exception for a row that has other values, or no longer exists.
    """

    def __init__(self, row: M, *, only_if: Mapping[str, Any] | None = None, error: type[Exception] = StaleRow) -> None:
        self.row = row
        self.fields: set[str] = set()
        self.only_if = only_if or {}
        self.error = error

    def set(self, **values: Any) -> Self:
        """Set fields of the row, for `save` to write. Return this object."""
        for name, value in values.items():
            setattr(self.row, name, value)
        self.fields |= values.keys()
        return self

    def save(self) -> None:
        """Write the fields that were set, and no others. Raises `error`."""
        if not update(self.row, self.fields, self.only_if):
            raise self.error(f"{self.row._meta.label} {self.row.pk} has changed.")


def insert(rows: Sequence[Model], *, ignore_conflicts: bool = False) -> int:
    """Insert rows of one model in one statement, and return how many were new. Raises `IntegrityError`.

    With `ignore_conflicts` a row that conflicts with a stored one is left out: its `_state.adding` stays true.
    """
    if not rows:
        return 0
    head, fields = _build_insert(type(rows[0]))
    database = connections[DEFAULT_DB_ALIAS]
    placeholders: list[str] = []
    params: list[Any] = []
    for row in rows:
        values = [field.get_db_prep_save(field.pre_save(row, True), database) for field, _ in fields]
        placeholders.append(
            ", ".join(get_placeholder_of(value) for (_, get_placeholder_of), value in zip(fields, values, strict=True))
        )
        params += values
    sql = f"{head} VALUES ({'), ('.join(placeholders)})"
    new: Sequence[Model] = rows
    with connection.cursor() as cursor:
        if ignore_conflicts:
            cursor.execute(f'{sql} ON CONFLICT DO NOTHING RETURNING "{rows[0]._meta.pk.column}"', params)
            new_ids = {row[0] for row in cursor.fetchall()}
            new = [row for row in rows if row.pk in new_ids]
        else:
            cursor.execute(sql, params)
    for row in new:
        row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    return len(new)


@cache
def _build_insert(model: type[Model]) -> tuple[str, list[tuple[Any, Callable[[Any], str]]]]:
    """Return the beginning of the statement, and pairs of a field and the function that returns the placeholder for its value."""
    fields: list[Any] = [field for field in model._meta.concrete_fields if not field.generated]
    columns = ", ".join(f'"{field.column}"' for field in fields)
    return f'INSERT INTO "{model._meta.db_table}" ({columns})', [
        (field, _get_placeholder_function(field)) for field in fields
    ]


def _get_placeholder_function(field: Any) -> Callable[[Any], str]:
    if not hasattr(field, "get_placeholder"):
        return lambda value: "%s"
    compiler = Query(field.model).get_compiler(DEFAULT_DB_ALIAS)
    return lambda value: str(field.get_placeholder(value, compiler, connection))


def update(row: Model, names: Collection[str], only_if: Mapping[str, Any]) -> bool:
    """Write these fields of a row, whose values may be expressions. Return false if the row does not match `only_if`."""
    meta = type(row)._meta
    assignments: list[str] = []
    params: list[Any] = []
    for name in sorted(names):
        field: Any = meta.get_field(name)
        value = getattr(row, field.attname)
        sql, values = (
            _compile_expression(type(row), value)
            if isinstance(value, Expression)
            else ("%s", [_to_stored_value(field, value)])
        )
        assignments.append(f'"{field.column}" = {sql}')
        params += values
    conditions: dict[Any, Any] = {meta.get_field(name): value for name, value in only_if.items()} | {meta.pk: row.pk}
    where = " AND ".join(f'"{field.column}" = %s' for field in conditions)
    params += [_to_stored_value(field, value) for field, value in conditions.items()]
    with connection.cursor() as cursor:
        cursor.execute(f'UPDATE "{meta.db_table}" SET {", ".join(assignments)} WHERE {where}', params)
        return int(cursor.rowcount) > 0


@lru_cache(maxsize=64)
def _compile_expression(model: type[Model], expression: Expression) -> tuple[str, Sequence[Any]]:
    compiler = Query(model).get_compiler(DEFAULT_DB_ALIAS)
    resolved = expression.resolve_expression(compiler.query, allow_joins=False, for_save=True)
    sql, params = compiler.compile(resolved)
    return sql, tuple(params)


def delete_in_batches(rows: QuerySet[Any]) -> None:
    """Delete these rows, a number of them in each statement, so that none takes long."""
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:DELETED_AT_ONCE]):
        rows.model._default_manager.filter(pk__in=ids).delete()


def _to_stored_value(field: Any, value: Any) -> Any:
    return field.get_db_prep_save(value, connection)
