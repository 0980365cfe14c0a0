"""A query that is asked all the time: built and compiled once, asked again with other values.

Building and compiling a query costs Django up to several milliseconds of CPU, asking it a fraction of one. The query
set stays the only description of what is asked; this keeps its SQL. It leans on the compiler's insides, which hold for
a minor version of Django: `tests/common/test_compiled.py` compares it with the query sets it was made from.
"""

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


class _Shape(NamedTuple):
    """How a row of the answer becomes an object: its own columns, its annotations, its related objects."""

    model: type[Model]
    own: slice
    names: list[str]
    notes: list[tuple[str, int]]
    related: list[Any]


class _Plan(NamedTuple):
    """`places` says which parameter stands for which value; without `shape` a row is no object. `lookups`: what the query
    set prefetches."""

    sql: str
    params: list[Any]
    places: list[tuple[int, int]]
    converters: list[Any]
    shape: _Shape | None
    lookups: tuple[Any, ...]


class Compiled(Generic[M]):
    """`build(*values)` returns the query set for some values of these kinds. It is called once, when first asked, with
    stand-ins whose places in the SQL are remembered; so what is asked must not depend on the values otherwise. Ask it
    in a transaction when it locks rows.
    """

    def __init__(self, build: Callable[..., QuerySet[M, Any]], *kinds: Any) -> None:
        self._build = build
        self._kinds = kinds

    def first(self, *values: Any) -> M | None:
        """The first object for these values, or null."""
        return next(iter(self._objects(self._fetched(values)[:1])), None)

    def all(self, *values: Any) -> list[M]:
        """Every object for these values."""
        return self._objects(self._fetched(values))

    def rows(self, *values: Any) -> Sequence[Sequence[Any]]:
        """Every row for these values, as it is: for a `values_list`."""
        return self._fetched(values)

    def _fetched(self, values: tuple[Any, ...]) -> Sequence[Sequence[Any]]:
        plan = self._plan
        params = list(plan.params)
        for at, which in plan.places:
            params[at] = values[which]
        with connection.cursor() as cursor:
            cursor.execute(plan.sql, params)
            found = cursor.fetchall()
        return [_converted(row, plan.converters) for row in found] if plan.converters else found

    def _objects(self, rows: Sequence[Sequence[Any]]) -> list[M]:
        made = [self._object(row) for row in rows]
        if self._plan.lookups:
            prefetch_related_objects(made, *self._plan.lookups)
        return made

    def _object(self, row: Sequence[Any]) -> M:
        shape = self._plan.shape
        assert shape is not None, "rows of this query are no objects"
        made: Any = shape.model.from_db(DEFAULT_DB_ALIAS, shape.names, row[shape.own])
        for related in shape.related:
            related.populate(row, made)
        for name, at in shape.notes:
            setattr(made, name, row[at])
        typed: M = made
        return typed

    @cached_property
    def _plan(self) -> _Plan:
        stand_ins = [STAND_INS[kind]() for kind in self._kinds]
        rows: Any = self._build(*stand_ins)
        compiler: Any = rows.query.get_compiler(DEFAULT_DB_ALIAS)
        sql, params = compiler.as_sql()
        places = [(at, stand_ins.index(value)) for at, value in enumerate(params) if value in stand_ins]
        if {which for _, which in places} != set(range(len(stand_ins))) or _hidden(stand_ins, params):
            raise ValueError("A value has no place of its own in this query.")
        converters = compiler.get_converters([column[0] for column in compiler.select])
        shape = _shape(compiler) if compiler.klass_info else None
        return _Plan(sql, list(params), places, list(converters.items()), shape, rows._prefetch_related_lookups)


def is_any_of(field: str, values: Sequence[UUID] | Sequence[str], *, of: "type[Field[Any, Any]]" = UUIDField) -> Func:
    """Return the condition `field = ANY(values)`. Unlike `IN`, it has one parameter for all values, so that it can be compiled
    once. `of` is the kind of the values."""
    array = Value(values, ArrayField(of()))
    return Func(F(field), array, template="%(expressions)s)", arg_joiner=" = ANY(", output_field=BooleanField())


def _hidden(stand_ins: Sequence[Any], params: Sequence[Any]) -> bool:
    """Whether a value is part of a parameter, e.g. inside of JSON, where no other could take its place."""
    texts = [str(getattr(value, "obj", value)) for value in params if value not in stand_ins]
    return any(str(value) in text for value in stand_ins for text in texts)


def _shape(compiler: Any) -> _Shape:
    facts, columns = compiler.klass_info, compiler.select
    own = slice(facts["select_fields"][0], facts["select_fields"][-1] + 1)
    names = [column[0].target.attname for column in columns[own]]
    related = get_related_populators(facts, columns, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # Django 6 in the stubs
    return _Shape(facts["model"], own, names, list(compiler.annotation_col_map.items()), related)


def _converted(row: Sequence[Any], converters: Sequence[Any]) -> Sequence[Any]:
    values = list(row)
    for at, (by, expression) in converters:
        for convert in by:
            values[at] = convert(values[at], expression, connection)
    return values
