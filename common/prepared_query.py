"""Query sets that are compiled once and run many times with other values, for the hot paths.

Building and compiling a query set takes Django up to several milliseconds of CPU, running it a fraction of one. The query set
stays the only description of the query; a `PreparedQuery` keeps its SQL. It reads private attributes of Django's compiler,
which may change with a minor version: `tests/common/test_prepared_query.py` compares it with ordinary query sets.
"""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import count
from typing import Any, Generic, NamedTuple, TypeVar
from uuid import UUID, uuid4

from django.contrib.postgres.fields import ArrayField
from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import (
    BooleanField,
    F,
    Field,
    Func,
    Model,
    QuerySet,
    UUIDField,
    Value,
    prefetch_related_objects,
)
from django.db.models.query import get_related_populators
from psycopg.sql import Literal

M = TypeVar("M", bound=Model)

_numbers = count(1)
STAND_INS: dict[Any, Callable[[], Any]] = {
    UUID: uuid4,
    list[UUID]: lambda: [uuid4()],
    list[str]: lambda: [uuid4().hex],
    str: lambda: uuid4().hex,
    int: lambda: 1_900_000_000 + next(_numbers),  # fits a column of four bytes
    datetime: lambda: datetime(9000, 1, 1, tzinfo=UTC) + timedelta(seconds=next(_numbers)),
}


class _Columns(NamedTuple):
    """How to build an object from a database row: the columns of the model, annotations (name, column), related objects."""

    model: type[Model]
    own: slice
    names: list[str]
    annotations: list[tuple[str, int]]
    related: list[Any]


class _Plan(NamedTuple):
    """A compiled query. `positions`: for each parameter, the index of its value. `columns` is None for a `values_list`.
    `lookups` are those of `prefetch_related`."""

    sql: str
    positions: list[int]
    converters: list[Any]
    columns: _Columns | None
    lookups: tuple[Any, ...]


class PreparedQuery(Generic[M]):
    """A query set that is compiled when it is first used; from then on only its values change.

    `query(*values)` returns the query set, and `kinds` are the types of its values. `query` is called with stand-in values,
    whose positions in the SQL are remembered. So the query must not depend on the values in any other way. A query that
    locks rows must run in a transaction.
    """

    def __init__(self, query: Callable[..., QuerySet[M, Any]], *kinds: Any) -> None:
        self._query = query
        self._kinds = kinds

    def first(self, *values: Any) -> M | None:
        """Return the first object for these values, or None."""
        return next(iter(_build_objects(self._plan_of_first, values)), None)

    def all(self, *values: Any) -> list[M]:
        """Return every object for these values."""
        return _build_objects(self._plan, values)

    def rows(self, *values: Any) -> Sequence[Sequence[Any]]:
        """Return every row for these values as a sequence of columns. For a `values_list`."""
        return _fetch(self._plan, values)

    @cached_property
    def _plan(self) -> _Plan:
        return self._compile(self._query)

    @cached_property
    def _plan_of_first(self) -> _Plan:
        return self._compile(lambda *values: self._query(*values)[:1])

    def _compile(self, query: Callable[..., QuerySet[M, Any]]) -> _Plan:
        stand_ins = [STAND_INS[kind]() for kind in self._kinds]
        rows: Any = query(*stand_ins)
        compiler: Any = rows.query.get_compiler(DEFAULT_DB_ALIAS)
        sql, params = compiler.as_sql()
        positions = [stand_ins.index(value) for value in params if value in stand_ins]
        if set(positions) != set(range(len(stand_ins))) or _are_inside_params(stand_ins, params):
            raise ValueError("A value has no parameter of its own in this query.")
        sql = _write_constants(sql, params, stand_ins)
        converters = compiler.get_converters([column[0] for column in compiler.select])
        columns = _read_columns(compiler) if compiler.klass_info else None
        return _Plan(sql, positions, list(converters.items()), columns, rows._prefetch_related_lookups)


def _fetch(plan: _Plan, values: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
    with connection.cursor() as cursor:
        cursor.execute(plan.sql, [values[which] for which in plan.positions])
        found = cursor.fetchall()
    return [_convert(row, plan.converters) for row in found] if plan.converters else found


def _build_objects(plan: _Plan, values: tuple[Any, ...]) -> list[Any]:
    columns = plan.columns
    if columns is None:
        raise TypeError("The rows of this query are not objects: use `rows()`.")
    objects = []
    for row in _fetch(plan, values):
        instance: Any = columns.model.from_db(DEFAULT_DB_ALIAS, columns.names, row[columns.own])
        for related in columns.related:
            related.populate(row, instance)
        for name, at in columns.annotations:
            setattr(instance, name, row[at])
        objects.append(instance)
    if plan.lookups:
        prefetch_related_objects(objects, *plan.lookups)
    return objects


def is_any_of(field: str, values: Sequence[UUID] | Sequence[str], *, of: "type[Field[Any, Any]]" = UUIDField) -> Func:
    """Return the condition `field = ANY(values)`. Unlike `IN`, it has one parameter for all values, so that it can be
    prepared. `of` is the field of one value."""
    array = Value(values, ArrayField(of()))
    return Func(F(field), array, template="%(expressions)s)", arg_joiner=" = ANY(", output_field=BooleanField())


def _write_constants(sql: str, params: Sequence[Any], stand_ins: Sequence[Any]) -> str:
    """Return the SQL with all parameters but the stand-ins written into it. psycopg converts a long statement, and each of its
    parameters, at each execution: for a hundred constants, that was a third of the CPU of reading a run."""
    left = iter(params)

    def write(placeholder: re.Match[str]) -> str:
        if placeholder[0] == "%%" or (value := next(left)) in stand_ins:
            return placeholder[0]
        return Literal(value).as_string(connection.connection).replace("%", "%%")

    return re.sub("%[%s]", write, sql)


def _are_inside_params(stand_ins: Sequence[Any], params: Sequence[Any]) -> bool:
    """Return whether a stand-in is a part of a parameter, for example inside JSON, where it cannot be replaced."""
    texts = [str(getattr(value, "obj", value)) for value in params if value not in stand_ins]
    return any(str(value) in text for value in stand_ins for text in texts)


def _read_columns(compiler: Any) -> _Columns:
    class_info, columns = compiler.klass_info, compiler.select
    own = slice(class_info["select_fields"][0], class_info["select_fields"][-1] + 1)
    names = [column[0].target.attname for column in columns[own]]
    # The stubs are those of Django 6.
    related = get_related_populators(class_info, columns, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]
    return _Columns(class_info["model"], own, names, list(compiler.annotation_col_map.items()), related)


def _convert(row: Sequence[Any], converters: Sequence[Any]) -> Sequence[Any]:
    values = list(row)
    for at, (by, expression) in converters:
        for convert in by:
            values[at] = convert(values[at], expression, connection)
    return values
