"""A query that is asked all the time: built and compiled once, asked again with other values.

Building and compiling a query with rights costs Django several milliseconds of CPU, asking it a fraction of one. The
query set stays the only description of what is asked; this keeps its SQL. It leans on the compiler's insides, which
hold for a minor version of Django: `tests/common/test_compiled.py` compares it with the query set it was made from.
"""

from collections.abc import Callable
from typing import Any, Generic, TypeVar
from uuid import UUID, uuid4

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=Model)


class Compiled(Generic[M]):
    """`build(*ids)` returns the query set for some ids. It is called once, with stand-ins whose places in the SQL are
    remembered; so what is asked must not depend on the ids otherwise. Call it in a transaction when it locks rows.
    """

    def __init__(self, build: Callable[..., QuerySet[M]], count: int) -> None:
        stand_ins = [uuid4() for _ in range(count)]
        self._compiler = build(*stand_ins).query.get_compiler(DEFAULT_DB_ALIAS)
        sql, params = self._compiler.as_sql()
        self._sql, self._params = sql, list(params)
        places = [(at, stand_ins.index(value)) for at, value in enumerate(params) if value in stand_ins]
        if {which for _, which in places} != set(range(count)):
            raise ValueError("A value has no place of its own in this query.")
        self._places = places
        self._read_shape()

    def _read_shape(self) -> None:
        """How a row of the answer becomes an object, with its related ones and its annotations."""
        shape = self._compiler.klass_info
        columns = self._compiler.select
        self._model: type[M] = shape["model"]
        self._from, self._to = shape["select_fields"][0], shape["select_fields"][-1] + 1
        self._names = [column[0].target.attname for column in columns[self._from : self._to]]
        self._notes = list(self._compiler.annotation_col_map.items())
        self._related = get_related_populators(shape, columns, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # Django 6 in the stubs
        self._converters = self._compiler.get_converters([column[0] for column in columns])

    def first(self, *ids: UUID) -> M | None:
        """The first row for these ids, or null."""
        params = list(self._params)
        for at, which in self._places:
            params[at] = ids[which]
        with connection.cursor() as cursor:
            cursor.execute(self._sql, params)
            row = cursor.fetchone()
        return None if row is None else self._object(row)

    def _object(self, row: tuple[Any, ...]) -> M:
        [values] = self._compiler.apply_converters([row], self._converters) if self._converters else [row]
        made = self._model.from_db(DEFAULT_DB_ALIAS, self._names, values[self._from : self._to])
        for related in self._related:
            related.populate(values, made)
        for name, at in self._notes:
            setattr(made, name, values[at])
        return made
