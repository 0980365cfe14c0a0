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
from psycopg import _queries

M = TypeVar("M", bound=Model)

# psycopg converts the placeholders of a statement with more parameters each time that it is executed. Those of an answer, and of a
# new run, have about 70.
_queries.MAX_CACHED_STATEMENT_PARAMS = 200

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
            raise self.build_error()

    def add_to(self, batch: "WriteBatch") -> None:
        """Have the fields that were set written with the other rows of a batch."""
        batch.update(self)

    def build_error(self) -> Exception:
        """Return the error for a row that does not meet the condition."""
        return self.error(f"{self.row._meta.label} {self.row.pk} has changed.")


class WriteBatch:
    """New rows and updates that are written in one statement, with one round trip to PostgreSQL.

    All parts of the statement see the database as it was before it, and their order is not defined. So do not add rows of which one
    needs that another is written first, as for a unique index. Foreign keys are checked later, at the commit.
    """

    def __init__(self) -> None:
        self._new: dict[tuple[type[Model], bool], list[Model]] = {}
        self._updates: dict[tuple[type[Model], Any], RowUpdate[Any]] = {}

    def insert(self, rows: Sequence[Model], *, ignore_conflicts: bool = False) -> None:
        """Add new rows. With `ignore_conflicts`, those that conflict with stored ones are left out: `_state.adding` stays true."""
        for row in rows:
            self._new.setdefault((type(row), ignore_conflicts), []).append(row)

    def update(self, changed: RowUpdate[Any]) -> None:
        """Add an update."""
        key = (type(changed.row), changed.row.pk)
        if key in self._updates:
            self.execute()  # one statement cannot update a row twice
        self._updates[key] = changed

    def execute(self) -> None:
        """Write everything that was added. Raises `IntegrityError`, and the error of an update whose condition is not met."""
        new, updates = list(self._new.items()), list(self._updates.values())
        self._new, self._updates = {}, {}
        if len(new) + len(updates) < 2:
            for (_, ignores_conflicts), rows in new:
                insert(rows, ignore_conflicts=ignores_conflicts)
            for changed in updates:
                changed.save()
            return

        params: list[Any] = []
        parts = [_build_insert(rows, params, ignore_conflicts=ignores) for (_, ignores), rows in new]
        parts += [f"{_build_update(one.row, one.fields, one.only_if, params)} RETURNING 1" for one in updates]
        tables = ", ".join(f"w{number} AS ({sql})" for number, sql in enumerate(parts))
        results = [
            f"(SELECT array_agg(id) FROM w{number})" for number, ((_, ignores), _) in enumerate(new) if ignores
        ] + [f"(SELECT count(*) FROM w{number})" for number in range(len(new), len(parts))]
        with connection.cursor() as cursor:
            cursor.execute(f"WITH {tables} SELECT {', '.join(results)}", params)
            found: Any = cursor.fetchone()
        updated = found[len(found) - len(updates) :]
        for changed, count in zip(updates, updated, strict=True):
            if not count:
                raise changed.build_error()
        new_ids = iter(found)
        for (_, ignores), rows in new:
            _mark_stored(rows, only=next(new_ids) or () if ignores else None)


class ImmediateWrites(WriteBatch):
    """A batch that writes each row as soon as it is added, so that they are written in their order."""

    def insert(self, rows: Sequence[Model], *, ignore_conflicts: bool = False) -> None:
        insert(rows, ignore_conflicts=ignore_conflicts)

    def update(self, changed: RowUpdate[Any]) -> None:
        changed.save()


def insert(rows: Sequence[Model], *, ignore_conflicts: bool = False) -> int:
    """Insert rows of one model in one statement, and return how many were new. Raises `IntegrityError`.

    With `ignore_conflicts` a row that conflicts with a stored one is left out: its `_state.adding` stays true.
    """
    if not rows:
        return 0
    params: list[Any] = []
    sql = _build_insert(rows, params, ignore_conflicts=ignore_conflicts)
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        new_ids = [row[0] for row in cursor.fetchall()] if ignore_conflicts else None
    _mark_stored(rows, only=new_ids)
    return len(rows if new_ids is None else new_ids)


def _build_insert(rows: Sequence[Model], params: list[Any], *, ignore_conflicts: bool = False) -> str:
    """Return the statement that inserts rows of one model. Its parameters are appended to `params`. With `ignore_conflicts` it
    leaves out rows that conflict with stored ones, and returns the `id` of each new row."""
    head, fields = _list_fields(type(rows[0]))
    database = connections[DEFAULT_DB_ALIAS]
    placeholders: list[str] = []
    for row in rows:
        stored = [(field, field.pre_save(row, True)) for field, _ in fields]
        values = [None if value is None else field.get_db_prep_save(value, database) for field, value in stored]
        placeholders.append(
            ", ".join(get_placeholder_of(value) for (_, get_placeholder_of), value in zip(fields, values, strict=True))
        )
        params += values
    sql = f"{head} VALUES ({'), ('.join(placeholders)})"
    return f'{sql} ON CONFLICT DO NOTHING RETURNING "{rows[0]._meta.pk.column}" AS id' if ignore_conflicts else sql


def _mark_stored(rows: Sequence[Model], *, only: Collection[Any] | None = None) -> None:
    """Mark these rows as stored, or `only` those with these ids."""
    for row in rows:
        if only is None or row.pk in only:
            row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


@cache
def _list_fields(model: type[Model]) -> tuple[str, list[tuple[Any, Callable[[Any], str]]]]:
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
    params: list[Any] = []
    sql = _build_update(row, names, only_if, params)
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return int(cursor.rowcount) > 0


def _build_update(row: Model, names: Collection[str], only_if: Mapping[str, Any], params: list[Any]) -> str:
    """Return the statement that updates these fields of a row. Its parameters are appended to `params`."""
    meta = type(row)._meta
    assignments: list[str] = []
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
    return f'UPDATE "{meta.db_table}" SET {", ".join(assignments)} WHERE {where}'


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
